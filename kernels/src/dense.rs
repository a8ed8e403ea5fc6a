//! A small dense network on whole batches: two layers with a hyperbolic tangent between them, squared
//! error, written with products of whole matrices.
//!
//! `L = |tanh(x W + 1 bᵀ) V - y|²`, whose gradient is
//! `∂L/∂V = 2 hᵀ r`, `∂L/∂W = xᵀ d`, `∂L/∂b = 1ᵀ d` with `h = tanh(x W + 1 bᵀ)`, `r = h V - y` and
//! `d = (2 r Vᵀ) ∘ (1 - h∘h)`.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

/// `loss += |tanh(x w + 1 bᵀ) v - y|²` for `n` samples: `x` is `n × p`, `w` is `p × q`, `b` has `q`
/// elements, `v` is `q × m`, `y` is `n × m`. Memory: `n (2 q + m)` numbers.
#[reversible]
pub fn dense<T: Real>(
    loss: &mut T,
    w: ArrayView2<T>,
    b: &[T],
    v: ArrayView2<T>,
    x: ArrayView2<T>,
    y: ArrayView2<T>,
) {
    let mut z: Array2<T> = zeros((x.nrows(), w.ncols()));
    let mut h: Array2<T> = zeros((x.nrows(), w.ncols()));
    let mut r: Array2<T> = zeros((y.nrows(), y.ncols()));
    z += matmul(x, w) + contract("j->ij", b);
    for i in par(0..z.nrows()) {
        for j in 0..z.ncols() {
            h[[i, j]] += z[[i, j]].tanh();
        }
    }
    r += matmul(h, v) - y;
    *loss += dot(r, r);
}

/// The same as plain Rust on ndarray.
pub mod plain {
    use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

    /// The gradient by hand: the loss, and its derivatives by `w`, `b` and `v`.
    pub struct Gradient {
        /// The loss.
        pub value: f64,
        /// By the first matrix.
        pub w: Array2<f64>,
        /// By the first layer's constant.
        pub b: Array1<f64>,
        /// By the second matrix.
        pub v: Array2<f64>,
    }

    /// The loss.
    pub fn value(
        w: ArrayView2<f64>,
        b: ArrayView1<f64>,
        v: ArrayView2<f64>,
        x: ArrayView2<f64>,
        y: ArrayView2<f64>,
    ) -> f64 {
        let h = (x.dot(&w) + b).mapv(f64::tanh);
        (h.dot(&v) - y).iter().map(|r| r * r).sum()
    }

    /// The loss and its gradient, by the formulas at the head of [`super`].
    pub fn gradient(
        w: ArrayView2<f64>,
        b: ArrayView1<f64>,
        v: ArrayView2<f64>,
        x: ArrayView2<f64>,
        y: ArrayView2<f64>,
    ) -> Gradient {
        let h = (x.dot(&w) + b).mapv(f64::tanh);
        let r = h.dot(&v) - y;
        let d = 2.0 * r.dot(&v.t()) * h.mapv(|h| 1.0 - h * h);
        let value = r.mapv(|r| r * r).sum();
        Gradient { value, w: x.t().dot(&d), b: d.sum_axis(Axis(0)), v: 2.0 * h.t().dot(&r) }
    }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use super::*;
    use ndarray::{Array1, Array2};

    fn matrix(n: usize, m: usize, seed: f64) -> Array2<f64> {
        Array2::from_shape_fn((n, m), |(i, j)| (seed + 1.7 * i as f64 - 0.9 * j as f64).sin())
    }

    #[test]
    fn the_gradient_is_that_of_the_formulas() {
        for (n, p, q, m) in [(3, 2, 4, 1), (40, 17, 33, 9)] {
            let (w, v) = (matrix(p, q, 0.1), matrix(q, m, 0.2));
            let (x, y, b) = (matrix(n, p, 0.3), matrix(n, m, 0.4), Array1::linspace(-0.5, 0.5, q));
            let by_hand = plain::gradient(w.view(), b.view(), v.view(), x.view(), y.view());
            let value = plain::value(w.view(), b.view(), v.view(), x.view(), y.view());
            assert_abs_diff_eq!(value, by_hand.value, epsilon = 1e-12 * value);
            let flat = b.as_slice().unwrap();
            for device in [Cpu::new(), Cpu::new().checks(false), Cpu::new().deterministic(true)] {
                let g = dense::gradient(&device, w.view(), flat, v.view(), x.view(), y.view()).unwrap();
                let close = |a: &Array2<f64>, b: &Array2<f64>| {
                    a.iter().zip(b).all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-11 * (1.0 + b.abs())))
                };
                assert_abs_diff_eq!(g.value, by_hand.value, epsilon = 1e-10 * by_hand.value);
                assert!(close(&g.w, &by_hand.w) && close(&g.v, &by_hand.v));
                assert!(g.b.iter().zip(&by_hand.b).all(|(a, b)| abs_diff_eq!(
                    a,
                    b,
                    epsilon = 1e-11 * (1.0 + b.abs())
                )));
            }
            let report =
                dense::check_gradient(&Cpu::new(), &0.5, w.view(), flat, v.view(), x.view(), y.view())
                    .unwrap();
            assert!(report.passed(), "{report}");
        }
    }
}
