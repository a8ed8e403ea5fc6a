//! Sparse matrices, compressed by rows.
//!
//! Row `i` of a matrix has the entries `starts[i]..starts[i + 1]`; entry `k` stands in column `columns[k]` and has the value `values[k]`.
//! The columns of a row ascend. A matrix that is compressed by columns is its transposed one compressed by rows, so
//! [`transposed_matvec()`] is its product with a vector, and [`matvec()`] that of its transposed matrix. Other libraries call the two index
//! arrays `indptr` and `indices`.
//!
//! The index arrays belong to the caller. [`Structure`] checks them once; the programs take slices and check each index as they use it.
//! A gradient by `values` has one number for each entry, so it has the structure of the matrix.
//!
//! The inner product is the program of J.-G. Liu and T. Zhao, *Differentiate Everything with a Reversible Embedded Domain-Specific
//! Language* (2020), without the memory that it takes there for which list was ahead. [`dot_at()`] takes the pairs of entries that
//! [`Structure::intersection()`] has found before.

mod convert;
pub mod plain;
mod structure;

use ndarray::{ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

pub use structure::{Intersection, Matrix, Products, Structure, StructureError};

/// `y += A x`. `A` has `y.len()` rows and `x.len()` columns. Each row has an iteration of its own.
///
/// # Errors
///
/// Indices that are out of range.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn matvec<T: Field>(y: &mut [T], starts: &[usize], columns: &[usize], values: &[T], x: &[T]) {
    for i in par(0..y.len()) {
        for k in starts[i]..starts[i + 1] {
            y[i] += values[k] * x[columns[k]];
        }
    }
}

/// `y += Aᵀ x`. `A` has `x.len()` rows and `y.len()` columns. Each row has an iteration of its own, and all add to `y`.
///
/// # Errors
///
/// Indices that are out of range.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn transposed_matvec<T: Field>(y: &mut [T], starts: &[usize], columns: &[usize], values: &[T], x: &[T]) {
    for i in par(0..x.len()) {
        for k in starts[i]..starts[i + 1] {
            y[columns[k]] += values[k] * x[i];
        }
    }
}

/// `C += α A B` for dense matrices `B` and `C`: `A` has as many rows as `C` and as many columns as `B` has rows. Each row of `C` has an
/// iteration of its own.
///
/// # Errors
///
/// Indices that are out of range.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn product<T: Field>(
    mut c: ArrayViewMut2<T>,
    alpha: T,
    starts: &[usize],
    columns: &[usize],
    values: &[T],
    b: ArrayView2<T>,
) {
    for i in par(0..c.nrows()) {
        for k in starts[i]..starts[i + 1] {
            let factor = alpha * values[k];
            for j in 0..c.ncols() {
                c[[i, j]] += factor * b[[columns[k], j]];
            }
        }
    }
}

/// `C += α Aᵀ B` for dense matrices `B` and `C`: `A` has as many rows as `B` and as many columns as `C` has rows. Each row of `A` has an
/// iteration of its own, and all add to `C`.
///
/// # Errors
///
/// Indices that are out of range.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn transposed_product<T: Field>(
    mut c: ArrayViewMut2<T>,
    alpha: T,
    starts: &[usize],
    columns: &[usize],
    values: &[T],
    b: ArrayView2<T>,
) {
    for i in par(0..b.nrows()) {
        for k in starts[i]..starts[i + 1] {
            let factor = alpha * values[k];
            for j in 0..c.ncols() {
                c[[columns[k], j]] += factor * b[[i, j]];
            }
        }
    }
}

/// `C += A B` for three sparse matrices, of which that of `C` has the structure that [`Structure::product()`] gives: entry `places[p]` is where
/// product `p` goes, and those of row `i` begin at `firsts[i]`. Each row has an iteration of its own.
///
/// # Errors
///
/// Indices that are out of range; places of other structures, where a row has another number of products.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn multiply<T: Field>(
    c_values: &mut [T],
    firsts: &[usize],
    places: &[usize],
    a_starts: &[usize],
    a_columns: &[usize],
    a_values: &[T],
    b_starts: &[usize],
    b_values: &[T],
) {
    for i in par(0..firsts.len() - 1) {
        let mut at = firsts[i];
        for k in a_starts[i]..a_starts[i + 1] {
            for l in b_starts[a_columns[k]]..b_starts[a_columns[k] + 1] {
                c_values[places[at]] += a_values[k] * b_values[l];
                inc(at);
            }
        }
        release(at, firsts[i + 1]);
    }
}

/// `y += Σ conj(a_ij) b_ij`, the Frobenius inner product of two matrices with the same number of rows and structures of their own.
///
/// The columns of a row are merged, one entry at a time, and of equal columns that of `A` first. So the entry that was taken last is the
/// one of the larger column, or at equal columns that of `B`: this is what the way back asks, and nothing is kept.
///
/// # Errors
///
/// Indices that are out of range; columns that don't ascend, where they mislead the way back.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn dot<T: Field>(
    y: &mut T,
    a_starts: &[usize],
    a_columns: &[usize],
    a_values: &[T],
    b_starts: &[usize],
    b_columns: &[usize],
    b_values: &[T],
) {
    for i in par(0..a_starts.len() - 1) {
        let mut a = a_starts[i];
        let mut b = b_starts[i];
        #[post(a + b > a_starts[i] + b_starts[i])]
        while a < a_starts[i + 1] && b < b_starts[i + 1] {
            if a_columns[a] == b_columns[b] {
                *y += conj(a_values[a]) * b_values[b];
            }
            #[post(a > a_starts[i] && (b == b_starts[i] || a_columns[a - 1] > b_columns[b - 1]))]
            if a_columns[a] <= b_columns[b] {
                inc(a);
            } else {
                inc(b);
            }
        }
    }
}

/// `y += Σ conj(a_ij) b_ij` over the entries `first` of `A` and `second` of `B`, which [`Structure::intersection()`] finds: where structures stay
/// and values change, they are merged once, and each pair has an iteration of its own.
///
/// # Errors
///
/// Indices that are out of range; fewer of them in `second` than in `first`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn dot_at<T: Field>(y: &mut T, a_values: &[T], first: &[usize], b_values: &[T], second: &[usize]) {
    for k in par(0..first.len()) {
        *y += conj(a_values[first[k]]) * b_values[second[k]];
    }
}
