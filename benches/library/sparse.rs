//! Sparse matrices.

use ndarray::Array2;
use rev::prelude::*;
use rev_algebra::sparse;

use super::{matrix, numbers, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    inner_products(table)?;
    by_vectors(table)?;
    by_sparse_matrices(table)?;
    by_dense_matrices(table)
}

/// Starts, columns and values of a matrix by rows.
type Entries = (Vec<usize>, Vec<usize>, Vec<f64>);

/// A matrix of `n` rows and columns, `each` entries in every row.
fn entries(n: usize, each: usize, shift: impl Fn(usize) -> usize) -> Entries {
    let starts = (0..=n).map(|i| i * each).collect();
    let step = n / each;
    let columns = (0..n * each).map(|k| (k % each) * step + (k / each * 7 + k * shift(k)) % step).collect();
    (starts, columns, numbers(n * each, 0.3))
}

fn wrong(e: sparse::StructureError) -> Failure {
    Failure::Sizes(e.to_string())
}

fn structure(n: usize, m: &Entries) -> Result<sparse::Structure, Failure> {
    sparse::Structure::new(n, m.0.clone(), m.1.clone()).map_err(wrong)
}

fn inner_products(table: &mut Table) -> Result<(), Failure> {
    let n = 10_000;
    let (first, second) = (entries(n, 10, |_| 1), entries(n, 10, |_| 3));
    let (p, q) = ((&*first.0, &*first.1, &*first.2), (&*second.0, &*second.1, &*second.2));
    table.add(
        "Frobenius product of sparse matrices, 10⁵ entries each",
        || sparse::plain::dot(p, q),
        |d| {
            let mut y = 0.0;
            sparse::dot::run(d, &mut y, p.0, p.1, p.2, q.0, q.1, q.2).map(|()| y)
        },
        Some(|d: &Cpu| sparse::dot::gradient(d, p.0, p.1, p.2, q.0, q.1, q.2)),
    )?;
    let (small, other) = (entries(1000, 50, |_| 1), entries(1000, 50, |_| 3));
    let (s, o) = ((&*small.0, &*small.1, &*small.2), (&*other.0, &*other.1, &*other.2));
    table.add(
        "Frobenius product of 1000 by 1000, a twentieth of them entries",
        || sparse::plain::dot(s, o),
        |d| {
            let mut y = 0.0;
            sparse::dot::run(d, &mut y, s.0, s.1, s.2, o.0, o.1, o.2).map(|()| y)
        },
        Some(|d: &Cpu| sparse::dot::gradient(d, s.0, s.1, s.2, o.0, o.1, o.2)),
    )?;
    // every second entry of a row is in the same place
    let half = entries(n, 10, |k| if k % 2 == 0 { 1 } else { 3 });
    let common = structure(n, &first)?.intersection(&structure(n, &half)?).map_err(wrong)?;
    let (in_p, in_h, h) = (&*common.first, &*common.second, (&*half.0, &*half.1, &*half.2));
    table.add(
        "Frobenius product, half of the entries common",
        || sparse::plain::dot(p, h),
        |d| {
            let mut y = 0.0;
            sparse::dot::run(d, &mut y, p.0, p.1, p.2, h.0, h.1, h.2).map(|()| y)
        },
        Some(|d: &Cpu| sparse::dot::gradient(d, p.0, p.1, p.2, h.0, h.1, h.2)),
    )?;
    table.add(
        "Frobenius product, by the list of common entries",
        || sparse::plain::dot(p, h),
        |d| {
            let mut y = 0.0;
            sparse::dot_at::run(d, &mut y, p.2, in_p, h.2, in_h).map(|()| y)
        },
        Some(|d: &Cpu| sparse::dot_at::gradient(d, p.2, in_p, h.2, in_h)),
    )
}

fn by_vectors(table: &mut Table) -> Result<(), Failure> {
    let n = 10_000;
    let first = entries(n, 10, |_| 1);
    let p = (&*first.0, &*first.1, &*first.2);
    let (x, zeros) = (numbers(n, 0.7), vec![0.0; n]);
    table.add(
        "sparse matrix times vector, 10⁵ entries",
        || {
            let mut y = zeros.clone();
            sparse::plain::matvec(&mut y, p.0, p.1, p.2, &x);
            y
        },
        |d| {
            let mut y = zeros.clone();
            sparse::matvec::run(d, &mut y, p.0, p.1, p.2, &x).map(|()| y)
        },
        Some(|d: &Cpu| sparse::matvec::vjp(d, &x, &zeros, p.0, p.1, p.2, &x)),
    )?;
    table.add(
        "transposed sparse matrix times vector, 10⁵ entries",
        || {
            let mut y = zeros.clone();
            sparse::plain::transposed_matvec(&mut y, p.0, p.1, p.2, &x);
            y
        },
        |d| {
            let mut y = zeros.clone();
            sparse::transposed_matvec::run(d, &mut y, p.0, p.1, p.2, &x).map(|()| y)
        },
        Some(|d: &Cpu| sparse::transposed_matvec::vjp(d, &x, &zeros, p.0, p.1, p.2, &x)),
    )
}

fn by_sparse_matrices(table: &mut Table) -> Result<(), Failure> {
    let n = 10_000;
    let (first, second) = (entries(n, 10, |_| 1), entries(n, 10, |_| 3));
    let (p, q) = ((&*first.0, &*first.1, &*first.2), (&*second.0, &*second.1, &*second.2));
    let products = structure(n, &first)?.product(&structure(n, &second)?).map_err(wrong)?;
    let (own, firsts, places) = (&products.structure, &products.firsts, &products.places);
    let zeros_of_product = vec![0.0; own.entries()];
    table.add(
        "sparse matrix times sparse matrix, 10⁵ entries each",
        || {
            let mut c = zeros_of_product.clone();
            sparse::plain::multiply((own.starts(), own.columns(), &mut c), p, q);
            c
        },
        |d| {
            let mut c = zeros_of_product.clone();
            sparse::multiply::run(d, &mut c, firsts, places, p.0, p.1, p.2, q.0, q.2).map(|()| c)
        },
        Some(|d: &Cpu| {
            let zeros = &zeros_of_product;
            sparse::multiply::vjp(d, zeros, zeros, firsts, places, p.0, p.1, p.2, q.0, q.2)
        }),
    )
}

fn by_dense_matrices(table: &mut Table) -> Result<(), Failure> {
    let n = 10_000;
    let first = entries(n, 10, |_| 1);
    let p = (&*first.0, &*first.1, &*first.2);
    let (b, zeros) = (matrix((n, 10), 0.7), Array2::zeros((n, 10)));
    table.add(
        "sparse matrix, 10⁵ entries, times 10 columns",
        || {
            let mut c = zeros.clone();
            sparse::plain::product(c.view_mut(), 1.0, p.0, p.1, p.2, b.view());
            c
        },
        |d| {
            let mut c = zeros.clone();
            sparse::product::run(d, c.view_mut(), 1.0, p.0, p.1, p.2, b.view()).map(|()| c)
        },
        Some(|d: &Cpu| sparse::product::vjp(d, b.view(), zeros.view(), 1.0, p.0, p.1, p.2, b.view())),
    )?;
    table.add(
        "transposed sparse matrix, 10⁵ entries, times 10 columns",
        || {
            let mut c = zeros.clone();
            sparse::plain::transposed_product(c.view_mut(), 1.0, p.0, p.1, p.2, b.view());
            c
        },
        |d| {
            let mut c = zeros.clone();
            sparse::transposed_product::run(d, c.view_mut(), 1.0, p.0, p.1, p.2, b.view()).map(|()| c)
        },
        Some(|d: &Cpu| {
            sparse::transposed_product::vjp(d, b.view(), zeros.view(), 1.0, p.0, p.1, p.2, b.view())
        }),
    )?;
    let complex = |v: &f64| Complex::new(*v, 1.0 - v);
    let values: Vec<_> = p.2.iter().map(complex).collect();
    let b = b.map(complex);
    let (one, zeros) = (Complex::new(1.0, 0.0), Array2::from_elem((n, 10), Complex::new(0.0, 0.0)));
    table.add(
        "complex sparse matrix, 10⁵ entries, times 10 columns",
        || {
            let mut c = zeros.clone();
            sparse::plain::product(c.view_mut(), one, p.0, p.1, &values, b.view());
            c
        },
        |d| {
            let mut c = zeros.clone();
            sparse::product::run(d, c.view_mut(), one, p.0, p.1, &values, b.view()).map(|()| c)
        },
        Some(|d: &Cpu| sparse::product::vjp(d, b.view(), zeros.view(), one, p.0, p.1, &values, b.view())),
    )
}
