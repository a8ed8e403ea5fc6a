//! Coupling layers: one half of the numbers is changed by what a network makes of the other half, which stays.
//!
//! ```text
//! h = tanh(W x + b)
//! additive   y ← y + T h + t                     ln |det| = 0
//! affine     y ← y e^s + T h + t                 ln |det| = Σ s,   s = tanh(S h + r)
//! ```
//!
//! Additive layers are those of Dinh, Krueger and Bengio, "NICE: Non-linear independent components estimation" (2015), section 3.2; affine
//! ones those of Dinh, Sohl-Dickstein and Bengio, "Density estimation using Real NVP" (2017), section 3.2. The network
//! can be any, as it is never inverted; it has one hidden layer here. Samples are rows: `y` is N by D, `x` is N by E, with H hidden numbers
//! `W` is H by E, `T` and `S` are D by H. Memory of an iteration: H numbers.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `y += T tanh(W x + b) + t`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn additive<T: Real>(
    mut y: ArrayViewMut2<T>,
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
) {
    for i in par(0..x.nrows()) {
        let mut hidden: Array1<T> = zeros(w.nrows());
        for k in 0..w.nrows() {
            let mut sum = T::zero();
            for j in 0..x.ncols() {
                sum += w[[k, j]] * x[[i, j]];
            }
            hidden[k] += (sum + b[k]).tanh();
        }
        for j in 0..y.ncols() {
            y[[i, j]] += t[j];
            for k in 0..w.nrows() {
                y[[i, j]] += shift[[j, k]] * hidden[k];
            }
        }
    }
}

/// `y ← y e^s + T h + t` with `h = tanh(W x + b)` and `s = tanh(S h + r)`, whose sum is added to `log_det` of each sample. The bound of `s`
/// keeps the layer from squeezing numbers to where they can't be brought back.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn affine<T: Real>(
    mut y: ArrayViewMut2<T>,
    log_det: &mut [T],
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    scale: ArrayView2<T>,
    r: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
) {
    for i in par(0..x.nrows()) {
        let mut hidden: Array1<T> = zeros(w.nrows());
        for k in 0..w.nrows() {
            let mut sum = T::zero();
            for j in 0..x.ncols() {
                sum += w[[k, j]] * x[[i, j]];
            }
            hidden[k] += (sum + b[k]).tanh();
        }
        for j in 0..y.ncols() {
            let mut stretch = T::zero();
            let mut moved = T::zero();
            for k in 0..w.nrows() {
                stretch += scale[[j, k]] * hidden[k];
                moved += shift[[j, k]] * hidden[k];
            }
            let s = (stretch + r[j]).tanh();
            scale_by(y[[i, j]], s.exp());
            y[[i, j]] += moved + t[j];
            log_det[i] += s;
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2};

    /// `tanh(x Wᵀ + b)`, a row for each sample.
    pub fn hidden(x: ArrayView2<f64>, w: ArrayView2<f64>, b: ArrayView1<f64>) -> Array2<f64> {
        (x.dot(&w.t()) + b).mapv(f64::tanh)
    }

    /// `y += h Tᵀ + t`.
    pub fn additive(
        mut y: ArrayViewMut2<f64>,
        x: ArrayView2<f64>,
        (w, b): (ArrayView2<f64>, ArrayView1<f64>),
        (shift, t): (ArrayView2<f64>, ArrayView1<f64>),
    ) {
        y += &(hidden(x, w, b).dot(&shift.t()) + t);
    }

    /// `y ← y e^s + h Tᵀ + t`, and the logarithms of the determinants.
    pub fn affine(
        mut y: ArrayViewMut2<f64>,
        x: ArrayView2<f64>,
        (w, b): (ArrayView2<f64>, ArrayView1<f64>),
        (scale, r): (ArrayView2<f64>, ArrayView1<f64>),
        (shift, t): (ArrayView2<f64>, ArrayView1<f64>),
    ) -> Array1<f64> {
        let h = hidden(x, w, b);
        let s = (h.dot(&scale.t()) + r).mapv(f64::tanh);
        let next = &y * &s.mapv(f64::exp) + h.dot(&shift.t()) + t;
        y.assign(&next);
        s.sum_axis(ndarray::Axis(1))
    }
}
