//! The invertible networks learn: losses that are programs of their own, on top of those of the library, and their gradients by all weights.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayView3, ArrayView4};
use rev_cpu::prelude::*;
use rev_networks::adam::Adam;
use rev_networks::flows::nice::nice;
use rev_networks::ode::solution;
use rev_networks::recurrent::recurrent;
use rev_networks::residual::revnet;
use support::numbers;

/// The mean of `-ln p` of samples by NICE with a normal distribution, without its constant.
#[reversible(constant(x))]
fn nice_unlikelihood<T: Real>(
    loss: &mut T,
    x: ArrayView2<T>,
    w: ArrayView3<T>,
    b: ArrayView2<T>,
    shift: ArrayView3<T>,
    t: ArrayView2<T>,
    scale: ArrayView1<T>,
) {
    let mut z: Array2<T> = zeros((x.nrows(), x.ncols()));
    let mut log_det = T::zero();
    z += entries(x);
    nice(&mut z, &mut log_det, &w, &b, &shift, &t, &scale);
    *loss += 0.5 * dot(z, z) / (x.nrows() as T) - log_det;
}

#[test]
fn nice_learns_a_distribution() {
    // a bent one: the second number follows the square of the first
    let mut x = numbers((64, 2), 1);
    x.rows_mut().into_iter().for_each(|mut row| row[1] = 2.0 * row[0] * row[0] + 0.1 * row[1]);
    let (mut w, mut b) = (numbers((3, 8, 1), 2), numbers((3, 8), 3));
    let (mut shift, mut t, mut scale) =
        (0.1 * numbers((3, 1, 8), 4), Array2::zeros((3, 1)), Array1::zeros(2));
    let (cpu, mut adam, mut losses) = (Cpu::with_threads(1), Adam::new(0.03, 24 + 24 + 24 + 3 + 2), vec![]);
    for _ in 0..150 {
        let weights = (w.view(), b.view(), shift.view(), t.view(), scale.view());
        let g = nice_unlikelihood::gradient(
            &cpu,
            x.view(),
            weights.0,
            weights.1,
            weights.2,
            weights.3,
            weights.4,
        )
        .unwrap();
        let all = w.iter_mut().chain(&mut b).chain(&mut shift).chain(&mut t).chain(&mut scale);
        adam.step(all, g.w.iter().chain(&g.b).chain(&g.shift).chain(&g.t).chain(&g.scale));
        losses.push(g.value);
    }
    assert!(losses[149] < losses[0] - 1.0, "{} {}", losses[0], losses[149]);
}

/// How far both halves of the signals are from others after the blocks.
#[reversible(constant(x, y))]
fn distance_after_blocks<T: Real>(
    loss: &mut T,
    x: ArrayView3<T>,
    y: ArrayView3<T>,
    kernels: ArrayView4<T>,
    b: ArrayView2<T>,
) {
    let mut x1: Array3<T> = zeros((x.dim(0), x.dim(1), x.dim(2)));
    let mut x2: Array3<T> = zeros((x.dim(0), x.dim(1), x.dim(2)));
    x1 += entries(x);
    x2 += entries(x);
    revnet(&mut x1, &mut x2, &kernels, &b);
    for n in par(0..x.dim(0)) {
        for c in 0..x.dim(1) {
            for i in 0..x.dim(2) {
                *loss += (x1[[n, c, i]] - y[[n, c, i]]).powi(2) + (x2[[n, c, i]] - y[[n, c, i]]).powi(2);
            }
        }
    }
}

#[test]
fn residual_blocks_learn_a_filter() {
    // signals delayed by one, and made less
    let x = numbers((6, 2, 12), 1);
    let y =
        ndarray::Array3::from_shape_fn(x.dim(), |(n, c, i)| if i > 0 { 0.5 * x[[n, c, i - 1]] } else { 0.0 });
    let (mut kernels, mut b) = (0.3 * numbers((8, 2, 2, 3), 2), Array2::zeros((8, 2)));
    let (cpu, mut adam, mut losses) = (Cpu::with_threads(1), Adam::new(0.02, 8 * 12 + 16), vec![]);
    for _ in 0..120 {
        let g = distance_after_blocks::gradient(&cpu, x.view(), y.view(), kernels.view(), b.view()).unwrap();
        adam.step(kernels.iter_mut().chain(&mut b), g.kernels.iter().chain(&g.b));
        losses.push(g.value);
    }
    assert!(losses[119] < 0.2 * losses[0], "{} {}", losses[0], losses[119]);
}

/// How far the first number of the state is from what should be remembered.
#[reversible(constant(x, first))]
fn forgotten<T: Real>(
    loss: &mut T,
    x: ArrayView3<T>,
    first: &[T],
    gate: ArrayView3<T>,
    b: ArrayView2<T>,
    new: ArrayView3<T>,
    c: ArrayView2<T>,
) {
    let mut h1: Array2<T> = zeros((x.dim(1), b.ncols()));
    let mut h2: Array2<T> = zeros((x.dim(1), b.ncols()));
    recurrent(&mut h1, &mut h2, &x, &gate, &b, &new, &c);
    for n in par(0..first.len()) {
        *loss += (h1[[n, 0]] - first[n]).powi(2);
    }
}

#[test]
fn a_recurrent_network_learns_to_remember() {
    let x = numbers((6, 24, 1), 1);
    // the first number of each sequence
    let first: Vec<f64> = (0..24).map(|n| 0.8 * x[[0, n, 0]]).collect();
    let (mut gate, mut b) = (0.5 * numbers((2, 4, 5), 2), Array2::zeros((2, 4)));
    let (mut new, mut c) = (0.5 * numbers((2, 4, 5), 3), Array2::zeros((2, 4)));
    let (cpu, mut adam, mut losses) = (Cpu::with_threads(1), Adam::new(0.03, 2 * 40 + 16), vec![]);
    for _ in 0..250 {
        let (gates, values) = ((gate.view(), b.view()), (new.view(), c.view()));
        let g = forgotten::gradient(&cpu, x.view(), &first, gates.0, gates.1, values.0, values.1).unwrap();
        let all = gate.iter_mut().chain(&mut b).chain(&mut new).chain(&mut c);
        adam.step(all, g.gate.iter().chain(&g.b).chain(&g.new).chain(&g.c));
        losses.push(g.value);
    }
    assert!(losses[249] < 0.2 * losses[0], "{} {}", losses[0], losses[249]);
}

/// The mean of `-ln` of the probability of each label (1 or -1) by the first number of the solution.
#[reversible(constant(x, labels))]
fn wrong_after_flow<T: Real>(
    loss: &mut T,
    x: ArrayView2<T>,
    labels: &[T],
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
    steps: usize,
) {
    let mut y: Array2<T> = zeros((x.nrows(), x.ncols()));
    solution(&mut y, &x, &w, &b, &shift, &t, steps);
    for n in par(0..labels.len()) {
        *loss += (-3.0 * labels[n] * y[[n, 0]]).softplus() / (labels.len() as T);
    }
}

#[test]
fn an_equation_learns_to_tell_rings_apart() {
    // no line of the plane does; a third number, zero at first, gives the flow room
    let mut x = numbers((60, 3), 1);
    let mut labels = vec![1.0; 60];
    for (n, mut row) in x.rows_mut().into_iter().enumerate() {
        let (radius, angle) = (if n % 2 == 0 { 0.4 } else { 1.2 }, 0.7 * n as f64);
        labels[n] = if n % 2 == 0 { 1.0 } else { -1.0 };
        (row[0], row[1], row[2]) = (radius * angle.cos(), radius * angle.sin(), 0.0);
    }
    let (mut w, mut b) = (2.0 * numbers((12, 3), 2), numbers(12, 3));
    let (mut shift, mut t) = (0.2 * numbers((3, 12), 4), Array1::zeros(3));
    let (cpu, mut adam, mut losses) = (Cpu::with_threads(1), Adam::new(0.05, 36 + 12 + 36 + 3), vec![]);
    for _ in 0..150 {
        let (network, out) = ((w.view(), b.view()), (shift.view(), t.view()));
        let g = wrong_after_flow::gradient(&cpu, x.view(), &labels, network.0, network.1, out.0, out.1, 8)
            .unwrap();
        let all = w.iter_mut().chain(&mut b).chain(&mut shift).chain(&mut t);
        adam.step(all, g.w.iter().chain(&g.b).chain(&g.shift).chain(&g.t));
        losses.push(g.value);
    }
    assert!(losses[149] < 0.1 * losses[0], "{} {}", losses[0], losses[149]);
}
