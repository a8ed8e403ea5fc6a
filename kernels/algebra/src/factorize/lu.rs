//! `P A = L U` with partial pivoting, in place, and determinants, solutions and inverses by it.
//!
//! ```text
//! for k: exchange row k with that of the pivot;  a_ik := a_ik / a_kk;  a_ij := a_ij - a_ik a_kj   (i, j > k)
//! ```
//!
//! What columns to the right get subtracted is done for many `k` at once, by products of matrices: after the columns up to `n`, where `h` is the
//! lowest bit of `n`, that of the last `h` columns on the next `h`. So the products are those of a recursion by halves (S. Toledo, *Locality
//! of reference in LU decomposition with partial pivoting*, SIAM J. Matrix Anal. Appl. 18, 1997).
//!
//! Afterwards `U` is the upper triangle of `a`, and `L`, whose diagonal is 1, the lower one. Beside them the exchanges are kept, an index
//! for each row.
//!
//! A pivot gives way to one further down only where that is larger by the factor [`MARGIN`]. So elements that are equal are told apart
//! in the same way on the way back, where they are rounded, and elements of `L` are at most `MARGIN`, not 1.
//!
//! **Singular matrices.** A pivot of zero with rows below it can't be divided by, which is an error of the program (`unscale_by`). Where
//! only the last one is zero the factorization is there: the determinant is 0, its logarithm minus infinity, and solving is an error.

use super::triangular::{solve_unit_lower, solve_upper, BLOCK};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// How much larger a pivot has to be than one above it.
pub const MARGIN: f64 = 1.05;

/// Whether [`solve()`] makes the step that second derivatives take.
const TWICE: bool = cfg!(feature = "tangents");

/// `at +=` the index of the largest `|x|`, up to [`MARGIN`]. Memory: an index for each element.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn largest<T: Real>(at: &mut usize, x: ArrayView1<T>) {
    let mut best = vec![0usize; x.len()];
    for i in 1..x.len() {
        best[i] += if x[i].abs() > T::from_f64(MARGIN) * x[best[i - 1]].abs() { i } else { best[i - 1] };
    }
    *at += best[x.len() - 1];
}

/// `P A = L U` in place, for a square matrix. `pivots`, zeros before, gets for each row how far below it the row stands that it is
/// exchanged with: `a` has as many rows as `pivots` has elements.
///
/// # Errors
///
/// A pivot of zero that isn't the last one: the matrix is singular.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn lu<T: Real>(mut a: ArrayViewMut2<T>, pivots: &mut [usize]) {
    for from in (0..a.nrows()).step_by(BLOCK) {
        let to = min(from + BLOCK, a.nrows());
        for k in from..to {
            largest(&mut pivots[k], a.slice(s![k.., k]));
            if pivots[k] > 0 {
                for j in 0..a.ncols() {
                    swap(a[[k, j]], a[[k + pivots[k], j]]);
                }
            }
            for i in k + 1..a.nrows() {
                unscale_by(a[[i, k]], a[[k, k]]);
                for j in k + 1..to {
                    a[[i, j]] -= a[[i, k]] * a[[k, j]];
                }
            }
        }
        // as many columns before `to` as its lowest bit says, and as many after it
        let first = to & (to - 1);
        let last = min(2 * to - first, a.ncols());
        solve_unit_lower(&mut a.slice_mut(s![first..to, to..last]), a.slice(s![first..to, first..to]));
        a.slice_mut(s![to.., to..last]) -=
            matmul(a.slice(s![to.., first..to]), a.slice(s![first..to, to..last]));
    }
}

/// `y += det A`. Where `A` has rank n - 1 see [the module](self).
///
/// # Errors
///
/// A pivot of zero that isn't the last one.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn det<T: Real>(y: &mut T, a: ArrayView2<T>) {
    let n = a.nrows();
    let mut factors: Array2<T> = zeros((n, n));
    let mut pivots = vec![0usize; n];
    let mut product = vec![T::zero(); n + 1];
    factors += entries(a);
    lu(&mut factors, &mut pivots);
    product[0] += 1.0;
    for k in 0..n {
        if pivots[k] == 0 {
            product[k + 1] += product[k] * factors[[k, k]];
        } else {
            product[k + 1] -= product[k] * factors[[k, k]];
        }
    }
    *y += product[n];
}

/// `y += ln |det A|`.
///
/// # Errors
///
/// A pivot of zero that isn't the last one.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn logdet<T: Real>(y: &mut T, a: ArrayView2<T>) {
    let n = a.nrows();
    let mut factors: Array2<T> = zeros((n, n));
    let mut pivots = vec![0usize; n];
    factors += entries(a);
    lu(&mut factors, &mut pivots);
    for k in 0..n {
        *y += factors[[k, k]].abs().ln();
    }
}

/// `b := A⁻¹ b` for the factors of `A`, as [`lu()`] leaves them.
///
/// # Errors
///
/// A pivot of zero.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve_with<T: Real>(mut b: ArrayViewMut2<T>, factors: ArrayView2<T>, pivots: &[usize]) {
    for k in 0..b.nrows() {
        for j in 0..b.ncols() {
            swap(b[[k, j]], b[[k + pivots[k], j]]);
        }
    }
    solve_unit_lower(&mut b, &factors);
    solve_upper(&mut b, &factors);
}

/// `x += A⁻¹ B`: a column for each right side. The factors and what they give for `x` count as constants, and one step of refinement follows:
///
/// ```text
/// x := x + A⁻¹ (b - A x)
/// ```
///
/// It makes up for rounding, and has the first derivatives of the solution, which then take products of n² multiplications instead of the way
/// back through the factorization. Another step has the second ones; it is made with the feature `tangents` only. So without the feature a Hessian by
/// edge pushing is wrong, as third derivatives are with it.
///
/// # Errors
///
/// A pivot of zero.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solve<T: Real>(mut x: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    let n = a.nrows();
    let mut factors: Array2<T> = zeros((n, n));
    let mut pivots = vec![0usize; n];
    let mut solution: Array2<T> = zeros((n, b.ncols()));
    let mut step: Array2<T> = zeros((n, b.ncols()));
    for i in 0..n {
        for j in 0..n {
            factors[[i, j]] += a[[i, j]].stop_gradient();
        }
        for j in 0..b.ncols() {
            solution[[i, j]] += b[[i, j]].stop_gradient();
        }
    }
    lu(&mut factors, &mut pivots);
    solve_with(&mut solution, &factors, &pivots);
    step += entries(b);
    step -= matmul(a, solution);
    solve_with(&mut step, &factors, &pivots);
    x += entries(solution) + entries(step);
    if TWICE {
        let mut second: Array2<T> = zeros((n, b.ncols()));
        second += entries(b);
        second -= matmul(a, solution);
        second -= matmul(a, step);
        solve_with(&mut second, &factors, &pivots);
        x += entries(second);
    }
}

/// `c += A⁻¹`, which is `U⁻¹ L⁻¹ P`. Memory: 2 n² numbers.
///
/// # Errors
///
/// A pivot of zero.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn invert<T: Real>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>) {
    let n = a.nrows();
    let mut factors: Array2<T> = zeros((n, n));
    let mut pivots = vec![0usize; n];
    let mut x: Array2<T> = zeros((n, n));
    factors += entries(a);
    lu(&mut factors, &mut pivots);
    for i in 0..n {
        x[[i, i]] += 1.0;
    }
    // L⁻¹ is a triangle, too
    for from in (0..n).step_by(BLOCK) {
        let to = min(from + BLOCK, n);
        x.slice_mut(s![from..to, ..from]) -=
            matmul(factors.slice(s![from..to, ..from]), x.slice(s![..from, ..from]));
        solve_unit_lower(&mut x.slice_mut(s![from..to, ..to]), factors.slice(s![from..to, from..to]));
    }
    solve_upper(&mut x, &factors);
    for k in (0..n).rev() {
        for i in 0..n {
            swap(x[[i, k]], x[[i, k + pivots[k]]]);
        }
    }
    c += entries(x);
}

/// The same as plain Rust.
pub mod plain {
    use super::super::triangular::plain::{solve_unit_lower, solve_upper};
    use ndarray::{Array2, ArrayView2};
    use num_traits::Float;

    /// `L` and `U` in one matrix, and the row that stands at each place; `None` for a singular matrix.
    pub fn lu<T: Float>(a: ArrayView2<T>) -> Option<(Array2<T>, Vec<usize>)> {
        let (n, mut a) = (a.nrows(), a.to_owned());
        let mut rows: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let pivot = (k..n).fold(k, |best, i| if a[[i, k]].abs() > a[[best, k]].abs() { i } else { best });
            if a[[pivot, k]] == T::zero() {
                return None;
            }
            rows.swap(k, pivot);
            (0..n).for_each(|j| a.swap([k, j], [pivot, j]));
            for i in k + 1..n {
                let factor = a[[i, k]] / a[[k, k]];
                a[[i, k]] = factor;
                (k + 1..n).for_each(|j| a[[i, j]] = a[[i, j]] - factor * a[[k, j]]);
            }
        }
        Some((a, rows))
    }

    /// `det A`.
    pub fn det<T: Float>(a: ArrayView2<T>) -> T {
        let Some((factors, rows)) = lu(a) else { return T::zero() };
        let inversions = (0..rows.len()).map(|i| rows[..i].iter().filter(|row| **row > rows[i]).count());
        let sign = if inversions.sum::<usize>().is_multiple_of(2) { T::one() } else { -T::one() };
        factors.diag().fold(sign, |product, &pivot| product * pivot)
    }

    /// `ln |det A|`.
    pub fn logdet<T: Float>(a: ArrayView2<T>) -> T {
        lu(a).map_or(T::neg_infinity(), |(factors, _)| {
            factors.diag().fold(T::zero(), |sum, pivot| sum + pivot.abs().ln())
        })
    }

    /// `A⁻¹ B`; `None` for a singular matrix.
    pub fn solve<T: Float>(a: ArrayView2<T>, b: ArrayView2<T>) -> Option<Array2<T>> {
        let (factors, rows) = lu(a)?;
        let mut x = Array2::from_shape_fn(b.dim(), |(i, j)| b[[rows[i], j]]);
        solve_unit_lower(x.view_mut(), factors.view());
        solve_upper(x.view_mut(), factors.view());
        Some(x)
    }

    /// `A⁻¹`; `None` for a singular matrix.
    pub fn invert<T: Float>(a: ArrayView2<T>) -> Option<Array2<T>> {
        solve(a, Array2::eye(a.nrows()).view())
    }
}
