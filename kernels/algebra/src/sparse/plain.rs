//! The same as plain Rust.

use ndarray::{ArrayView2, ArrayViewMut2};
use num_traits::{Num, NumAssign};

/// `y += A x`.
pub fn matvec<T: NumAssign + Copy>(y: &mut [T], starts: &[usize], columns: &[usize], values: &[T], x: &[T]) {
    for (y, ends) in y.iter_mut().zip(starts.windows(2)) {
        for k in ends[0]..ends[1] {
            *y += values[k] * x[columns[k]];
        }
    }
}

/// `y += Aᵀ x`.
pub fn transposed_matvec<T: NumAssign + Copy>(
    y: &mut [T],
    starts: &[usize],
    columns: &[usize],
    values: &[T],
    x: &[T],
) {
    for (&x, ends) in x.iter().zip(starts.windows(2)) {
        for k in ends[0]..ends[1] {
            y[columns[k]] += values[k] * x;
        }
    }
}

/// `C += α A B`.
pub fn product<T: NumAssign + Copy>(
    mut c: ArrayViewMut2<T>,
    alpha: T,
    starts: &[usize],
    columns: &[usize],
    values: &[T],
    b: ArrayView2<T>,
) {
    for (mut c, ends) in c.rows_mut().into_iter().zip(starts.windows(2)) {
        for k in ends[0]..ends[1] {
            c.zip_mut_with(&b.row(columns[k]), |c, &b| *c += alpha * values[k] * b);
        }
    }
}

/// `C += α Aᵀ B`.
pub fn transposed_product<T: NumAssign + Copy>(
    mut c: ArrayViewMut2<T>,
    alpha: T,
    starts: &[usize],
    columns: &[usize],
    values: &[T],
    b: ArrayView2<T>,
) {
    for (b, ends) in b.rows().into_iter().zip(starts.windows(2)) {
        for k in ends[0]..ends[1] {
            c.row_mut(columns[k]).zip_mut_with(&b, |c, &b| *c += alpha * values[k] * b);
        }
    }
}

/// The values of `C += A B`, where `C` has the structure of its starts and columns.
pub fn multiply<T: NumAssign + Copy>(
    c: (&[usize], &[usize], &mut [T]),
    a: (&[usize], &[usize], &[T]),
    b: (&[usize], &[usize], &[T]),
) {
    for (ends, own) in a.0.windows(2).zip(c.0.windows(2)) {
        for k in ends[0]..ends[1] {
            for l in b.0[a.1[k]]..b.0[a.1[k] + 1] {
                if let Ok(at) = c.1[own[0]..own[1]].binary_search(&b.1[l]) {
                    c.2[own[0] + at] += a.2[k] * b.2[l];
                }
            }
        }
    }
}

/// `Σ a_ij b_ij` of two rows, given by their columns and values.
fn dot_of_rows<T: Num + Copy>(a: (&[usize], &[T]), b: (&[usize], &[T])) -> T {
    let at = |column| b.0.binary_search(column).map_or(T::zero(), |k| b.1[k]);
    a.0.iter().zip(a.1).fold(T::zero(), |sum, (column, &value)| sum + value * at(column))
}

/// `Σ a_ij b_ij`, each matrix as starts, columns and values: the inner product of real matrices.
pub fn dot<T: Num + Copy>(a: (&[usize], &[usize], &[T]), b: (&[usize], &[usize], &[T])) -> T {
    a.0.windows(2).zip(b.0.windows(2)).fold(T::zero(), |sum, (p, q)| {
        let (p, q) = (p[0]..p[1], q[0]..q[1]);
        sum + dot_of_rows((&a.1[p.clone()], &a.2[p]), (&b.1[q.clone()], &b.2[q]))
    })
}
