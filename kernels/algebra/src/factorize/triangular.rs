//! Triangular systems, solved in place: `b := L⁻¹ b`. Each number is divided by its pivot or has a multiple of another one subtracted,
//! so the inverse is the product `b := L b`.
//!
//! Rows are taken [`BLOCK`] at a time: what those that are solved already contribute to them is a product of matrices (G. H. Golub,
//! C. F. Van Loan, section 3.1.4).
//!
//! `b` has a column for each right side; columns are independent. One right side is a matrix with one column
//! (`b.view_mut().insert_axis(Axis(1))`). The other triangle of the matrix isn't read.

use ndarray::{ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// How many rows are taken at a time here, and rows and columns in the factorizations: a power of 2.
pub const BLOCK: usize = 8;

/// `b := L⁻¹ b`, where `L` is the lower triangle of `l`.
///
/// # Errors
///
/// A zero on the diagonal.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve_lower<T: Real>(mut b: ArrayViewMut2<T>, l: ArrayView2<T>) {
    for from in (0..b.nrows()).step_by(BLOCK) {
        let to = min(from + BLOCK, b.nrows());
        b.slice_mut(s![from..to, ..]) -= matmul(l.slice(s![from..to, ..from]), b.slice(s![..from, ..]));
        for j in par(0..b.ncols()) {
            for i in from..to {
                for k in from..i {
                    b[[i, j]] -= l[[i, k]] * b[[k, j]];
                }
                unscale_by(b[[i, j]], l[[i, i]]);
            }
        }
    }
}

/// `b := L⁻¹ b`, where `L` is the strict lower triangle of `l` with ones on the diagonal.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve_unit_lower<T: Real>(mut b: ArrayViewMut2<T>, l: ArrayView2<T>) {
    for from in (0..b.nrows()).step_by(BLOCK) {
        let to = min(from + BLOCK, b.nrows());
        b.slice_mut(s![from..to, ..]) -= matmul(l.slice(s![from..to, ..from]), b.slice(s![..from, ..]));
        for j in par(0..b.ncols()) {
            for i in from..to {
                for k in from..i {
                    b[[i, j]] -= l[[i, k]] * b[[k, j]];
                }
            }
        }
    }
}

/// `b := U⁻¹ b`, where `U` is the upper triangle of `u`.
///
/// # Errors
///
/// A zero on the diagonal.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve_upper<T: Real>(mut b: ArrayViewMut2<T>, u: ArrayView2<T>) {
    for from in (0..b.nrows()).step_by(BLOCK).rev() {
        let to = min(from + BLOCK, b.nrows());
        b.slice_mut(s![from..to, ..]) -= matmul(u.slice(s![from..to, to..]), b.slice(s![to.., ..]));
        for j in par(0..b.ncols()) {
            for i in (from..to).rev() {
                for k in i + 1..to {
                    b[[i, j]] -= u[[i, k]] * b[[k, j]];
                }
                unscale_by(b[[i, j]], u[[i, i]]);
            }
        }
    }
}

/// `b := L⁻ᵀ b`, where `L` is the lower triangle of `l`.
///
/// # Errors
///
/// A zero on the diagonal.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve_lower_transposed<T: Real>(mut b: ArrayViewMut2<T>, l: ArrayView2<T>) {
    for from in (0..b.nrows()).step_by(BLOCK).rev() {
        let to = min(from + BLOCK, b.nrows());
        b.slice_mut(s![from..to, ..]) -= matmul(l.slice(s![to.., from..to]).t(), b.slice(s![to.., ..]));
        for j in par(0..b.ncols()) {
            for i in (from..to).rev() {
                for k in i + 1..to {
                    b[[i, j]] -= l[[k, i]] * b[[k, j]];
                }
                unscale_by(b[[i, j]], l[[i, i]]);
            }
        }
    }
}

/// The same as plain Rust, in place as well.
pub mod plain {
    use ndarray::{ArrayView2, ArrayViewMut2};
    use num_traits::Float;

    /// `b := L⁻¹ b`.
    pub fn solve_lower<T: Float>(b: ArrayViewMut2<T>, l: ArrayView2<T>) {
        downwards(b, l, |i| l[[i, i]]);
    }

    /// `b := L⁻¹ b` with ones on the diagonal.
    pub fn solve_unit_lower<T: Float>(b: ArrayViewMut2<T>, l: ArrayView2<T>) {
        downwards(b, l, |_| T::one());
    }

    fn downwards<T: Float>(mut b: ArrayViewMut2<T>, l: ArrayView2<T>, pivot: impl Fn(usize) -> T) {
        for j in 0..b.ncols() {
            for i in 0..b.nrows() {
                let rest = (0..i).fold(b[[i, j]], |rest, k| rest - l[[i, k]] * b[[k, j]]);
                b[[i, j]] = rest / pivot(i);
            }
        }
    }

    /// `b := U⁻¹ b`.
    pub fn solve_upper<T: Float>(mut b: ArrayViewMut2<T>, u: ArrayView2<T>) {
        for j in 0..b.ncols() {
            for i in (0..b.nrows()).rev() {
                let rest = (i + 1..b.nrows()).fold(b[[i, j]], |rest, k| rest - u[[i, k]] * b[[k, j]]);
                b[[i, j]] = rest / u[[i, i]];
            }
        }
    }

    /// `b := L⁻ᵀ b`.
    pub fn solve_lower_transposed<T: Float>(b: ArrayViewMut2<T>, l: ArrayView2<T>) {
        solve_upper(b, l.t());
    }
}
