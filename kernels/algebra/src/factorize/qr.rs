//! `A = Q R` in place, by Householder's reflections, with columns exchanged or not, and by the orthogonalization of Gram and Schmidt.
//!
//! A reflection `H = 1 - τ v vᵀ`, `τ = 2 / vᵀv`, that takes a column `x` to `β e₁` has `v = (1, x₁/(x₀ - β), …)`, which stands in the place
//! of the column below `β`. What is lost comes back from them: `x₀ = β (1 - τ)`. And `H` is its own inverse, `vᵀ H x = -vᵀ x`, so applying
//! it takes no memory either: [`householder()`] keeps nothing.
//!
//! [`pivoted()`] brings the longest of what is left of the columns to the front before each reflection, and ends where nothing is left: so it
//! finds the rank (P. Businger, G. H. Golub, *Linear Least Squares Solutions by Householder Transformations*, Numerische Mathematik 7, 1965).
//! It keeps which columns were exchanged. As with rows in [`lu`](super::lu), a column gives way to a longer one only where the square of
//! that length is larger by the factor [`MARGIN`](super::lu::MARGIN).
//!
//! Gram and Schmidt, each column as soon as the one before is done: `r_kj = q_k · a_j`, `a_j := a_j - r_kj q_k`, `r_jj = |a_j|`,
//! `q_j := a_j / r_jj`. `R` is an argument of its own.

use super::lu::largest;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `x := (β, v₁, v₂, …)`, where `β` is `-|x|`, or `|x|` for an `x₀` below `-|x|/16`, and `v_i = x_i / (x₀ - β)`.
///
/// So `x₀ - β` is at least 15/16 of `|x|`. The limit isn't at 0, where an `x₀` of zero could fall on either side on the way back.
///
/// # Errors
///
/// A column of zeros.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn reflector<T: Real>(mut x: ArrayViewMut1<T>) {
    let mut first = T::zero();
    target(&mut first, &x);
    for i in 1..x.len() {
        unscale_by(x[i], x[0] - first);
    }
    swap(x[0], first);
    let mut square = T::one();
    for i in 1..x.len() {
        square += x[i] * x[i];
    }
    release(first, x[0] - 2.0 * x[0] / square);
}

/// `y += β`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn target<T: Real>(y: &mut T, x: ArrayView1<T>) {
    let mut length = T::zero();
    norm(&mut length, &x);
    *y += if x[0] < -length / 16.0 { length } else { -length };
}

/// `B := H B`, where `v` is a reflector with anything in the place of its first element, which is 1.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn reflect<T: Real>(mut b: ArrayViewMut2<T>, v: ArrayView1<T>) {
    let mut square = T::one();
    for i in 1..v.len() {
        square += v[i] * v[i];
    }
    for j in par(0..b.ncols()) {
        let mut along = T::zero();
        along += b[[0, j]];
        for i in 1..v.len() {
            along += v[i] * b[[i, j]];
        }
        b[[0, j]] -= 2.0 * along / square;
        for i in 1..v.len() {
            b[[i, j]] -= 2.0 * along / square * v[i];
        }
        // now vᵀb is the negative of what it was
        along += b[[0, j]];
        for i in 1..v.len() {
            along += v[i] * b[[i, j]];
        }
        release(along);
    }
}

/// `A = Q R` in place, for a matrix with at least as many rows as columns: `R` in the upper triangle, and below it in column `k` the
/// vector `v` of the reflection `H_k`, without its first element 1. `Q = H_0 H_1 …`. The diagonal of `R` has the
/// signs that [`reflector()`] gives it.
///
/// # Errors
///
/// Columns that depend on those before them exactly, so that nothing but zeros is left of one.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn householder<T: Real>(mut a: ArrayViewMut2<T>) {
    for k in 0..a.ncols() {
        reflector(a.slice_mut(s![k.., k]));
        reflect(a.slice_mut(s![k.., k + 1..]), a.slice(s![k.., k]));
    }
}

/// `pivot +=` which column of `rest` is the longest, and `rank += 1`, where `rank` is `step` and the column is longer than `limit`.
/// Memory: a number and an index for each column.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn choose<T: Real>(pivot: &mut usize, rank: &mut usize, rest: ArrayView2<T>, step: usize, limit: T) {
    let mut squares: Array1<T> = zeros(rest.ncols());
    let mut at = 0usize;
    squares += contract("ij,ij->j", rest, rest);
    largest(&mut at, &squares);
    #[post(*rank > step)]
    if *rank == step && squares[at] > limit * limit {
        inc(rank);
        *pivot += at;
    }
}

/// `A P = Q R` in place, for a matrix of any shape and rank: `R` and the reflections as [`householder()`] leaves them in the first `rank`
/// columns, and `R`'s other columns beside it, above row `rank`; what is left below is at most `tolerance |R_00|` in each column.
/// `rank`, 0 before, is the number of reflections. `pivots`, zeros before, one for each row or column, of which there are less, says how far
/// behind column k the one stands that it is exchanged with. The diagonal of `R` descends, up to the margin of [the module](self).
///
/// Where a column's length is near the limit the rank is open, and so are derivatives: they are those of the same exchanges and rank.
/// `Qᵀ B` is [`transposed_times()`] with the first `rank` columns of the factors.
///
/// # Errors
///
/// A `rank` that isn't 0, too few pivots.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn pivoted<T: Real>(mut a: ArrayViewMut2<T>, pivots: &mut [usize], rank: &mut usize, tolerance: T) {
    for k in 0..min(a.nrows(), a.ncols()) {
        choose(
            &mut pivots[k],
            &mut rank,
            a.slice(s![k.., k..]),
            k,
            if k > 0 { tolerance * a[[0, 0]].abs() } else { T::zero() },
        );
        if *rank > k {
            for i in 0..a.nrows() {
                swap(a[[i, k]], a[[i, k + pivots[k]]]);
            }
            reflector(a.slice_mut(s![k.., k]));
            reflect(a.slice_mut(s![k.., k + 1..]), a.slice(s![k.., k]));
        }
    }
}

/// `B := Qᵀ B` for the factors that [`householder()`] leaves; its inverse is `B := Q B`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn transposed_times<T: Real>(mut b: ArrayViewMut2<T>, factors: ArrayView2<T>) {
    for k in 0..factors.ncols() {
        reflect(b.slice_mut(s![k.., ..]), factors.slice(s![k.., k]));
    }
}

/// `y += |x|`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn norm<T: Real>(y: &mut T, x: ArrayView1<T>) {
    let mut square = T::zero();
    for i in 0..x.len() {
        square += x[i] * x[i];
    }
    *y += square.sqrt();
}

/// `A = Q R` with orthonormal columns `Q` in the place of `A`, and `R` in `r`, zeros before, which has a row and a column for each
/// column of `A`. Its diagonal is positive.
///
/// # Errors
///
/// Columns that depend on those before them exactly.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn gram_schmidt<T: Real>(mut a: ArrayViewMut2<T>, mut r: ArrayViewMut2<T>) {
    for j in 0..a.ncols() {
        for k in 0..j {
            r[[k, j]] += dot(a.column(k), a.column(j));
            for i in 0..a.nrows() {
                a[[i, j]] -= r[[k, j]] * a[[i, k]];
            }
        }
        norm(&mut r[[j, j]], a.column(j));
        for i in 0..a.nrows() {
            unscale_by(a[[i, j]], r[[j, j]]);
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array2, ArrayView2};
    use num_traits::Float;

    /// `Q` and `R` by Gram and Schmidt.
    pub fn gram_schmidt<T: Float + 'static>(a: ArrayView2<T>) -> (Array2<T>, Array2<T>) {
        let (mut q, mut r) = (a.to_owned(), Array2::zeros((a.ncols(), a.ncols())));
        for j in 0..a.ncols() {
            for k in 0..j {
                r[[k, j]] = q.column(k).dot(&q.column(j));
                for i in 0..a.nrows() {
                    q[[i, j]] = q[[i, j]] - r[[k, j]] * q[[i, k]];
                }
            }
            let length = q.column(j).dot(&q.column(j)).sqrt();
            r[[j, j]] = length;
            q.column_mut(j).mapv_inplace(|x| x / length);
        }
        (q, r)
    }

    /// The factors by reflections.
    pub fn householder<T: Float>(a: ArrayView2<T>) -> Array2<T> {
        let mut a = a.to_owned();
        (0..a.ncols()).for_each(|k| reflect(&mut a, k));
        a
    }

    /// How long what is left of column `j` is after `k` reflections.
    fn length<T: Float>(a: &Array2<T>, k: usize, j: usize) -> T {
        (k..a.nrows()).fold(T::zero(), |sum, i| sum + a[[i, j]] * a[[i, j]]).sqrt()
    }

    /// Reflection `k`, which takes what is left of the column to its first element.
    fn reflect<T: Float>(a: &mut Array2<T>, k: usize) {
        let size = length(a, k, k);
        let limit = -size / T::from(16).unwrap_or_else(T::nan);
        let beta = if a[[k, k]] < limit { size } else { -size };
        let (scale, tau) = (a[[k, k]] - beta, T::one() - a[[k, k]] / beta);
        (k + 1..a.nrows()).for_each(|i| a[[i, k]] = a[[i, k]] / scale);
        a[[k, k]] = beta;
        for j in k + 1..a.ncols() {
            let along = (k + 1..a.nrows()).fold(a[[k, j]], |sum, i| sum + a[[i, k]] * a[[i, j]]);
            a[[k, j]] = a[[k, j]] - tau * along;
            (k + 1..a.nrows()).for_each(|i| a[[i, j]] = a[[i, j]] - tau * along * a[[i, k]]);
        }
    }

    /// The factors by reflections, the place that each column had before, and the rank.
    pub fn pivoted<T: Float>(a: ArrayView2<T>, tolerance: T) -> (Array2<T>, Vec<usize>, usize) {
        let (mut a, mut order) = (a.to_owned(), (0..a.ncols()).collect::<Vec<_>>());
        let mut limit = T::zero();
        for k in 0..a.nrows().min(a.ncols()) {
            let longer = |best, j| if length(&a, k, j) > length(&a, k, best) { j } else { best };
            let longest = (k..a.ncols()).fold(k, longer);
            let size = length(&a, k, longest);
            if size <= limit {
                return (a, order, k);
            }
            if k == 0 {
                limit = tolerance * size;
            }
            order.swap(k, longest);
            (0..a.nrows()).for_each(|i| a.swap([i, k], [i, longest]));
            reflect(&mut a, k);
        }
        let rank = a.nrows().min(a.ncols());
        (a, order, rank)
    }
}
