//! Layers of feed-forward networks: dense and convolutional ones, and activations.
//!
//! ```text
//! dense          y[n, o]       += b[o] + Σ_i W[o, i] x[n, i]
//! convolution 1D y[n, o, t]    += b[o] + Σ_c Σ_k K[o, c, k] x[n, c, s t + k - p]
//! convolution 2D y[n, o, u, v] += b[o] + Σ_c Σ_k Σ_l K[o, c, k, l] x[n, c, s u + k - p, s v + l - p]
//! ```
//!
//! `n` counts examples, `s` is the stride, `p` the padding: what lies beside the signal is zero. As everywhere in learning the kernels
//! aren't flipped (Goodfellow, Bengio and Courville, "Deep Learning", 2016, section 9.1). A layer adds to its output, so that it
//! is its own residual connection, and needs no memory beside that.

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewMut2, ArrayViewMut3, ArrayViewMut4};
use rev_cpu::prelude::*;

/// `y += x Wᵀ + b`: N examples by I inputs, weights O by I, a bias for each output, N by O outputs.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn dense<T: Real>(mut y: ArrayViewMut2<T>, x: ArrayView2<T>, w: ArrayView2<T>, b: ArrayView1<T>) {
    y += matmul(x, w.t());
    for n in par(0..y.nrows()) {
        for o in 0..y.ncols() {
            y[[n, o]] += b[o];
        }
    }
}

/// `y +=` the convolution of signals with kernels: N by C by L inputs, kernels O by C by K, N by O by [`output_length`] outputs.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn convolution_1d<T: Real>(
    mut y: ArrayViewMut3<T>,
    x: ArrayView3<T>,
    kernel: ArrayView3<T>,
    b: ArrayView1<T>,
    stride: usize,
    padding: usize,
) {
    for n in par(0..y.dim(0)) {
        for o in par(0..y.dim(1)) {
            for t in par(0..y.dim(2)) {
                y[[n, o, t]] += b[o];
                for c in 0..x.dim(1) {
                    for k in 0..kernel.dim(2) {
                        let at = stride * t + k;
                        if at >= padding && at < padding + x.dim(2) {
                            y[[n, o, t]] += kernel[[o, c, k]] * x[[n, c, at - padding]];
                        }
                    }
                }
            }
        }
    }
}

/// `y +=` the convolution of pictures with kernels: N by C by H by W inputs, kernels O by C by K by L, N by O outputs whose height
/// and width are [`output_length`]s.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn convolution_2d<T: Real>(
    mut y: ArrayViewMut4<T>,
    x: ArrayView4<T>,
    kernel: ArrayView4<T>,
    b: ArrayView1<T>,
    stride: usize,
    padding: usize,
) {
    for n in par(0..y.dim(0)) {
        for o in par(0..y.dim(1)) {
            for u in par(0..y.dim(2)) {
                for v in par(0..y.dim(3)) {
                    y[[n, o, u, v]] += b[o];
                    for c in 0..x.dim(1) {
                        for k in 0..kernel.dim(2) {
                            let row = stride * u + k;
                            if row >= padding && row < padding + x.dim(2) {
                                for l in 0..kernel.dim(3) {
                                    let column = stride * v + l;
                                    if column >= padding && column < padding + x.dim(3) {
                                        y[[n, o, u, v]] +=
                                            kernel[[o, c, k, l]] * x[[n, c, row - padding, column - padding]];
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `y +=` an activation of each element of `x`, of the same shape.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn activate<T: Real>(
    mut y: ArrayViewMut2<T>,
    x: ArrayView2<T>,
    activation: impl Reversible<(&mut T, T)>,
) {
    for i in par(0..y.nrows()) {
        for j in 0..y.ncols() {
            activation(&mut y[[i, j]], x[[i, j]]);
        }
    }
}

/// `max(x, 0)`, with the derivative 0 at 0.
#[pure]
pub fn relu<T: Real>(x: T) -> T {
    if x > 0.0 {
        x
    } else {
        T::zero()
    }
}

/// `x`, or `slope x` below zero.
#[pure]
pub fn leaky_relu<T: Real>(x: T, slope: T) -> T {
    if x > 0.0 {
        x
    } else {
        slope * x
    }
}

/// `x`, or `eˣ - 1` below zero (Clevert et al., 2016).
#[pure]
pub fn elu<T: Real>(x: T) -> T {
    if x > 0.0 {
        x
    } else {
        x.exp_m1()
    }
}

/// `x σ(x)`, which is called swish too (Ramachandran et al., 2017).
#[pure]
pub fn silu<T: Real>(x: T) -> T {
    x * x.sigmoid()
}

/// `x Φ(x)` with the distribution function of the normal distribution (Hendrycks and Gimpel, 2016).
#[pure]
pub fn gelu<T: Real>(x: T) -> T {
    0.5 * x * (1.0 + (x / 2.0.sqrt()).erf())
}

/// `y += gelu(x)`, as an argument of [`activate()`]. Others are as short.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn add_gelu<T: Real>(y: &mut T, x: T) {
    *y += gelu(x);
}

/// Sizes of a convolution that don't fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// There is no step of length zero.
    #[error("the stride of a convolution is 0")]
    Stride,
    /// The kernel is longer than the signal with its padding, or one of the lengths is 0 or too large.
    #[error("a kernel of length {kernel} doesn't fit into a signal of length {length} with a padding of {padding}")]
    Kernel {
        /// The kernel's length.
        kernel: usize,
        /// The signal's length.
        length: usize,
        /// Zeros on each side.
        padding: usize,
    },
}

/// The length of what a convolution gives: `(length + 2 padding - kernel) / stride + 1`.
///
/// # Errors
///
/// A stride of zero, a kernel that is empty or longer than the signal with its padding.
pub fn output_length(
    length: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> Result<usize, SizeError> {
    let wrong = SizeError::Kernel { kernel, length, padding };
    if stride == 0 {
        return Err(SizeError::Stride);
    }
    if kernel == 0 {
        return Err(wrong);
    }
    let padded = padding.checked_mul(2).and_then(|both| both.checked_add(length)).ok_or(wrong)?;
    Ok(padded.checked_sub(kernel).ok_or(wrong)? / stride + 1)
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array2, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, ArrayView4};
    use num_traits::Float;

    /// `x Wᵀ + b`.
    pub fn dense<T: Float>(x: ArrayView2<T>, w: ArrayView2<T>, b: ArrayView1<T>) -> Array2<T> {
        Array2::from_shape_fn((x.nrows(), w.nrows()), |(n, o)| {
            x.row(n).iter().zip(w.row(o)).fold(b[o], |sum, (&x, &w)| sum + w * x)
        })
    }

    /// A signal at a place in the padded one.
    fn inside(at: usize, padding: usize, length: usize) -> Option<usize> {
        at.checked_sub(padding).filter(|&at| at < length)
    }

    /// The convolution of signals, of a given length.
    pub fn convolution_1d<T: Float>(
        x: ArrayView3<T>,
        kernel: ArrayView3<T>,
        b: ArrayView1<T>,
        (stride, padding, length): (usize, usize, usize),
    ) -> Array3<T> {
        Array3::from_shape_fn((x.dim().0, kernel.dim().0, length), |(n, o, t)| {
            kernel.index_axis(ndarray::Axis(0), o).indexed_iter().fold(b[o], |sum, ((c, k), &w)| {
                inside(stride * t + k, padding, x.dim().2).map_or(sum, |at| sum + w * x[[n, c, at]])
            })
        })
    }

    /// The convolution of pictures, of a given height and width.
    pub fn convolution_2d<T: Float>(
        x: ArrayView4<T>,
        kernel: ArrayView4<T>,
        b: ArrayView1<T>,
        (stride, padding, [height, width]): (usize, usize, [usize; 2]),
    ) -> Array4<T> {
        Array4::from_shape_fn((x.dim().0, kernel.dim().0, height, width), |(n, o, u, v)| {
            kernel.index_axis(ndarray::Axis(0), o).indexed_iter().fold(b[o], |sum, ((c, k, l), &w)| {
                let row = inside(stride * u + k, padding, x.dim().2);
                let column = inside(stride * v + l, padding, x.dim().3);
                row.zip(column).map_or(sum, |(row, column)| sum + w * x[[n, c, row, column]])
            })
        })
    }

    /// `max(x, 0)`.
    pub fn relu<T: Float>(x: T) -> T {
        x.max(T::zero())
    }
}
