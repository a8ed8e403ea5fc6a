//! Tangents against differences of the twins in plain Rust, compiled Hessians against formulas, differences of gradients and edge pushing.
#![allow(clippy::unwrap_used)]

#[path = "support/second.rs"]
mod formulas;
#[path = "support/numbers.rs"]
mod support;

use formulas::{differences, near, of_layer, of_normal, of_shift, rows, Layer};
use ndarray::{Array, Array1, Array2, Array3, ArrayView1, ArrayView2, Axis, Dimension};
use rev_cpu::prelude::*;
use rev_networks::attention::{attention, plain as plain_attention};
use rev_networks::flows::nice::{nice, plain as plain_nice};
use rev_networks::flows::real_nvp::{self, unlikelihood, Weights};
use rev_networks::graph_embedding::{embedding, Petersen, EDGES, VERTICES};
use rev_networks::layers::{self, activate, add_gelu, convolution_1d, dense};
use rev_networks::losses::{cross_entropy, cross_entropy_of_labels, plain as losses, softmax};
use rev_networks::recurrent::{plain::update as plain_update, recurrent};
use rev_networks::residual::{plain::revnet as plain_revnet, revnet};
use rev_networks::{consistency, ode};
use support::{apart, numbers};

/// The derivative of a function along a line at 0, by differences of fourth order.
fn slope<D: Dimension>(value: impl Fn(f64) -> Array<f64, D>) -> Array<f64, D> {
    let h = 1e-3;
    (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h)
}

#[test]
fn normal_numbers() {
    let w = [0.7, -1.2];
    for (u, v) in [(0.3, 0.1), (0.9, 0.6), (0.05, 0.35)] {
        let wrt = formulas::weighted_normal::U | formulas::weighted_normal::V;
        let h = formulas::weighted_normal::hessian_wrt(&Cpu::new(), wrt, u, v, &w).unwrap();
        near(&rows(h.matrix().view()), &of_normal(u, v, w), 1e-12);
    }
}

#[test]
fn coupling_layers() {
    let (x, w): (Array2<f64>, Array2<f64>) = (numbers((3, 2), 1), numbers((4, 2), 2));
    let (b, shift): (Array1<f64>, Array2<f64>) = (numbers(4, 3), numbers((2, 4), 4));
    let (t, c): (Array1<f64>, Array2<f64>) = (numbers(2, 5), numbers((3, 2), 6));
    let flat: Array1<f64> = numbers(Layer::SIZE, 9);
    let flat = flat.as_slice().unwrap();
    let l = Layer::new(flat);
    for cpu in [Cpu::new(), Cpu::with_threads(2).parallel_from(0), Cpu::new().checks(false)] {
        let h = formulas::weighted_shift::hessian(
            &cpu,
            x.view(),
            w.view(),
            b.view(),
            shift.view(),
            t.view(),
            c.view(),
        );
        near(&rows(h.unwrap().matrix().view()), &of_shift(&x, &w, &b, &shift, &c), 1e-13);
        let (y, x, w, b) = (l.y.view(), l.x.view(), l.w.view(), l.b.view());
        let (scale, r, shift, t) = (l.scale.view(), l.r.view(), l.shift.view(), l.t.view());
        let h = formulas::unlikely::hessian(&cpu, y, x, w, b, scale, r, shift, t).unwrap();
        near(&rows(h.matrix().view()), &of_layer(flat), 1e-8);
    }
}

fn weights(layers: usize, hidden: usize, dimensions: usize, seed: u64) -> Weights {
    let mut all = numbers(10_000, seed).into_iter();
    Weights::new(layers, hidden, dimensions, || all.next().unwrap())
}

/// Products of the Hessian of a flow's loss with a direction for all parameters, against differences of gradients; values and slopes of the flow.
#[test]
fn real_nvps() {
    let (x, p, v): (Array2<f64>, _, _) = (numbers((5, 4), 1), weights(3, 3, 4, 7), weights(3, 3, 4, 8));
    let moved = |by: f64| {
        let mut p = p.clone();
        p.iter_mut().zip(v.iter()).for_each(|(p, v)| *p += by * v);
        p
    };
    let cpu = Cpu::new();
    let gradient = |by: f64| {
        let p = moved(by);
        let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
        let g = unlikelihood::gradient(&cpu, x.view(), w, b, scale, r, p.shift.view(), p.t.view()).unwrap();
        let g = Weights { w: g.w, b: g.b, scale: g.scale, r: g.r, shift: g.shift, t: g.t };
        g.iter().copied().collect::<Array1<f64>>()
    };
    let (w, b, scale, r) = (p.w.view(), p.b.view(), p.scale.view(), p.r.view());
    let (shift, t) = (p.shift.view(), p.t.view());
    let (dw, db, dscale, dr) = (v.w.view(), v.b.view(), v.scale.view(), v.r.view());
    let (dshift, dt) = (v.shift.view(), v.t.view());
    let h =
        unlikelihood::hvp(&cpu, dw, db, dscale, dr, dshift, dt, x.view(), w, b, scale, r, shift, t).unwrap();
    let h = Weights { w: h.w, b: h.b, scale: h.scale, r: h.r, shift: h.shift, t: h.t };
    let expected = slope(gradient);
    assert!(expected.iter().any(|e| e.abs() > 0.1));
    assert!(apart(&h.iter().copied().collect::<Array1<f64>>(), &expected) < 1e-8);
    let (mut y, zero) = (x.clone(), Array2::zeros(x.dim()));
    let d = real_nvp::real_nvp::jvp(
        &cpu,
        zero.view(),
        &[0.0; 5],
        dw,
        db,
        dscale,
        dr,
        dshift,
        dt,
        y.view(),
        &[0.0; 5],
        w,
        b,
        scale,
        r,
        shift,
        t,
    );
    let (d, volumes) = (d.unwrap(), real_nvp::plain::real_nvp(y.view_mut(), &p));
    assert!(apart(&d.x, &y) < 1e-13 && apart(&Array1::from(d.log_det), &volumes) < 1e-13);
    let by_plain = slope(|by| {
        let mut x = x.clone();
        real_nvp::plain::real_nvp(x.view_mut(), &moved(by));
        x
    });
    assert!(apart(&d.x_dot, &by_plain) < 1e-9);
}

#[test]
fn flows_that_keep_volumes() {
    let all = |seed: u64| {
        let (x, w, b) = (numbers((6, 4), seed), numbers((3, 5, 2), seed + 1), numbers((3, 5), seed + 2));
        let (shift, t, scale) =
            (numbers((3, 2, 5), seed + 3), numbers((3, 2), seed + 4), numbers(4, seed + 5));
        (x, w, b, shift, t, scale)
    };
    let (p, v) = (all(1), all(11));
    let expected = slope(|by| {
        let mut x = &p.0 + by * &v.0;
        let (w, b) = (&p.1 + by * &v.1, &p.2 + by * &v.2);
        let (shift, t, scale) = (&p.3 + by * &v.3, &p.4 + by * &v.4, &p.5 + by * &v.5);
        plain_nice::nice(x.view_mut(), w.view(), b.view(), shift.view(), t.view(), scale.view());
        x
    });
    let d = nice::jvp(
        &Cpu::new(),
        v.0.view(),
        &0.0,
        v.1.view(),
        v.2.view(),
        v.3.view(),
        v.4.view(),
        v.5.view(),
        p.0.view(),
        &0.0,
        p.1.view(),
        p.2.view(),
        p.3.view(),
        p.4.view(),
        p.5.view(),
    );
    let d = d.unwrap();
    assert!(apart(&d.x_dot, &expected) < 1e-8);
    assert!((d.log_det_dot - v.5.sum()).abs() < 1e-14);
}

/// `ẏ = s (ẋ - s·ẋ)` for `s = softmax(x)`, and Hessians of cross entropies: `(diag(s) - s sᵀ)/N` for each row.
#[test]
fn probabilities_and_losses() {
    let (cpu, n, m) = (Cpu::new(), 3, 4);
    let (x, v): (Array2<f64>, Array2<f64>) = (3.0 * numbers((n, m), 1), numbers((n, m), 2));
    let zero = Array1::zeros(m);
    let s: Vec<Array1<f64>> = x.outer_iter().map(losses::softmax).collect();
    let d = softmax::jvp(&cpu, zero.view(), v.row(0), zero.view(), x.row(0)).unwrap();
    let expected = &s[0] * &(&v.row(0) - s[0].dot(&v.row(0)));
    assert!(apart(&d.y_dot, &expected) < 1e-15);
    let labels = [2, 0, 3];
    let p = Array2::from_shape_fn((n, m), |(i, c)| f64::from(u8::from(labels[i] == c)));
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let expected: Vec<Vec<f64>> = (0..n * m)
        .map(|i| {
            let of = |j: usize| {
                let row = &s[i / m];
                unit(i / m, j / m) * row[i % m] * (unit(i, j) - row[j % m]) / n as f64
            };
            (0..n * m).map(of).collect()
        })
        .collect();
    let h = cross_entropy::hessian_wrt(&cpu, cross_entropy::X, x.view(), p.view()).unwrap();
    near(&rows(h.matrix().view()), &expected, 1e-14);
    let h = cross_entropy_of_labels::hessian(&cpu, &[0; 3], x.view(), &labels).unwrap();
    near(&rows(h.matrix().view()), &expected, 1e-14);
}

/// Two layers with a loss.
#[reversible(tangent, loss = loss, constant(x))]
fn network<T: Real>(
    loss: &mut T,
    found: &mut [usize],
    x: ArrayView2<T>,
    labels: &[usize],
    w1: ArrayView2<T>,
    b1: ArrayView1<T>,
    w2: ArrayView2<T>,
    b2: ArrayView1<T>,
) {
    let mut sums: Array2<T> = zeros((x.nrows(), w1.nrows()));
    let mut hidden: Array2<T> = zeros((x.nrows(), w1.nrows()));
    let mut scores: Array2<T> = zeros((x.nrows(), w2.nrows()));
    dense(sums.view_mut(), x, w1, b1);
    activate(hidden.view_mut(), sums.view(), add_gelu);
    dense(scores.view_mut(), hidden.view(), w2, b2);
    cross_entropy_of_labels(&mut loss, &mut found, scores.view(), &labels);
}

#[test]
fn the_hessian_of_a_network() {
    let (x, labels, cpu) = (numbers((4, 2), 1), [0, 1, 1, 0], Cpu::new());
    let flat: Array1<f64> = numbers(17, 3);
    let split = |flat: &[f64]| {
        let array = |from: usize, rows: usize, columns: usize| {
            Array2::from_shape_fn((rows, columns), |(i, j)| flat[from + columns * i + j])
        };
        (array(0, 3, 2), array(6, 1, 3).row(0).to_owned(), array(9, 2, 3), array(15, 1, 2).row(0).to_owned())
    };
    let expected = differences(flat.as_slice().unwrap(), |flat| {
        let (w1, b1, w2, b2) = split(flat);
        let g =
            network::gradient(&cpu, &[0; 4], x.view(), &labels, w1.view(), b1.view(), w2.view(), b2.view());
        let g = g.unwrap();
        g.w1.iter().chain(&g.b1).chain(&g.w2).chain(&g.b2).copied().collect()
    });
    let (w1, b1, w2, b2) = split(flat.as_slice().unwrap());
    let h = network::hessian(&cpu, &[0; 4], x.view(), &labels, w1.view(), b1.view(), w2.view(), b2.view());
    near(&rows(h.unwrap().matrix().view()), &expected, 1e-8);
}

#[test]
fn convolutions() {
    let [(x, k, b), (dx, dk, db)] = [1, 5].map(|seed| {
        let (x, k): (Array3<f64>, Array3<f64>) = (numbers((2, 3, 7), seed), numbers((2, 3, 3), seed + 1));
        let b: Array1<f64> = numbers(2, seed + 2);
        (x, k, b)
    });
    let zero = Array3::zeros((2, 2, 4));
    let (dxv, dkv, dbv) = (dx.view(), dk.view(), db.view());
    let d = convolution_1d::jvp(
        &Cpu::new(),
        zero.view(),
        dxv,
        dkv,
        dbv,
        zero.view(),
        x.view(),
        k.view(),
        b.view(),
        2,
        1,
    );
    // a bilinear map
    let sizes = (2, 1, 4);
    let none = Array1::zeros(2);
    let expected = layers::plain::convolution_1d(dxv, k.view(), none.view(), sizes)
        + layers::plain::convolution_1d(x.view(), dkv, dbv, sizes);
    assert!(apart(&d.unwrap().y_dot, &expected) < 1e-14);
}

#[test]
fn attentions() {
    let [p, v] = [1, 5].map(|seed| {
        let (q, k): (Array2<f64>, Array2<f64>) = (numbers((4, 3), seed), numbers((5, 3), seed + 1));
        let value: Array2<f64> = numbers((5, 2), seed + 2);
        (q, k, value)
    });
    let zero = Array2::zeros((4, 2));
    for causal in [false, true] {
        let d = attention::jvp(
            &Cpu::with_threads(2).parallel_from(0),
            zero.view(),
            v.0.view(),
            v.1.view(),
            v.2.view(),
            zero.view(),
            p.0.view(),
            p.1.view(),
            p.2.view(),
            causal,
        );
        let expected = slope(|by| {
            let (q, k, value) = (&p.0 + by * &v.0, &p.1 + by * &v.1, &p.2 + by * &v.2);
            plain_attention::attention(q.view(), k.view(), value.view(), causal)
        });
        assert!(apart(&d.unwrap().y_dot, &expected) < 1e-9);
    }
}

#[test]
fn residual_blocks() {
    let [p, v] = [1, 5].map(|seed| {
        let (x1, x2): (Array3<f64>, Array3<f64>) = (numbers((2, 3, 6), seed), numbers((2, 3, 6), seed + 1));
        (x1, x2, 0.5 * numbers((4, 3, 3, 3), seed + 2), numbers((4, 3), seed + 3))
    });
    let d = revnet::jvp(
        &Cpu::new(),
        v.0.view(),
        v.1.view(),
        v.2.view(),
        v.3.view(),
        p.0.view(),
        p.1.view(),
        p.2.view(),
        p.3.view(),
    );
    let d = d.unwrap();
    // so short a step that no number changes its sign
    let h = 1e-7;
    let at = |by: f64| {
        let (mut x1, mut x2) = (&p.0 + by * &v.0, &p.1 + by * &v.1);
        plain_revnet(x1.view_mut(), x2.view_mut(), (&p.2 + by * &v.2).view(), (&p.3 + by * &v.3).view());
        [x1, x2]
    };
    let ([up1, up2], [down1, down2]) = (at(h), at(-h));
    assert!(apart(&d.x1_dot, &((up1 - down1) / (2.0 * h))) < 1e-6);
    assert!(apart(&d.x2_dot, &((up2 - down2) / (2.0 * h))) < 1e-6);
}

#[test]
fn recurrent_steps() {
    let [p, v] = [1, 11].map(|seed| {
        let (h1, h2, x) = (numbers((3, 4), seed), numbers((3, 4), seed + 1), numbers((5, 3, 2), seed + 2));
        let (gate, b) = (numbers((2, 4, 6), seed + 3), numbers((2, 4), seed + 4));
        let (new, c) = (numbers((2, 4, 6), seed + 5), numbers((2, 4), seed + 6));
        let state: [Array2<f64>; 2] = [h1, h2];
        let [gate, new, x]: [Array3<f64>; 3] = [gate, new, x];
        let biases: [Array2<f64>; 2] = [b, c];
        (state, x, [gate, new], biases)
    });
    let d = recurrent::jvp(
        &Cpu::new(),
        v.0[0].view(),
        v.0[1].view(),
        v.1.view(),
        v.2[0].view(),
        v.3[0].view(),
        v.2[1].view(),
        v.3[1].view(),
        p.0[0].view(),
        p.0[1].view(),
        p.1.view(),
        p.2[0].view(),
        p.3[0].view(),
        p.2[1].view(),
        p.3[1].view(),
    );
    let d = d.unwrap();
    for half in 0..2 {
        let expected = slope(|by| {
            let mut h = [0, 1].map(|k| &p.0[k] + by * &v.0[k]);
            let x = &p.1 + by * &v.1;
            let w = [0, 1].map(|k| &p.2[k] + by * &v.2[k]);
            let b = [0, 1].map(|k| &p.3[k] + by * &v.3[k]);
            for x in x.outer_iter() {
                for k in 0..2 {
                    let layer = |which: usize| (w[which].index_axis(Axis(0), k), b[which].row(k));
                    h[k] = plain_update(h[k].view(), h[1 - k].view(), x, layer(0), layer(1));
                }
            }
            h[half].clone()
        });
        assert!(apart([&d.h1_dot, &d.h2_dot][half], &expected) < 1e-8);
    }
}

#[test]
fn a_differential_equation() {
    let [p, v] = [1, 5].map(|seed| {
        let (x, w): (Array2<f64>, Array2<f64>) = (numbers((4, 2), seed), numbers((5, 2), seed + 1));
        let (b, shift): (Array1<f64>, Array2<f64>) = (numbers(5, seed + 2), 0.5 * numbers((2, 5), seed + 3));
        let t: Array1<f64> = numbers(2, seed + 4);
        (x, w, b, shift, t)
    });
    let zero = Array2::zeros((4, 2));
    let d = ode::solution::jvp(
        &Cpu::new(),
        zero.view(),
        v.0.view(),
        v.1.view(),
        v.2.view(),
        v.3.view(),
        v.4.view(),
        zero.view(),
        p.0.view(),
        p.1.view(),
        p.2.view(),
        p.3.view(),
        p.4.view(),
        10,
    );
    let expected = slope(|by| {
        let (x, w, b) = (&p.0 + by * &v.0, &p.1 + by * &v.1, &p.2 + by * &v.2);
        let (shift, t) = (&p.3 + by * &v.3, &p.4 + by * &v.4);
        ode::plain::solution(x.view(), (w.view(), b.view()), (shift.view(), t.view()), 10)
    });
    assert!(apart(&d.unwrap().y_dot, &expected) < 1e-9);
}

#[test]
fn an_embedding() {
    let (graph, cpu): (_, Cpu) = (Petersen::new(), Cpu::new());
    let x: Array2<f64> = numbers((VERTICES, 3), 1);
    let pushed = embedding::hessian_pushed(x.view(), &graph.a, &graph.b, EDGES).unwrap().to_dense();
    let h = embedding::hessian(&cpu, x.view(), &graph.a, &graph.b, EDGES).unwrap();
    near(&rows(h.matrix().view()), &pushed, 1e-12);
}

/// `y = eᵖ⁺ˣ - eˣ`, and what the input was is taken back by the output: `x - ln(-(y - eᵖ⁺ˣ))`.
#[test]
fn programs_that_learn_backwards() {
    let (x, p, dx, dp) = (0.3f64, 1.6f64, 0.7, -0.4);
    let d = consistency::keeps_input::jvp(&Cpu::new(), &0.0, dx, &dp, &0.0, x, &p).unwrap();
    let expected = (p + x).exp() * (dp + dx) - x.exp() * dx;
    assert!((d.y_dot - expected).abs() < 1e-13);
    let d = consistency::forgets_input::jvp(&Cpu::new(), &0.0, &dx, &dp, &0.0, &x, &p).unwrap();
    assert!((d.y_dot - expected).abs() < 1e-13 && d.x_dot.abs() < 1e-15);
    assert!((d.p_dot - dp - dx).abs() < 1e-15);
}
