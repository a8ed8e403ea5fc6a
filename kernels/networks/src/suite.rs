//! Every program of this crate on small arguments: what each device has to give the same bits for, in the deterministic mode.

use crate::flows::coupling::{additive, affine};
use crate::flows::nice::nice;
use crate::flows::normal::{box_muller, box_muller_each};
use crate::flows::real_nvp::{real_nvp, unlikelihood, Weights};
use crate::{attention, consistency, graph_embedding, layers, losses, ode, recurrent, residual};
use ndarray::{Array, Dimension, ShapeBuilder};
use rev_core::verify::{Outputs, Sample};

macro_rules! samples {
    ($($name:literal, $on_gpu:literal, |$device:ident| $run:expr;)*) => {
        /// The programs.
        pub const SAMPLES: &[Sample] = &[$(Sample { name: $name, on_gpu: $on_gpu, run: |$device| $run }),*];
    };
}

/// Numbers between -1 and 1, other ones for each frequency.
fn waves<D: Dimension>(shape: impl ShapeBuilder<Dim = D>, by: f64) -> Array<f64, D> {
    let mut k = 0.0;
    Array::from_shape_simple_fn(shape, || {
        k += 1.0;
        f64::sin(by * k)
    })
}

fn weights() -> Weights {
    let mut k = 0.0;
    Weights::new(2, 3, 4, || {
        k += 1.3;
        f64::sin(k)
    })
}

samples! {
    "dense layer, adjoint", true, |d| {
        let (x, w, b) = (waves((3, 2), 0.7), waves((4, 2), 1.1), waves(4, 0.3));
        let v = layers::dense::vjp(d, waves((3, 4), 0.9).view(), waves((3, 4), 0.2).view(), x.view(), w.view(), b.view())?;
        Ok(Outputs::new().with("y", &v.y).with("x", &v.x_bar).with("w", &v.w_bar).with("b", &v.b_bar))
    };
    "convolution of signals, adjoint", true, |d| {
        let (x, kernel, b) = (waves((2, 2, 5), 0.7), waves((3, 2, 3), 1.1), waves(3, 0.3));
        let (seed, y) = (waves((2, 3, 3), 0.9), waves((2, 3, 3), 0.2));
        let v = layers::convolution_1d::vjp(d, seed.view(), y.view(), x.view(), kernel.view(), b.view(), 2, 1)?;
        Ok(Outputs::new().with("y", &v.y).with("x", &v.x_bar).with("kernel", &v.kernel_bar).with("b", &v.b_bar))
    };
    "convolution of pictures, adjoint", true, |d| {
        let (x, kernel, b) = (waves((1, 2, 4, 3), 0.7), waves((2, 2, 3, 2), 1.1), waves(2, 0.3));
        let (seed, y) = (waves((1, 2, 4, 4), 0.9), waves((1, 2, 4, 4), 0.2));
        let v = layers::convolution_2d::vjp(d, seed.view(), y.view(), x.view(), kernel.view(), b.view(), 1, 1)?;
        Ok(Outputs::new().with("y", &v.y).with("x", &v.x_bar).with("kernel", &v.kernel_bar).with("b", &v.b_bar))
    };
    "activation of each element", true, |d| {
        let (mut y, x) = (waves((3, 4), 0.4), waves((3, 4), 0.7));
        layers::activate::run(d, y.view_mut(), x.view(), layers::add_gelu {})?;
        Ok(Outputs::new().with("y", &y))
    };
    "softmax, adjoint", true, |d| {
        let v = losses::softmax::vjp(d, waves(5, 0.9).view(), waves(5, 0.2).view(), waves(5, 0.7).view())?;
        Ok(Outputs::new().with("y", &v.y).with("x", &v.x_bar))
    };
    "cross entropy, gradient", true, |d| {
        let (x, p) = (waves((3, 4), 0.7), waves((3, 4), 0.4).mapv(|v| 0.25 + 0.1 * v));
        let g = losses::cross_entropy::gradient(d, x.view(), p.view())?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x).with("p", &g.p))
    };
    "cross entropy with labels", true, |d| {
        let (mut loss, mut found, x) = (0.0, [0; 3], waves((3, 4), 0.7));
        losses::cross_entropy_of_labels::run(d, &mut loss, &mut found, x.view(), &[3, 0, 1])?;
        let g = losses::cross_entropy_of_labels::gradient(d, &[0; 3], x.view(), &[3, 0, 1])?;
        Ok(Outputs::new().with("loss", &loss).with("found", &found).with("x", &g.x))
    };
    "attention, adjoint", true, |d| {
        let (q, k, v) = (waves((4, 3), 0.7), waves((5, 3), 1.1), waves((5, 2), 0.3));
        let (seed, y) = (waves((4, 2), 0.9), waves((4, 2), 0.2));
        let v = attention::attention::vjp(d, seed.view(), y.view(), q.view(), k.view(), v.view(), true)?;
        Ok(Outputs::new().with("y", &v.y).with("q", &v.q_bar).with("k", &v.k_bar).with("v", &v.v_bar))
    };
    "additive coupling and its inverse", true, |d| {
        let (mut y, x, w, b) = (waves((4, 2), 0.7), waves((4, 2), 1.1), waves((3, 2), 0.3), waves(3, 0.9));
        let (shift, t) = (waves((2, 3), 0.5), waves(2, 0.8));
        additive::run(d, y.view_mut(), x.view(), w.view(), b.view(), shift.view(), t.view())?;
        let there = y.clone();
        additive::run_inverse(d, y.view_mut(), x.view(), w.view(), b.view(), shift.view(), t.view())?;
        Ok(Outputs::new().with("there", &there).with("back", &y))
    };
    "affine coupling, adjoint", true, |d| {
        let (y, x, w, b) = (waves((4, 2), 0.7), waves((4, 2), 1.1), waves((3, 2), 0.3), waves(3, 0.9));
        let (scale, r, shift, t) = (waves((2, 3), 0.4), waves(2, 0.6), waves((2, 3), 0.5), waves(2, 0.8));
        let (seed, volumes) = (waves((4, 2), 0.9), [0.5; 4]);
        let (w, b, scale, r, shift, t) = (w.view(), b.view(), scale.view(), r.view(), shift.view(), t.view());
        let v = affine::vjp(d, seed.view(), &volumes, y.view(), &[0.0; 4], x.view(), w, b, scale, r, shift, t)?;
        let outputs = Outputs::new().with("y", &v.y).with("log_det", &v.log_det).with("y_bar", &v.y_bar);
        Ok(outputs.with("x", &v.x_bar).with("w", &v.w_bar).with("scale", &v.scale_bar))
    };
    "NICE, gradient", true, |d| {
        let (x, w, b) = (waves((3, 4), 0.7), waves((2, 3, 2), 1.1), waves((2, 3), 0.3));
        let (shift, t, scale) = (waves((2, 2, 3), 0.5), waves((2, 2), 0.8), waves(4, 0.4));
        let (w, b, shift, t, scale) = (w.view(), b.view(), shift.view(), t.view(), scale.view());
        let v = nice::vjp(d, waves((3, 4), 0.9).view(), 1.0, x.view(), &0.0, w, b, shift, t, scale)?;
        let outputs = Outputs::new().with("x", &v.x).with("log_det", &v.log_det).with("x_bar", &v.x_bar);
        Ok(outputs.with("w", &v.w_bar).with("scale", &v.scale_bar))
    };
    "Real NVP and its inverse", true, |d| {
        let (mut x, mut log_det, p) = (waves((3, 4), 0.7), [0.0; 3], weights());
        let (w, b, scale, r, shift, t) =
            (p.w.view(), p.b.view(), p.scale.view(), p.r.view(), p.shift.view(), p.t.view());
        real_nvp::run(d, x.view_mut(), &mut log_det, w, b, scale, r, shift, t)?;
        let outputs = Outputs::new().with("there", &x).with("log_det", &log_det);
        real_nvp::run_inverse(d, x.view_mut(), &mut log_det, w, b, scale, r, shift, t)?;
        Ok(outputs.with("back", &x))
    };
    "unlikelihood by Real NVP, gradient", true, |d| {
        let (x, p) = (waves((5, 4), 0.7), weights());
        let (w, b, scale, r, shift, t) =
            (p.w.view(), p.b.view(), p.scale.view(), p.r.view(), p.shift.view(), p.t.view());
        let g = unlikelihood::gradient(d, x.view(), w, b, scale, r, shift, t)?;
        let outputs = Outputs::new().with("value", &g.value).with("w", &g.w).with("b", &g.b);
        Ok(outputs.with("scale", &g.scale).with("r", &g.r).with("shift", &g.shift).with("t", &g.t))
    };
    "transformation of Box and Muller, adjoint", true, |d| {
        let v = box_muller::vjp(d, 1.0, 0.5, &0.3f64, &0.6f64)?;
        Ok(Outputs::new().with("u", &v.u).with("v", &v.v).with("u_bar", &v.u_bar).with("v_bar", &v.v_bar))
    };
    "transformation of Box and Muller of many pairs", true, |d| {
        let mut pairs: Vec<[f64; 2]> = (1..20).map(|k| [0.05 * f64::from(k), 0.99 - 0.04 * f64::from(k)]).collect();
        box_muller_each::run(d, &mut pairs)?;
        let there = pairs.clone();
        box_muller_each::run_inverse(d, &mut pairs)?;
        Ok(Outputs::new().with("there", &there).with("back", &pairs))
    };
    "residual blocks, adjoint", true, |d| {
        let (x1, x2) = (waves((2, 2, 4), 0.7), waves((2, 2, 4), 1.1));
        let (kernels, b) = (waves((4, 2, 2, 3), 0.3), waves((4, 2), 0.9));
        let (s1, s2) = (waves((2, 2, 4), 0.5), waves((2, 2, 4), 0.8));
        let (kernels, b) = (kernels.view(), b.view());
        let v = residual::revnet::vjp(d, s1.view(), s2.view(), x1.view(), x2.view(), kernels, b)?;
        let outputs = Outputs::new().with("x1", &v.x1).with("x2", &v.x2).with("x1_bar", &v.x1_bar);
        Ok(outputs.with("kernels", &v.kernels_bar).with("b", &v.b_bar))
    };
    "recurrent network, adjoint", true, |d| {
        let (h1, h2, x) = (waves((2, 3), 0.7), waves((2, 3), 1.1), waves((3, 2, 2), 0.3));
        let (gate, b, new, c) = (waves((2, 3, 5), 0.5), waves((2, 3), 0.9), waves((2, 3, 5), 0.6), waves((2, 3), 0.4));
        let (gate, b, new, c) = (gate.view(), b.view(), new.view(), c.view());
        let (s1, s2) = (waves((2, 3), 0.2), waves((2, 3), 0.8));
        let v = recurrent::recurrent::vjp(d, s1.view(), s2.view(), h1.view(), h2.view(), x.view(), gate, b, new, c)?;
        let outputs = Outputs::new().with("h1", &v.h1).with("h2", &v.h2).with("h1_bar", &v.h1_bar);
        Ok(outputs.with("x", &v.x_bar).with("gate", &v.gate_bar).with("new", &v.new_bar))
    };
    "differential equation with a network, adjoint", true, |d| {
        let (seed, y, x) = (waves((3, 2), 0.9), waves((3, 2), 0.2), waves((3, 2), 0.7));
        let (w, b, shift, t) = (waves((4, 2), 1.1), waves(4, 0.3), waves((2, 4), 0.5), waves(2, 0.8));
        let (w, b, shift, t) = (w.view(), b.view(), shift.view(), t.view());
        let v = ode::solution::vjp(d, seed.view(), y.view(), x.view(), w, b, shift, t, 6)?;
        let outputs = Outputs::new().with("y", &v.y).with("x", &v.x_bar).with("w", &v.w_bar).with("b", &v.b_bar);
        Ok(outputs.with("shift", &v.shift_bar).with("t", &v.t_bar))
    };
    "differential equation with a network and its inverse", true, |d| {
        let (mut x, mut u) = (waves((3, 2), 0.7), waves((3, 2), 0.4));
        let (w, b, shift, t) = (waves((4, 2), 1.1), waves(4, 0.3), waves((2, 4), 0.5), waves(2, 0.8));
        let (w, b, shift, t) = (w.view(), b.view(), shift.view(), t.view());
        ode::advance::run(d, x.view_mut(), u.view_mut(), w, b, shift, t, 0.1, 7)?;
        let outputs = Outputs::new().with("x", &x).with("u", &u);
        ode::advance::run_inverse(d, x.view_mut(), u.view_mut(), w, b, shift, t, 0.1, 7)?;
        Ok(outputs.with("x back", &x).with("u back", &u))
    };
    "learning by consistency", true, |d| {
        let learned = consistency::learn(d, consistency::Program::ForgetsInput, consistency::Task::PUBLISHED, 5)?;
        Ok(Outputs::new().with("outputs", &learned.outputs).with("p", &learned.p))
    };
    "graph embedding, gradient", true, |d| {
        let (graph, x) = (graph_embedding::Petersen::new(), waves((graph_embedding::VERTICES, 3), 0.7));
        let g = graph_embedding::embedding::gradient(d, x.view(), &graph.a, &graph.b, graph_embedding::EDGES)?;
        Ok(Outputs::new().with("loss", &g.value).with("x", &g.x))
    };
}
