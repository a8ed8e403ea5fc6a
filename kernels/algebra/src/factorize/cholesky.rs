//! `A = L Lᵀ` for a symmetric positive definite matrix, in place.
//!
//! ```text
//! for i, for j ≤ i:  a_ij := a_ij - Σ a_ik a_jk  (k < j);  a_ij := a_ij / a_jj, but a_jj := √a_jj
//! ```
//!
//! The columns are taken [`BLOCK`] at a time: what those before them contribute to the sums is a product of matrices.
//!
//! Only the lower triangle is read and written: afterwards it is `L`. The square root is undone by squaring, so nothing is kept.
//! A gradient by the matrix is one by its lower triangle, and zero above: an element off the diagonal stands for both of its places.
//!
//! **Matrices that aren't positive definite** have a root of a negative number or a division by zero, which are errors of the program
//! (with checks off a negative number gives NaN).

use super::triangular::{solve_lower, solve_lower_transposed, BLOCK};
use ndarray::{ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `x := √x`, whose inverse is the square.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn root<T: Real>(x: &mut T) {
    let mut r = T::zero();
    r += x.sqrt();
    swap(x, r);
    release(r, *x * *x);
}

/// `A = L Lᵀ` in place, in the lower triangle of `a`.
///
/// # Errors
///
/// A matrix that isn't positive definite.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn cholesky<T: Real>(mut a: ArrayViewMut2<T>) {
    for from in (0..a.nrows()).step_by(BLOCK) {
        let to = min(from + BLOCK, a.nrows());
        lower(a.slice_mut(s![from..to, from..to])) -=
            matmul(a.slice(s![from..to, ..from]), a.slice(s![from..to, ..from]).t());
        a.slice_mut(s![to.., from..to]) -=
            matmul(a.slice(s![to.., ..from]), a.slice(s![from..to, ..from]).t());
        for i in from..a.nrows() {
            for j in from..min(i, to) {
                for k in from..j {
                    a[[i, j]] -= a[[i, k]] * a[[j, k]];
                }
                unscale_by(a[[i, j]], a[[j, j]]);
            }
            if i < to {
                for k in from..i {
                    a[[i, i]] -= a[[i, k]] * a[[i, k]];
                }
                root(&mut a[[i, i]]);
            }
        }
    }
}

/// `y += ln det A`.
///
/// # Errors
///
/// A matrix that isn't positive definite.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn logdet<T: Real>(y: &mut T, a: ArrayView2<T>) {
    let mut l: Array2<T> = zeros((a.nrows(), a.nrows()));
    l += contract("ij:lower->ij", a);
    cholesky(&mut l);
    for k in 0..a.nrows() {
        *y += 2.0 * l[[k, k]].ln();
    }
}

/// `x += A⁻¹ B`: a column for each right side.
///
/// # Errors
///
/// A matrix that isn't positive definite.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve<T: Real>(mut x: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    let mut l: Array2<T> = zeros((a.nrows(), a.nrows()));
    let mut solution: Array2<T> = zeros((b.nrows(), b.ncols()));
    l += contract("ij:lower->ij", a);
    cholesky(&mut l);
    solution += entries(b);
    solve_lower(&mut solution, &l);
    solve_lower_transposed(&mut solution, &l);
    x += entries(solution);
}

/// The same as plain Rust.
pub mod plain {
    use super::super::triangular::plain::{solve_lower, solve_lower_transposed};
    use ndarray::{Array2, ArrayView2};
    use num_traits::Float;

    /// The lower triangle of `a` as `L`, with zeros above; `None` where `A` isn't positive definite.
    pub fn cholesky<T: Float>(a: ArrayView2<T>) -> Option<Array2<T>> {
        let mut l = Array2::zeros(a.dim());
        for i in 0..a.nrows() {
            for j in 0..=i {
                let rest = (0..j).fold(a[[i, j]], |sum, k| sum - l[[i, k]] * l[[j, k]]);
                if i == j && rest <= T::zero() {
                    return None;
                }
                l[[i, j]] = if i == j { rest.sqrt() } else { rest / l[[j, j]] };
            }
        }
        Some(l)
    }

    /// `ln det A`; `None` where `A` isn't positive definite.
    pub fn logdet<T: Float>(a: ArrayView2<T>) -> Option<T> {
        let l = cholesky(a)?;
        Some(l.diag().fold(T::zero(), |sum, pivot| sum + pivot.ln() + pivot.ln()))
    }

    /// `A⁻¹ B`; `None` where `A` isn't positive definite.
    pub fn solve<T: Float>(a: ArrayView2<T>, b: ArrayView2<T>) -> Option<Array2<T>> {
        let (l, mut x) = (cholesky(a)?, b.to_owned());
        solve_lower(x.view_mut(), l.view());
        solve_lower_transposed(x.view_mut(), l.view());
        Some(x)
    }
}
