//! `A = Q R` in place, by Householder's reflections and by the orthogonalization of Gram and Schmidt.
//!
//! A reflection `H = 1 - τ v vᵀ`, `τ = 2 / vᵀv`, that takes a column `x` to `β e₁` has `v = (1, x₁/(x₀ - β), …)`, which stands in the place
//! of the column below `β`. What is lost comes back from them: `x₀ = β (1 - τ)`. And `H` is its own inverse, `vᵀ H x = -vᵀ x`, so applying
//! it takes no memory either: [`householder()`] keeps nothing.
//!
//! Gram and Schmidt, each column as soon as the one before is done: `r_kj = q_k · a_j`, `a_j := a_j - r_kj q_k`, `r_jj = |a_j|`,
//! `q_j := a_j / r_jj`. `R` is an argument of its own.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `x := (β, v₁, v₂, …)`, where `β` is `-|x|`, or `|x|` for an `x₀` below `-|x|/16`, and `v_i = x_i / (x₀ - β)`.
///
/// So `x₀ - β` is at least 15/16 of `|x|`. The limit isn't at 0, where an `x₀` of zero could fall on either side on the way back.
///
/// # Errors
///
/// A column of zeros.
#[reversible]
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
#[reversible]
pub fn target<T: Real>(y: &mut T, x: ArrayView1<T>) {
    let mut length = T::zero();
    norm(&mut length, &x);
    *y += if x[0] < -length / 16.0 { length } else { -length };
}

/// `B := H B`, where `v` is a reflector with anything in the place of its first element, which is 1.
#[reversible]
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
#[reversible]
pub fn householder<T: Real>(mut a: ArrayViewMut2<T>) {
    for k in 0..a.ncols() {
        reflector(a.slice_mut(s![k.., k]));
        reflect(a.slice_mut(s![k.., k + 1..]), a.slice(s![k.., k]));
    }
}

/// `B := Qᵀ B` for the factors that [`householder()`] leaves; its inverse is `B := Q B`.
#[reversible]
pub fn transposed_times<T: Real>(mut b: ArrayViewMut2<T>, factors: ArrayView2<T>) {
    for k in 0..factors.ncols() {
        reflect(b.slice_mut(s![k.., ..]), factors.slice(s![k.., k]));
    }
}

/// `y += |x|`.
#[reversible]
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
#[reversible]
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
}
