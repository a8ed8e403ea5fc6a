//! Real NVP: affine coupling layers, and how likely samples are by them.
//!
//! Dinh, Sohl-Dickstein and Bengio, "Density estimation using Real NVP" (2017), equations 2 to 8. Samples are rows of D numbers, D even.
//! Layer `l` changes the second half by the first where `l` is even, else the first by the second.
//!
//! Weights of L layers with H hidden numbers, as [`Weights`] has them: `w` L by H by D/2, `b` L by H, `scale` and `shift` L by D/2 by H,
//! `r` and `t` L by D/2. Memory: that of one layer; the likelihood has a copy of the samples.

use ndarray::{Array2, Array3, ArrayView2, ArrayView3, ArrayViewMut2};
use rev_cpu::prelude::*;

use super::coupling::affine;

/// Turns samples N by D in place; `log_det[i]` gets the logarithm of the determinant at sample `i`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn real_nvp<T: Real>(
    mut x: ArrayViewMut2<T>,
    log_det: &mut [T],
    w: ArrayView3<T>,
    b: ArrayView2<T>,
    scale: ArrayView3<T>,
    r: ArrayView2<T>,
    shift: ArrayView3<T>,
    t: ArrayView2<T>,
) {
    let half = x.ncols() / 2;
    for l in 0..w.dim(0) {
        if l % 2 == 0 {
            affine(
                x.slice_mut(s![.., half..]),
                &mut log_det,
                x.slice(s![.., ..half]),
                w.index_axis(Axis(0), l),
                b.row(l),
                scale.index_axis(Axis(0), l),
                r.row(l),
                shift.index_axis(Axis(0), l),
                t.row(l),
            );
        } else {
            affine(
                x.slice_mut(s![.., ..half]),
                &mut log_det,
                x.slice(s![.., half..]),
                w.index_axis(Axis(0), l),
                b.row(l),
                scale.index_axis(Axis(0), l),
                r.row(l),
                shift.index_axis(Axis(0), l),
                t.row(l),
            );
        }
    }
}

/// `loss +=` the mean of `-ln p(x)` over samples N by D: `½ |z|² + D/2 ln 2π - ln |det|` at what the flow makes of them.
#[cfg_attr(feature = "tangents", reversible(tangent, constant(x)))]
#[cfg_attr(not(feature = "tangents"), reversible(constant(x)))]
pub fn unlikelihood<T: Real>(
    loss: &mut T,
    x: ArrayView2<T>,
    w: ArrayView3<T>,
    b: ArrayView2<T>,
    scale: ArrayView3<T>,
    r: ArrayView2<T>,
    shift: ArrayView3<T>,
    t: ArrayView2<T>,
) {
    let mut z: Array2<T> = zeros((x.nrows(), x.ncols()));
    let mut log_det = vec![T::zero(); x.nrows()];
    z += entries(x);
    real_nvp(z.view_mut(), &mut log_det, w, b, scale, r, shift, t);
    for i in par(0..x.nrows()) {
        let mut square = T::zero();
        for j in 0..x.ncols() {
            square += z[[i, j]] * z[[i, j]];
        }
        *loss += (0.5 * square - log_det[i]) / (x.nrows() as T);
    }
    *loss += 0.5 * (x.ncols() as T) * (2.0 * T::pi()).ln();
}

/// The parameters of a flow. Biases are rows of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Into the hidden numbers: L by H by D/2.
    pub w: Array3<f64>,
    /// Their biases: L by H.
    pub b: Array2<f64>,
    /// Of the logarithms of the scales: L by D/2 by H.
    pub scale: Array3<f64>,
    /// Their biases: L by D/2.
    pub r: Array2<f64>,
    /// Of the shifts: L by D/2 by H.
    pub shift: Array3<f64>,
    /// Their biases: L by D/2.
    pub t: Array2<f64>,
}

impl Weights {
    /// Parameters by a function that is called for each, layer after layer of `w`, then all of `b` and so on.
    pub fn new(layers: usize, hidden: usize, dimensions: usize, mut next: impl FnMut() -> f64) -> Weights {
        let half = dimensions / 2;
        Weights {
            w: Array3::from_shape_simple_fn((layers, hidden, half), &mut next),
            b: Array2::from_shape_simple_fn((layers, hidden), &mut next),
            scale: Array3::from_shape_simple_fn((layers, half, hidden), &mut next),
            r: Array2::from_shape_simple_fn((layers, half), &mut next),
            shift: Array3::from_shape_simple_fn((layers, half, hidden), &mut next),
            t: Array2::from_shape_simple_fn((layers, half), &mut next),
        }
    }

    /// All of them, one array behind the other.
    pub fn iter(&self) -> impl Iterator<Item = &f64> {
        let first = self.w.iter().chain(&self.b).chain(&self.scale);
        first.chain(&self.r).chain(&self.shift).chain(&self.t)
    }

    /// The same to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let first = self.w.iter_mut().chain(&mut self.b).chain(&mut self.scale);
        first.chain(&mut self.r).chain(&mut self.shift).chain(&mut self.t)
    }
}

/// The same as plain Rust.
pub mod plain {
    use super::Weights;
    use crate::flows::coupling::plain::affine;
    use ndarray::{s, Array1, ArrayView2, ArrayViewMut2, Axis};
    use std::f64::consts::TAU;

    /// Turns samples in place, and gives the logarithms of the determinants.
    pub fn real_nvp(mut x: ArrayViewMut2<f64>, weights: &Weights) -> Array1<f64> {
        let half = x.ncols() / 2;
        let mut log_det = Array1::zeros(x.nrows());
        for l in 0..weights.w.dim().0 {
            let (first, second) = x.multi_slice_mut((s![.., ..half], s![.., half..]));
            let (read, written) = if l % 2 == 0 { (first, second) } else { (second, first) };
            log_det += &affine(
                written,
                read.view(),
                (weights.w.index_axis(Axis(0), l), weights.b.row(l)),
                (weights.scale.index_axis(Axis(0), l), weights.r.row(l)),
                (weights.shift.index_axis(Axis(0), l), weights.t.row(l)),
            );
        }
        log_det
    }

    /// The mean of `-ln p(x)`.
    pub fn unlikelihood(x: ArrayView2<f64>, weights: &Weights) -> f64 {
        let mut z = x.to_owned();
        let log_det = real_nvp(z.view_mut(), weights);
        let (n, d) = (x.nrows() as f64, x.ncols() as f64);
        (0.5 * z.mapv(|v| v * v).sum() - log_det.sum()) / n + 0.5 * d * TAU.ln()
    }
}
