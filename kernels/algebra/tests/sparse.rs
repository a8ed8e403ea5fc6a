//! Sparse matrices against plain loops and other crates; structures that aren't.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod support;

use ndarray::Array2;
use num_complex::Complex;
use num_traits::Num;
use rev_algebra::sparse::{self, plain, Matrix, Structure, StructureError};
use rev_cpu::prelude::*;
use support::hessian;

/// A matrix of which about one place in three is an entry, with rows that are empty.
fn random(rows: usize, width: usize, seed: f64) -> Matrix<f64> {
    let number = |i: usize, j: usize| (seed + 12.9898 * i as f64 + 78.233 * j as f64).sin();
    let (mut starts, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..rows {
        for j in (0..width).filter(|j| i % 7 != 3 && number(i, *j) > 0.5) {
            columns.push(j);
            values.push(number(j + 100, i));
        }
        starts.push(columns.len());
    }
    Matrix::new(Structure::new(width, starts, columns).unwrap(), values).unwrap()
}

fn parts<T>(m: &Matrix<T>) -> (&[usize], &[usize], &[T]) {
    (m.structure().starts(), m.structure().columns(), m.values())
}

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (seed + 1.7 * i as f64).cos()).collect()
}

fn close(got: &[f64], expected: &[f64]) {
    approx::assert_abs_diff_eq!(got, expected, epsilon = 1e-13);
}

#[test]
fn vectors_there_and_back() {
    for (rows, width) in [(1, 1), (5, 8), (40, 33)] {
        let m = random(rows, width, 0.3);
        let (starts, columns, values) = parts(&m);
        let (x, u, mut y, mut z) =
            (numbers(width, 0.1), numbers(rows, 0.2), numbers(rows, 0.5), numbers(width, 0.7));
        let (mut y_plain, mut z_plain) = (y.clone(), z.clone());
        sparse::matvec(&mut y, starts, columns, values, &x).unwrap();
        plain::matvec(&mut y_plain, starts, columns, values, &x);
        close(&y, &y_plain);
        sparse::matvec::inverse(&mut y, starts, columns, values, &x).unwrap();
        close(&y, &numbers(rows, 0.5));
        sparse::transposed_matvec(&mut z, starts, columns, values, &u).unwrap();
        plain::transposed_matvec(&mut z_plain, starts, columns, values, &u);
        close(&z, &z_plain);
        // the transposed matrix compressed by rows
        let t = m.transposed();
        let (starts, columns, values) = parts(&t);
        sparse::matvec::inverse(&mut z, starts, columns, values, &u).unwrap();
        close(&z, &numbers(width, 0.7));
    }
}

#[test]
fn gradients_have_the_structure() {
    let m = random(6, 5, 0.3);
    let (starts, columns, values) = parts(&m);
    let (x, u, cpu) = (numbers(5, 0.1), numbers(6, 0.2), Cpu::with_threads(2));
    let g = sparse::matvec::vjp(&cpu, &u, &[0.0; 6], starts, columns, values, &x).unwrap();
    for (i, ends) in starts.windows(2).enumerate() {
        (ends[0]..ends[1]).for_each(|k| assert_eq!(g.values_bar[k], u[i] * x[columns[k]]));
    }
    let mut x_bar = vec![0.0; 5];
    plain::transposed_matvec(&mut x_bar, starts, columns, values, &u);
    close(&g.x_bar, &x_bar);
    let report = sparse::matvec::check_gradient(&cpu, &u, starts, columns, values, &x).unwrap();
    assert!(report.passed(), "{report}");
    let report = sparse::transposed_matvec::check_gradient(&cpu, &x, starts, columns, values, &u).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn dense_matrices() {
    let (m, cpu) = (random(7, 5, 0.9), Cpu::new());
    let (starts, columns, values) = parts(&m);
    let matrix = |n, k, seed| Array2::from_shape_vec((n, k), numbers(n * k, seed)).unwrap();
    let (b, start) = (matrix(5, 3, 0.2), matrix(7, 3, 0.4));
    let (mut c, mut expected) = (start.clone(), start.clone());
    sparse::product(c.view_mut(), 0.5, starts, columns, values, b.view()).unwrap();
    plain::product(expected.view_mut(), 0.5, starts, columns, values, b.view());
    close(c.as_slice().unwrap(), expected.as_slice().unwrap());
    sparse::product::inverse(c.view_mut(), 0.5, starts, columns, values, b.view()).unwrap();
    close(c.as_slice().unwrap(), start.as_slice().unwrap());
    let report =
        sparse::product::check_gradient(&cpu, c.view(), 0.5, starts, columns, values, b.view()).unwrap();
    assert!(report.passed(), "{report}");

    let (u, t) = (matrix(7, 3, 0.6), m.transposed());
    let (mut c, mut expected) = (Array2::zeros((5, 3)), Array2::zeros((5, 3)));
    sparse::transposed_product(c.view_mut(), -1.5, starts, columns, values, u.view()).unwrap();
    let by_columns = parts(&t);
    plain::product(expected.view_mut(), -1.5, by_columns.0, by_columns.1, by_columns.2, u.view());
    close(c.as_slice().unwrap(), expected.as_slice().unwrap());
    let mut by_rows = Array2::zeros((5, 3));
    plain::transposed_product(by_rows.view_mut(), -1.5, starts, columns, values, u.view());
    close(c.as_slice().unwrap(), by_rows.as_slice().unwrap());
    let report =
        sparse::transposed_product::check_gradient(&cpu, b.view(), 0.5, starts, columns, values, u.view())
            .unwrap();
    assert!(report.passed(), "{report}");
}

fn dense<T: Num + Copy>(m: &Matrix<T>) -> Array2<T> {
    let (s, mut dense) = (m.structure(), Array2::zeros((m.structure().rows(), m.structure().width())));
    for (i, ends) in s.starts().windows(2).enumerate() {
        (ends[0]..ends[1]).for_each(|k| dense[[i, s.columns()[k]]] = m.values()[k]);
    }
    dense
}

#[test]
fn products_of_sparse_matrices() {
    for (rows, inner, width) in [(1, 1, 1), (6, 5, 7), (20, 30, 25)] {
        let (a, b) = (random(rows, inner, 0.3), random(inner, width, 0.8));
        let products = a.structure().product(b.structure()).unwrap();
        let (p, q, firsts, places) = (parts(&a), parts(&b), &products.firsts, &products.places);
        let start = numbers(products.structure.entries(), 0.5);
        let mut c = vec![0.0; start.len()];
        sparse::multiply(&mut c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        let mut by_plain = vec![0.0; start.len()];
        let (starts, columns) = (products.structure.starts(), products.structure.columns());
        plain::multiply((starts, columns, &mut by_plain), p, q);
        close(&c, &by_plain);
        let product = Matrix::new(products.structure.clone(), c.clone()).unwrap();
        let expected = dense(&a).dot(&dense(&b));
        close(dense(&product).as_slice().unwrap(), expected.as_slice().unwrap());
        sparse::multiply::inverse(&mut c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        close(&c, &vec![0.0; start.len()]);
        let cpu = Cpu::with_threads(2);
        // with a seed for each entry of C: Ā = C̄ Bᵀ and B̄ = Aᵀ C̄, where A and B have entries
        let g = sparse::multiply::vjp(&cpu, &start, &c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        let seed = dense(&Matrix::new(products.structure.clone(), start).unwrap());
        let (by_a, by_b) = (seed.dot(&dense(&b).t()), dense(&a).t().dot(&seed));
        for (m, found, expected) in [(&a, &g.a_values_bar, by_a), (&b, &g.b_values_bar, by_b)] {
            let gradient = Matrix::new(m.structure().clone(), found.clone()).unwrap();
            let there = dense(&Matrix::new(m.structure().clone(), vec![1.0; found.len()]).unwrap());
            close(dense(&gradient).as_slice().unwrap(), (expected * there).as_slice().unwrap());
        }
    }
    // the structures of the list that every device runs
    let a = Structure::new(4, vec![0, 2, 2, 5], vec![0, 3, 0, 1, 2]).unwrap();
    let b = Structure::new(3, vec![0, 1, 2, 3, 5], vec![2, 1, 2, 0, 2]).unwrap();
    let products = a.product(&b).unwrap();
    assert_eq!((products.firsts, products.places), (vec![0, 3, 3, 6], vec![1, 0, 1, 3, 2, 3]));
    assert_eq!(
        (products.structure.starts(), products.structure.columns()),
        (&[0, 2, 2, 4][..], &[0, 2, 1, 2][..])
    );
    let wrong = b.product(&a.transposed().0).unwrap_err();
    assert_eq!(wrong.to_string(), "a matrix with 3 columns can't be multiplied by one with 4 rows");
    // places of another product
    let error =
        sparse::multiply(&mut [0.0], &[0, 2], &[0, 0], &[0, 1], &[0], &[1.0], &[0, 1], &[1.0]).unwrap_err();
    assert!(error.to_string().contains("release(at, firsts[i + 1])"), "{error}");
}

#[test]
fn inner_products() {
    let cpu = Cpu::new();
    for (rows, width, seed) in [(1, 1, 1.0), (6, 9, 0.3), (25, 14, 2.0), (14, 40, 0.0)] {
        let (a, b) = (random(rows, width, seed), random(rows, width, seed + 1.0));
        let (p, q) = (parts(&a), parts(&b));
        let mut y = 0.25;
        sparse::dot(&mut y, p.0, p.1, p.2, q.0, q.1, q.2).unwrap();
        close(&[y], &[0.25 + plain::dot(p, q)]);
        sparse::dot::inverse(&mut y, p.0, p.1, p.2, q.0, q.1, q.2).unwrap();
        close(&[y], &[0.25]);
        let report = sparse::dot::check_gradient(&cpu, &0.5, p.0, p.1, p.2, q.0, q.1, q.2).unwrap();
        assert!(report.passed(), "{report}");
        let interpreter = rev_core::interp::Interpreter::new();
        let g = sparse::dot::gradient(&cpu, p.0, p.1, p.2, q.0, q.1, q.2).unwrap();
        let h = sparse::dot::gradient(&interpreter, p.0, p.1, p.2, q.0, q.1, q.2).unwrap();
        close(&g.a_values, &h.a_values);
        close(&[g.value], &[plain::dot(p, q)]);
        let common = a.structure().intersection(b.structure()).unwrap();
        let at = sparse::dot_at::gradient(&cpu, p.2, &common.first, q.2, &common.second).unwrap();
        close(&[at.value], &[g.value]);
        close(&at.a_values, &g.a_values);
        close(&at.b_values, &g.b_values);
    }
}

/// The inner product is linear in each matrix: second derivatives are 1 where two entries have the same place, and 0 elsewhere.
#[test]
fn second_derivatives_of_inner_products() {
    let (a, b) = (random(6, 9, 0.3), random(6, 9, 1.3));
    let (p, q, common) = (parts(&a), parts(&b), a.structure().intersection(b.structure()).unwrap());
    let (m, n) = (p.2.len(), q.2.len());
    assert!(!common.first.is_empty() && common.first.len() < m.min(n));
    let mut expected = vec![vec![0.0; m + n]; m + n];
    for (i, j) in common.first.iter().zip(&common.second) {
        (expected[*i][m + j], expected[m + j][*i]) = (1.0, 1.0);
    }
    assert_eq!(hessian!(sparse::dot, p.0, p.1, p.2, q.0, q.1, q.2), expected);
    assert_eq!(hessian!(sparse::dot_at, p.2, &common.first, q.2, &common.second), expected);
}

#[test]
fn common_entries() {
    // those of the list that every device runs
    let a = Structure::new(4, vec![0, 2, 2, 5], vec![0, 3, 0, 1, 2]).unwrap();
    let b = Structure::new(4, vec![0, 1, 2, 5], vec![3, 1, 0, 2, 3]).unwrap();
    let common = a.intersection(&b).unwrap();
    assert_eq!((common.first, common.second), (vec![1, 2, 4], vec![0, 2, 3]));
    let all: Vec<usize> = (0..a.entries()).collect();
    let own = a.intersection(&a).unwrap();
    assert_eq!((&own.first, &own.second), (&all, &all));
    let none = a.intersection(&Structure::new(4, vec![0; 4], vec![]).unwrap()).unwrap();
    assert_eq!(none, sparse::Intersection::default());
    let wrong = a.intersection(&a.transposed().0).unwrap_err();
    assert_eq!(wrong.to_string(), "a matrix of 3 x 4 has no inner product with one of 4 x 3");
    let error = sparse::dot_at(&mut 0.0, &[1.0], &[0, 1], &[1.0, 2.0], &[0, 1]).unwrap_err();
    assert!(error.to_string().contains("first[k]"), "{error}");
    let error = sparse::dot_at(&mut 0.0, &[1.0], &[0], &[1.0], &[]).unwrap_err();
    assert!(error.to_string().contains("second[k]"), "{error}");
}

#[test]
fn complex_matrices() {
    let a = random(5, 6, 0.3);
    let (starts, columns, values) = parts(&a);
    let values: Vec<_> = values.iter().map(|v| Complex::new(*v, 1.0 - v * v)).collect();
    let x: Vec<_> = (0..6).map(|i| Complex::new(i as f64, 0.5)).collect();
    let (mut y, mut expected) = (vec![Complex::new(0.0, 1.0); 5], vec![Complex::new(0.0, 1.0); 5]);
    sparse::matvec(&mut y, starts, columns, &values, &x).unwrap();
    plain::matvec(&mut expected, starts, columns, &values, &x);
    y.iter()
        .zip(&expected)
        .for_each(|(y, e)| approx::assert_abs_diff_eq!((y - e).norm(), 0.0, epsilon = 1e-14));
    // with itself: the square of the norm
    let mut square = Complex::new(0.0, 0.0);
    sparse::dot(&mut square, starts, columns, &values, starts, columns, &values).unwrap();
    close(&[square.re, square.im], &[values.iter().map(Complex::norm_sqr).sum(), 0.0]);
    let (cpu, start) = (Cpu::new(), Complex::new(0.5, 0.0));
    let report =
        sparse::dot::check_gradient(&cpu, &start, starts, columns, &values, starts, columns, &values)
            .unwrap();
    assert!(report.passed(), "{report}");
    let all: Vec<usize> = (0..values.len()).collect();
    let mut by_pairs = Complex::new(0.0, 0.0);
    sparse::dot_at(&mut by_pairs, &values, &all, &values, &all).unwrap();
    close(&[by_pairs.re, by_pairs.im], &[square.re, square.im]);
    let others: Vec<_> = values.iter().map(|v| v * Complex::new(0.5, 2.0)).collect();
    let report = sparse::dot_at::check_gradient(&cpu, &start, &values, &all, &others, &all).unwrap();
    assert!(report.passed(), "{report}");
    let report = sparse::matvec::check_gradient(&cpu, &y, starts, columns, &values, &x).unwrap();
    assert!(report.passed(), "{report}");
}

fn complex_matrix(rows: usize, columns: usize, seed: f64) -> Array2<Complex<f64>> {
    let parts = numbers(2 * rows * columns, seed);
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let at = 2 * (columns * i + j);
        Complex::new(parts[at], parts[at + 1])
    })
}

/// Complex values in the places of a matrix's entries.
fn complex(m: &Matrix<f64>) -> Matrix<Complex<f64>> {
    let values = m.values().iter().map(|v| Complex::new(*v, 1.0 - 3.0 * v * v)).collect();
    Matrix::new(m.structure().clone(), values).unwrap()
}

/// The numbers of a dense matrix where a sparse one has entries.
fn at_entries<T: Copy>(s: &Structure, all: &Array2<T>) -> Vec<T> {
    let row = |i: usize| s.columns()[s.starts()[i]..s.starts()[i + 1]].iter().map(move |j| all[[i, *j]]);
    (0..s.rows()).flat_map(row).collect()
}

fn adjoint(a: &Array2<Complex<f64>>) -> Array2<Complex<f64>> {
    a.t().mapv(|v| v.conj())
}

fn near<'a>(
    got: impl IntoIterator<Item = &'a Complex<f64>>,
    expected: impl IntoIterator<Item = &'a Complex<f64>>,
) {
    let (got, expected): (Vec<_>, Vec<_>) = (got.into_iter().collect(), expected.into_iter().collect());
    assert_eq!(got.len(), expected.len());
    got.iter()
        .zip(&expected)
        .for_each(|(g, e)| approx::assert_abs_diff_eq!((*g - *e).norm(), 0.0, epsilon = 1e-13));
}

/// Derivatives of `C = α A B` are `Ā = ᾱ C̄ Bᴴ`, `B̄ = ᾱ Aᴴ C̄`, with the conjugate of `α`, and that by `α` is `Σ conj(AB) C̄`.
#[test]
fn complex_and_dense_matrices() {
    let (m, alpha) = (complex(&random(7, 5, 0.9)), Complex::new(0.5, -1.5));
    let (a, (starts, columns, values)) = (dense(&m), parts(&m));
    let (narrow, wide) = (complex_matrix(5, 3, 0.2), complex_matrix(7, 3, 0.4));
    let product_of = |a: &Array2<_>, b: &Array2<_>| a.dot(b).mapv(|v| alpha * v);
    let by_alpha = |product: Array2<Complex<f64>>, seed: &Array2<Complex<f64>>| -> Complex<f64> {
        product.iter().zip(seed).map(|(p, s)| p.conj() * s).sum()
    };
    for device in [&Cpu::with_threads(2) as &dyn Device, &rev_core::interp::Interpreter::new()] {
        let (b, before, seed) = (&narrow, &wide, complex_matrix(7, 3, 0.6));
        let mut c = before.clone();
        sparse::product::run(device, c.view_mut(), alpha, starts, columns, values, b.view()).unwrap();
        near(&c, &(before + &product_of(&a, b)));
        sparse::product::run_inverse(device, c.view_mut(), alpha, starts, columns, values, b.view()).unwrap();
        near(&c, before);
        let g = sparse::product::vjp(device, seed.view(), c.view(), alpha, starts, columns, values, b.view())
            .unwrap();
        let values_bar = seed.dot(&adjoint(b)).mapv(|v| alpha.conj() * v);
        near(&g.values_bar, &at_entries(m.structure(), &values_bar));
        near(&g.b_bar, &adjoint(&a).dot(&seed).mapv(|v| alpha.conj() * v));
        near([&g.alpha_bar], [&by_alpha(a.dot(b), &seed)]);

        // `Aᵀ` isn't conjugated
        let (b, before, seed) = (&wide, &narrow, complex_matrix(5, 3, 0.7));
        let (t, mut c) = (a.t().to_owned(), before.clone());
        sparse::transposed_product::run(device, c.view_mut(), alpha, starts, columns, values, b.view())
            .unwrap();
        near(&c, &(before + &product_of(&t, b)));
        sparse::transposed_product::run_inverse(
            device,
            c.view_mut(),
            alpha,
            starts,
            columns,
            values,
            b.view(),
        )
        .unwrap();
        near(&c, before);
        let (seed_view, start) = (seed.view(), c.view());
        let g = sparse::transposed_product::vjp(
            device,
            seed_view,
            start,
            alpha,
            starts,
            columns,
            values,
            b.view(),
        )
        .unwrap();
        let values_bar = seed.dot(&adjoint(b)).t().mapv(|v| alpha.conj() * v);
        near(&g.values_bar, &at_entries(m.structure(), &values_bar));
        near(&g.b_bar, &adjoint(&t).dot(&seed).mapv(|v| alpha.conj() * v));
        near([&g.alpha_bar], [&by_alpha(t.dot(b), &seed)]);

        let (x, before, seed) = (wide.column(0).to_vec(), narrow.column(1).to_vec(), seed.column(2).to_vec());
        let mut y = before.clone();
        sparse::transposed_matvec::run(device, &mut y, starts, columns, values, &x).unwrap();
        near(&y, &(&narrow.column(1) + &t.dot(&wide.column(0))));
        sparse::transposed_matvec::run_inverse(device, &mut y, starts, columns, values, &x).unwrap();
        near(&y, &before);
        let g = sparse::transposed_matvec::vjp(device, &seed, &before, starts, columns, values, &x).unwrap();
        let values_bar = Array2::from_shape_fn((7, 5), |(i, j)| x[i].conj() * seed[j]);
        near(&g.values_bar, &at_entries(m.structure(), &values_bar));
        near(&g.x_bar, &adjoint(&t).dot(&ndarray::Array1::from(seed)));
    }
}

#[test]
fn complex_products_of_sparse_matrices() {
    let (a, b) = (complex(&random(6, 5, 0.3)), complex(&random(5, 7, 0.8)));
    let products = a.structure().product(b.structure()).unwrap();
    let (p, q, firsts, places) = (parts(&a), parts(&b), &products.firsts, &products.places);
    let of_product = |values| dense(&Matrix::new(products.structure.clone(), values).unwrap());
    let before = complex_matrix(1, products.structure.entries(), 0.5).into_raw_vec_and_offset().0;
    for device in [&Cpu::with_threads(2) as &dyn Device, &rev_core::interp::Interpreter::new()] {
        let mut c = before.clone();
        sparse::multiply::run(device, &mut c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        near(&of_product(c.clone()), &(of_product(before.clone()) + dense(&a).dot(&dense(&b))));
        sparse::multiply::run_inverse(device, &mut c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        near(&c, &before);
        let g = sparse::multiply::vjp(device, &before, &c, firsts, places, p.0, p.1, p.2, q.0, q.2).unwrap();
        let seed = of_product(before.clone());
        near(&g.a_values_bar, &at_entries(a.structure(), &seed.dot(&adjoint(&dense(&b)))));
        near(&g.b_values_bar, &at_entries(b.structure(), &adjoint(&dense(&a)).dot(&seed)));
    }
}

#[test]
fn what_isnt_a_structure() {
    let error = |width, starts: &[usize], columns: &[usize]| {
        Structure::new(width, starts.to_vec(), columns.to_vec()).unwrap_err()
    };
    assert_eq!(error(3, &[], &[]), StructureError::NoStarts);
    assert_eq!(error(3, &[1, 2], &[0, 1]), StructureError::FirstStart { start: 1 });
    assert_eq!(error(3, &[0, 2, 1], &[0]), StructureError::Descending { row: 1, start: 2, end: 1 });
    let length = StructureError::Length { counted: 2, given: 1, what: "columns" };
    assert_eq!(error(3, &[0, 2], &[0]), length);
    assert_eq!(length.to_string(), "the rows have 2 entries together, and there are 1 columns");
    let wrong = error(3, &[0, 1, 3], &[0, 1, 3]);
    assert_eq!(wrong.to_string(), "columns[2] in row 1 is 3, and the matrix has 3 columns");
    let wrong = error(3, &[0, 0, 2], &[1, 1]);
    assert_eq!(wrong, StructureError::NotAscending { row: 1, entry: 1, column: 1, before: 1 });
    let structure = Structure::new(3, vec![0, 2], vec![0, 2]).unwrap();
    assert!(Matrix::new(structure, vec![1.0]).is_err());
    // a program looks at each index that it uses
    let error = sparse::matvec(&mut [0.0], &[0, 1], &[5], &[1.0], &[1.0]).unwrap_err().to_string();
    assert!(error.contains("x[columns[k]]"), "{error}");
}

#[cfg(feature = "sprs")]
#[test]
fn sprs_and_back() {
    let m = random(9, 6, 0.3);
    let there = sprs::CsMat::from(&m);
    assert_eq!(Matrix::try_from(&there), Ok(m.clone()));
    assert_eq!(Matrix::try_from(&there.to_csc()), Ok(m.clone()));
    let (x, mut y) = (numbers(6, 0.1), vec![0.0; 9]);
    let (starts, columns, values) = parts(&m);
    sparse::matvec(&mut y, starts, columns, values, &x).unwrap();
    let mut expected = vec![0.0; 9];
    sprs::prod::mul_acc_mat_vec_csr(there.view(), &x, &mut expected);
    close(&y, &expected);
}

#[cfg(feature = "nalgebra-sparse")]
#[test]
fn nalgebra_and_back() {
    use nalgebra_sparse::{CscMatrix, CsrMatrix};
    let m = random(9, 6, 0.3);
    let there = CsrMatrix::try_from(&m).unwrap();
    assert_eq!(Matrix::try_from(&there), Ok(m.clone()));
    let columns = CscMatrix::try_from(&m).unwrap();
    assert_eq!(columns, CscMatrix::from(&there));
    assert_eq!(Matrix::try_from(&columns), Ok(m.clone()));
    let (x, mut y) = (numbers(6, 0.1), vec![0.0; 9]);
    let (starts, columns, values) = parts(&m);
    sparse::matvec(&mut y, starts, columns, values, &x).unwrap();
    close(&y, (&there * &nalgebra::DVector::from_vec(x)).as_slice());
}
