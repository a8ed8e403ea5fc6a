//! Every program of this crate on small arguments: what each device has to give the same bits for, in the deterministic mode.

use crate::factorize::{cholesky, lu, qr, triangular};
use crate::{eigen, fft, sorting, sparse, statistics, unitary};
use ndarray::{arr2, Array1, Array2};
use num_complex::Complex;
use rev_core::verify::{Outputs, Sample};
use rev_cpu::prelude::*;

macro_rules! samples {
    ($($name:literal, $on_gpu:literal, |$device:ident| $run:expr;)*) => {
        /// The programs.
        pub const SAMPLES: &[Sample] = &[$(Sample { name: $name, on_gpu: $on_gpu, run: |$device| $run }),*];
    };
}

/// A matrix of 3 rows and 4 columns with an empty row: starts, columns, values.
const A: (&[usize], &[usize], &[f64]) = (&[0, 2, 2, 5], &[0, 3, 0, 1, 2], &[1.5, -2.0, 0.5, 3.0, -0.25]);
/// Another one.
const B: (&[usize], &[usize], &[f64]) = (&[0, 1, 2, 5], &[3, 1, 0, 2, 3], &[0.75, 1.0, -1.5, 2.0, 4.0]);

/// One of 4 rows and 3 columns.
const T: (&[usize], &[usize], &[f64]) = (&[0, 1, 2, 3, 5], &[2, 1, 2, 0, 2], &[-1.5, 1.0, 2.0, 0.75, 4.0]);

/// Numbers of which two are equal.
const NUMBERS: [f64; 9] = [0.5, -1.5, 2.25, 0.5, 3.0, -0.75, 1.0, 0.0, -2.0];

/// Numbers without a pattern.
fn matrix(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| f64::sin((1 + 3 * i + 7 * j + i * j) as f64))
}

/// A symmetric positive definite matrix.
fn definite(n: usize) -> Array2<f64> {
    let a = matrix(n, n);
    a.dot(&a.t()) + Array2::<f64>::eye(n)
}

/// A vector of complex numbers without a pattern.
fn signal(n: usize) -> Array1<Complex<f64>> {
    (0..n).map(|i| Complex::new(f64::sin(1.0 + i as f64), f64::cos(2.0 * i as f64))).collect()
}

/// Whether a number is negative.
#[reversible]
fn negative<T: Real>(keep: &mut bool, x: &T) {
    if *x < 0.0 {
        flip(keep);
    }
}

/// `y += x²`, both to map and to fold.
#[reversible]
fn add_square<T: Real>(y: &mut T, x: &T) {
    *y += *x * *x;
}

samples! {
    "sparse matrix and vector", true, |d| {
        let (mut y, mut z) = ([1.0, 2.0, 3.0], [0.0; 4]);
        sparse::matvec::run(d, &mut y, A.0, A.1, A.2, &[1.0, 0.5, -1.0, 2.0])?;
        sparse::transposed_matvec::run(d, &mut z, A.0, A.1, A.2, &[1.0, 0.5, -1.0])?;
        Ok(Outputs::new().with("y", &y).with("z", &z))
    };
    "sparse matrix and vector, gradient", true, |d| {
        let x = [1.0, 0.5, -1.0, 2.0];
        let g = sparse::matvec::vjp(d, &[1.0, 2.0, 3.0], &[0.0; 3], A.0, A.1, A.2, &x)?;
        Ok(Outputs::new().with("values", &g.values_bar).with("x", &g.x_bar))
    };
    "sparse matrix and dense matrix", true, |d| {
        let (mut c, mut t) = (Array2::zeros((3, 2)), Array2::zeros((4, 2)));
        sparse::product::run(d, c.view_mut(), 0.5, A.0, A.1, A.2, matrix(4, 2).view())?;
        sparse::transposed_product::run(d, t.view_mut(), 0.5, A.0, A.1, A.2, matrix(3, 2).view())?;
        Ok(Outputs::new().with("c", &c).with("t", &t))
    };
    "complex sparse matrix and dense matrix, gradient", true, |d| {
        let values: Vec<_> = A.2.iter().map(|v| Complex::new(*v, 1.0 - v)).collect();
        let complex = |rows: usize, by: f64| matrix(rows, 2).mapv(|v| Complex::new(v, by * v * v));
        let (b, seed, c, alpha) = (complex(4, 0.5), complex(3, -2.0), complex(3, 1.5), Complex::new(0.5, -0.25));
        let g = sparse::product::vjp(d, seed.view(), c.view(), alpha, A.0, A.1, &values, b.view())?;
        let outputs = Outputs::new().with("c", &g.c).with("alpha", &g.alpha_bar);
        Ok(outputs.with("values", &g.values_bar).with("b", &g.b_bar))
    };
    "sparse matrix times sparse matrix, gradient", true, |d| {
        let c = [0.5, 1.5, 2.5, 3.5];
        let g = sparse::multiply::vjp(d, &c, &c, &[0, 3, 3, 6], &[1, 0, 1, 3, 2, 3], A.0, A.1, A.2, T.0, T.2)?;
        Ok(Outputs::new().with("c", &g.c_values).with("a", &g.a_values_bar).with("b", &g.b_values_bar))
    };
    "inner product of sparse matrices, gradient", true, |d| {
        let g = sparse::dot::gradient(d, A.0, A.1, A.2, B.0, B.1, B.2)?;
        Ok(Outputs::new().with("value", &g.value).with("a", &g.a_values).with("b", &g.b_values))
    };
    "inner product of sparse matrices by their common entries, gradient", true, |d| {
        let g = sparse::dot_at::gradient(d, A.2, &[1, 2, 4], B.2, &[0, 2, 3])?;
        Ok(Outputs::new().with("value", &g.value).with("a", &g.a_values).with("b", &g.b_values))
    };
    "triangular systems and back", true, |d| {
        let (l, mut b) = (definite(4), matrix(4, 2));
        triangular::solve_lower::run(d, b.view_mut(), l.view())?;
        triangular::solve_unit_lower::run(d, b.view_mut(), l.view())?;
        triangular::solve_upper::run(d, b.view_mut(), l.view())?;
        triangular::solve_lower_transposed::run(d, b.view_mut(), l.view())?;
        let there = b.clone();
        triangular::solve_lower_transposed::run_inverse(d, b.view_mut(), l.view())?;
        Ok(Outputs::new().with("there", &there).with("back", &b))
    };
    "LU and back", true, |d| {
        let (mut a, mut pivots) = (matrix(5, 5), vec![0; 5]);
        lu::lu::run(d, a.view_mut(), &mut pivots)?;
        let there = (a.clone(), pivots.clone());
        lu::lu::run_inverse(d, a.view_mut(), &mut pivots)?;
        Ok(Outputs::new().with("there", &there.0).with("pivots", &there.1).with("back", &a))
    };
    "determinant, gradient", true, |d| {
        let g = lu::det::gradient(d, matrix(4, 4).view())?;
        Ok(Outputs::new().with("value", &g.value).with("a", &g.a))
    };
    "logarithm of a determinant, gradient", true, |d| {
        let (g, h) = (lu::logdet::gradient(d, matrix(4, 4).view())?, cholesky::logdet::gradient(d, definite(4).view())?);
        Ok(Outputs::new().with("value", &g.value).with("a", &g.a).with("by Cholesky", &h.value).with("its a", &h.a))
    };
    "linear system, gradient", true, |d| {
        let (seed, x) = (matrix(4, 2), Array2::zeros((4, 2)));
        let g = lu::solve::vjp(d, seed.view(), x.view(), matrix(4, 4).view(), matrix(4, 2).view())?;
        Ok(Outputs::new().with("x", &g.x).with("a", &g.a_bar).with("b", &g.b_bar))
    };
    "inverse matrix", true, |d| {
        let mut c = Array2::zeros((4, 4));
        lu::invert::run(d, c.view_mut(), matrix(4, 4).view())?;
        Ok(Outputs::new().with("c", &c))
    };
    "Cholesky and back", true, |d| {
        let mut a = definite(5);
        cholesky::cholesky::run(d, a.view_mut())?;
        let there = a.clone();
        cholesky::cholesky::run_inverse(d, a.view_mut())?;
        Ok(Outputs::new().with("there", &there).with("back", &a))
    };
    "linear system by Cholesky, gradient", true, |d| {
        let (seed, x) = (matrix(4, 2), Array2::zeros((4, 2)));
        let g = cholesky::solve::vjp(d, seed.view(), x.view(), definite(4).view(), matrix(4, 2).view())?;
        Ok(Outputs::new().with("x", &g.x).with("a", &g.a_bar).with("b", &g.b_bar))
    };
    "QR by reflections, and back", true, |d| {
        let mut a = matrix(5, 3);
        qr::householder::run(d, a.view_mut())?;
        let there = a.clone();
        qr::householder::run_inverse(d, a.view_mut())?;
        Ok(Outputs::new().with("there", &there).with("back", &a))
    };
    "QR by reflections, gradient", true, |d| {
        let g = qr::householder::vjp(d, matrix(5, 3).view(), matrix(5, 3).view())?;
        Ok(Outputs::new().with("a", &g.a).with("derivative", &g.a_bar))
    };
    "QR with exchanged columns, and back", true, |d| {
        // of rank 3: the last column is the sum of two others
        let mut a = matrix(5, 4);
        let sum = &a.column(0) + &a.column(2);
        a.column_mut(3).assign(&sum);
        let (mut pivots, mut rank) = ([0; 4], 0);
        qr::pivoted::run(d, a.view_mut(), &mut pivots, &mut rank, 1e-10)?;
        let outputs = Outputs::new().with("there", &a).with("pivots", &pivots).with("rank", &rank);
        qr::pivoted::run_inverse(d, a.view_mut(), &mut pivots, &mut rank, 1e-10)?;
        Ok(outputs.with("back", &a).with("no pivots", &pivots))
    };
    "QR with exchanged columns, gradient", true, |d| {
        let g = qr::pivoted::vjp(d, matrix(3, 5).view(), &[(); 3], (), matrix(3, 5).view(), &[0; 3], &0, 1e-10)?;
        Ok(Outputs::new().with("a", &g.a).with("derivative", &g.a_bar))
    };
    "QR by Gram and Schmidt, gradient", true, |d| {
        let (seed, r) = (matrix(3, 3), Array2::zeros((3, 3)));
        let g = qr::gram_schmidt::vjp(d, matrix(5, 3).view(), seed.view(), matrix(5, 3).view(), r.view())?;
        Ok(Outputs::new().with("q", &g.a).with("r", &g.r).with("derivative", &g.a_bar))
    };
    "rotations, gradient", true, |d| {
        let angles = [0.3, -1.2, 2.5, 0.9, -0.4, 1.7];
        let g = unitary::rotations::vjp(d, matrix(4, 2).view(), arr2(&[[1.0, 0.5], [2.0, -1.0], [0.0, 3.0], [0.25, 1.0]]).view(), &angles)?;
        Ok(Outputs::new().with("x", &g.x).with("derivative", &g.x_bar).with("angles", &g.angles_bar))
    };
    "Fourier transform and back", true, |d| {
        let mut x = signal(16);
        fft::fft::run(d, x.view_mut())?;
        let there = x.clone();
        fft::fft::run_inverse(d, x.view_mut())?;
        Ok(Outputs::new().with("there", &there).with("back", &x))
    };
    "Fourier transform of real numbers, gradient", true, |d| {
        let g = fft::real_fft::vjp(d, signal(8).view(), signal(8).view())?;
        Ok(Outputs::new().with("z", &g.z).with("derivative", &g.z_bar))
    };
    "Fourier transform in two dimensions", true, |d| {
        let mut x = Array2::from_shape_fn((4, 8), |(i, j)| Complex::new(f64::sin((i * j) as f64), i as f64 - j as f64));
        fft::fft2::run(d, x.view_mut())?;
        Ok(Outputs::new().with("x", &x))
    };
    "sort and back", true, |d| {
        let (mut x, mut order) = (NUMBERS, [0; 9]);
        sorting::sort::run(d, &mut x, &mut order)?;
        let there = (x, order);
        sorting::sort::run_inverse(d, &mut x, &mut order)?;
        let outputs = Outputs::new().with("there", &there.0).with("order", &there.1);
        Ok(outputs.with("back", &x).with("no order", &order))
    };
    "sorted copy, gradient", true, |d| {
        let g = sorting::sorted::vjp(d, &NUMBERS, &[0.0; 9], &NUMBERS)?;
        Ok(Outputs::new().with("y", &g.y).with("x", &g.x_bar))
    };
    "running sums, products and maxima", true, |d| {
        let (mut sums, mut products, mut maxima) = (NUMBERS, [0.0; 9], [0.0; 9]);
        sorting::cumulative_sum::run(d, &mut sums)?;
        sorting::cumulative_product::run(d, &mut products, &NUMBERS)?;
        sorting::running_maximum::run(d, &mut maxima, &NUMBERS)?;
        Ok(Outputs::new().with("sums", &sums).with("products", &products).with("maxima", &maxima))
    };
    "records, gradient", true, |d| {
        let g = sorting::records::vjp(d, &NUMBERS, &[(); 9], (), &[0.0; 9], &[0; 9], &0, &NUMBERS)?;
        Ok(Outputs::new().with("y", &g.y).with("at", &g.at).with("count", &g.count).with("x", &g.x_bar))
    };
    "histogram", true, |d| {
        let mut bins = [0.0; 4];
        sorting::histogram::run(d, &mut bins, &NUMBERS, &NUMBERS, -1.0, 2.5)?;
        Ok(Outputs::new().with("bins", &bins))
    };
    "select, map and fold", true, |d| {
        let (mut y, mut count, mut sum) = ([0.0; 9], 0, 0.0);
        sorting::filter::run(d, &mut y, &mut count, &NUMBERS, negative {})?;
        sorting::map_and_fold::run(d, &mut sum, &y, add_square {}, add_square {})?;
        Ok(Outputs::new().with("y", &y).with("count", &count).with("sum", &sum))
    };
    "correlation, gradient", true, |d| {
        let mut other = NUMBERS;
        other.rotate_left(2);
        let g = statistics::correlation::gradient(d, &NUMBERS, &other)?;
        Ok(Outputs::new().with("value", &g.value).with("a", &g.a).with("b", &g.b))
    };
    "covariances of columns", true, |d| {
        let mut c = Array2::zeros((3, 3));
        statistics::covariance_matrix::run(d, c.view_mut(), matrix(6, 3).view())?;
        Ok(Outputs::new().with("c", &c))
    };
    "normal density, gradient", true, |d| {
        let g = statistics::normal_log_density::gradient(d, 1.0f64, 0.3, 1.5)?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x).with("mean", &g.mean).with("deviation", &g.deviation))
    };
    "multivariate normal density, gradient", true, |d| {
        let (x, mean, c) = (matrix(70, 3), matrix(1, 3), definite(3));
        let g = statistics::multivariate_normal::gradient(d, x.view(), mean.row(0), c.view())?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x).with("mean", &g.mean).with("covariance", &g.covariance))
    };
    "eigenvalues, gradient", true, |d| {
        let (seed, values) = (Array1::from(vec![1.0, -0.5, 2.0]), Array1::zeros(3));
        let g = eigen::eigenvalues::vjp(d, seed.view(), values.view(), definite(3).view(), 5, 1e-8)?;
        Ok(Outputs::new().with("values", &g.values).with("a", &g.a_bar))
    };
    "eigenvectors", true, |d| {
        let (mut a, mut angles, mut v) = (definite(4), vec![0.0; 30], Array2::eye(4));
        eigen::diagonalize::run(d, a.view_mut(), &mut angles, 1e-8)?;
        eigen::rotate::run(d, v.view_mut(), &angles)?;
        Ok(Outputs::new().with("a", &a).with("angles", &angles).with("v", &v))
    };
    "an eigenvector, gradient", true, |d| {
        let (a, guess) = (definite(3), [0.6, -0.5, 0.7]);
        let g = eigen::improve::vjp(d, &[1.0, -0.5, 2.0], 0.75, &[0.0; 3], &0.0, a.view(), &guess, 2.5)?;
        Ok(Outputs::new().with("vector", &g.vector).with("value", &g.value).with("a", &g.a_bar))
    };
}
