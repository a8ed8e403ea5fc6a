//! Residual networks whose layers can be undone.
//!
//! ```text
//! y₁ = x₁ + F(x₂),  y₂ = x₂ + G(y₁)        back: x₂ = y₂ - G(y₁), x₁ = y₁ - F(x₂)
//! ```
//!
//! Gomez, Ren, Urtasun and Grosse, "The reversible residual network: backpropagation without storing activations" (2017), equations 6
//! to 8. `F` and `G` are a rectifier and a convolution that keeps the length, on signals with several channels: N by C by T. Memory: none
//! beside the signals, however many blocks there are.

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewMut3};
use rev_cpu::prelude::*;

use crate::layers::relu;

/// `y += K * relu(x) + b` for kernels C by C by K of odd length and a bias for each channel.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn residual<T: Real>(mut y: ArrayViewMut3<T>, x: ArrayView3<T>, kernel: ArrayView3<T>, b: ArrayView1<T>) {
    let middle = kernel.dim(2) / 2;
    for n in par(0..y.dim(0)) {
        for o in par(0..y.dim(1)) {
            for i in par(0..y.dim(2)) {
                y[[n, o, i]] += b[o];
                for c in 0..x.dim(1) {
                    for k in 0..kernel.dim(2) {
                        if i + k >= middle && i + k < middle + x.dim(2) {
                            y[[n, o, i]] += kernel[[o, c, k]] * relu(x[[n, c, i + k - middle]]);
                        }
                    }
                }
            }
        }
    }
}

/// L blocks on the two halves of the channels, in place: kernels 2L by C by C by K, those of `F` and `G` in turn, biases 2L by C.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn revnet<T: Real>(
    mut x1: ArrayViewMut3<T>,
    mut x2: ArrayViewMut3<T>,
    kernels: ArrayView4<T>,
    b: ArrayView2<T>,
) {
    for l in 0..kernels.dim(0) / 2 {
        residual(&mut x1, &x2, kernels.index_axis(Axis(0), 2 * l), b.row(2 * l));
        residual(&mut x2, &x1, kernels.index_axis(Axis(0), 2 * l + 1), b.row(2 * l + 1));
    }
}

/// The same as plain Rust.
pub mod plain {
    use crate::layers::plain::{convolution_1d, relu};
    use ndarray::{ArrayView2, ArrayView4, ArrayViewMut3, Axis};

    /// L blocks, in place.
    pub fn revnet(
        mut x1: ArrayViewMut3<f64>,
        mut x2: ArrayViewMut3<f64>,
        kernels: ArrayView4<f64>,
        b: ArrayView2<f64>,
    ) {
        let sizes = (1, kernels.dim().3 / 2, x1.dim().2);
        for l in 0..kernels.dim().0 / 2 {
            let at = |l: usize| (kernels.index_axis(Axis(0), l), b.row(l));
            let (kernel, bias) = at(2 * l);
            x1 += &convolution_1d(x2.mapv(relu).view(), kernel, bias, sizes);
            let (kernel, bias) = at(2 * l + 1);
            x2 += &convolution_1d(x1.mapv(relu).view(), kernel, bias, sizes);
        }
    }
}
