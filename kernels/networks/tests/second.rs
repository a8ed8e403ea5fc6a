//! Second derivatives of `rev_networks::flows` by edge pushing: the transformation of Box and Muller, and coupling layers.
#![allow(clippy::unwrap_used)]

#[path = "support/second.rs"]
mod formulas;
#[path = "../../tests/support/hessian.rs"]
mod second;
#[path = "support/numbers.rs"]
mod support;

use formulas::{near, of_layer, of_normal, of_shift, Layer};
use ndarray::{Array1, Array2};
use second::hessian;
use support::numbers;

#[test]
fn normal_numbers() {
    for (u, v) in [(0.3, 0.1), (0.9, 0.6), (0.05, 0.35)] {
        near(&hessian!(formulas::weighted_normal, u, v, [0.7, -1.2]), &of_normal(u, v, [0.7, -1.2]), 1e-12);
    }
}

#[test]
fn additive_layers() {
    let (x, w): (Array2<f64>, Array2<f64>) = (numbers((3, 2), 1), numbers((4, 2), 2));
    let (b, shift): (Array1<f64>, Array2<f64>) = (numbers(4, 3), numbers((2, 4), 4));
    let (t, c): (Array1<f64>, Array2<f64>) = (numbers(2, 5), numbers((3, 2), 6));
    let h = hessian!(formulas::weighted_shift, x, w, b, shift, t, c);
    near(&h, &of_shift(&x, &w, &b, &shift, &c), 1e-13);
}

#[test]
fn affine_layers() {
    let flat: Array1<f64> = numbers(Layer::SIZE, 9);
    let l = Layer::new(flat.as_slice().unwrap());
    let h = hessian!(formulas::unlikely, l.y, l.x, l.w, l.b, l.scale, l.r, l.shift, l.t);
    near(&h, &of_layer(flat.as_slice().unwrap()), 1e-8);
}
