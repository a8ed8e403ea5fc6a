//! Linear algebra, transforms, sorting, statistics.

use ndarray::{Array1, Array2};
use rev::prelude::*;
use rev_algebra::factorize::{cholesky, lu, qr};
use rev_algebra::{eigen, fft, sorting, sparse, statistics, unitary};
use rustfft::FftPlanner;

use super::{matrix, numbers, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    sparse_programs(table)?;
    dense_programs(table)?;
    factors_and_eigenvectors(table)?;
    transforms(table)?;
    sorts(table)
}

/// Starts, columns and values of a matrix by rows, `each` entries in every row.
fn entries(n: usize, each: usize, shift: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
    let starts = (0..=n).map(|i| i * each).collect();
    let step = n / each;
    let columns = (0..n * each).map(|k| (k % each) * step + (k / each * 7 + k * shift(k)) % step).collect();
    (starts, columns, numbers(n * each, 0.3))
}

fn sparse_programs(table: &mut Table) -> Result<(), Failure> {
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
    let wrong = |e: sparse::StructureError| Failure::Sizes(e.to_string());
    let by_rows =
        |m: &(Vec<usize>, Vec<usize>, Vec<f64>)| sparse::Structure::new(n, m.0.clone(), m.1.clone());
    let (a, b) = (by_rows(&first).map_err(wrong)?, by_rows(&second).map_err(wrong)?);
    // every second entry of a row is in the same place
    let half = entries(n, 10, |k| if k % 2 == 0 { 1 } else { 3 });
    let common = a.intersection(&by_rows(&half).map_err(wrong)?).map_err(wrong)?;
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
    )?;
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
    let products = a.product(&b).map_err(wrong)?;
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
    )?;
    let complex = |v: &f64| Complex::new(*v, 1.0 - v);
    let values: Vec<_> = p.2.iter().map(complex).collect();
    let b = matrix((n, 10), 0.7).map(complex);
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

fn dense_programs(table: &mut Table) -> Result<(), Failure> {
    let n = 64;
    let a = matrix((n, n), 0.7) + 3.0 * Array2::<f64>::eye(n);
    let (b, zeros) = (matrix((n, 1), 0.9), Array2::zeros((n, 1)));
    table.add(
        "64 equations by LU",
        || lu::plain::solve(a.view(), b.view()),
        |d| {
            let mut x = zeros.clone();
            lu::solve::run(d, x.view_mut(), a.view(), b.view()).map(|()| x)
        },
        Some(|d: &Cpu| lu::solve::vjp(d, b.view(), zeros.view(), a.view(), b.view())),
    )?;
    let definite = a.dot(&a.t()) + Array2::<f64>::eye(n);
    table.add(
        "logarithm of a determinant by Cholesky, 64 by 64",
        || cholesky::plain::cholesky(definite.view()).map(|l| 2.0 * l.diag().mapv(f64::ln).sum()),
        |d| {
            let mut y = 0.0;
            cholesky::logdet::run(d, &mut y, definite.view()).map(|()| y)
        },
        Some(|d: &Cpu| cholesky::logdet::gradient(d, definite.view())),
    )?;
    let angles = numbers(16 * 15 / 2, 0.3);
    let x = matrix((16, 100), 0.4);
    table.add(
        "120 rotations of 100 columns",
        || unitary::plain::rotations(x.view(), &angles),
        |d| {
            let mut y = x.clone();
            unitary::rotations::run(d, y.view_mut(), &angles).map(|()| y)
        },
        Some(|d: &Cpu| unitary::rotations::vjp(d, x.view(), x.view(), &angles)),
    )?;
    let samples = matrix((1000, 16), 0.4);
    let zeros = Array2::zeros((16, 16));
    table.add(
        "covariances of 16 numbers, 1000 samples",
        || {
            let centred = &samples - &(samples.sum_axis(ndarray::Axis(0)) / 1000.0);
            centred.t().dot(&centred) / 1000.0
        },
        |d| {
            let mut c = zeros.clone();
            statistics::covariance_matrix::run(d, c.view_mut(), samples.view()).map(|()| c)
        },
        Some(|d: &Cpu| statistics::covariance_matrix::vjp(d, zeros.view(), zeros.view(), samples.view())),
    )
}

fn factors_and_eigenvectors(table: &mut Table) -> Result<(), Failure> {
    let a = matrix((96, 48), 0.7);
    let none = vec![0; 48];
    let pairs = vec![(); 48];
    table.add(
        "QR with exchanged columns, 96 by 48",
        || qr::plain::pivoted(a.view(), 1e-10),
        |d| {
            let (mut a, mut pivots, mut rank) = (a.clone(), none.clone(), 0);
            qr::pivoted::run(d, a.view_mut(), &mut pivots, &mut rank, 1e-10).map(|()| (a, pivots, rank))
        },
        Some(|d: &Cpu| qr::pivoted::vjp(d, a.view(), &pairs, (), a.view(), &none, &0, 1e-10)),
    )?;
    let (a, r) = (matrix((96, 48), 0.7), Array2::zeros((48, 48)));
    table.add(
        "QR by Gram and Schmidt, 96 by 48",
        || qr::plain::gram_schmidt(a.view()),
        |d| {
            let (mut a, mut r) = (a.clone(), r.clone());
            qr::gram_schmidt::run(d, a.view_mut(), r.view_mut()).map(|()| (a, r))
        },
        Some(|d: &Cpu| qr::gram_schmidt::vjp(d, a.view(), r.view(), a.view(), r.view())),
    )?;
    let square = matrix((16, 16), 0.7);
    let (definite, zeros) = (square.dot(&square.t()) + Array2::<f64>::eye(16), Array1::zeros(16));
    table.add(
        "eigenvalues of 16 by 16 by 6 sweeps",
        || eigen::plain::diagonalize(definite.view(), 6),
        |d| {
            let mut values = zeros.clone();
            eigen::eigenvalues::run(d, values.view_mut(), definite.view(), 6, 1e-8).map(|()| values)
        },
        Some(|d: &Cpu| eigen::eigenvalues::vjp(d, zeros.view(), zeros.view(), definite.view(), 6, 1e-8)),
    )?;
    let n = 48;
    let a = matrix((n, n), 0.7) + Array2::<f64>::ones((n, n));
    let Some(guess) = eigen::search(a.view(), &vec![1.0; n], 1e-10, 10_000) else {
        return Err(Failure::Sizes("no eigenvector was found".into()));
    };
    let (at, zeros) = (&guess.vector, vec![0.0; n]);
    table.add(
        "an eigenvector of 48 by 48 by one step",
        || eigen::plain::improve(a.view(), at, guess.value),
        |d| {
            let (mut vector, mut value) = (zeros.clone(), 0.0);
            eigen::improve::run(d, &mut vector, &mut value, a.view(), at, guess.value)
                .map(|()| (vector, value))
        },
        Some(|d: &Cpu| eigen::improve::vjp(d, at, 1.0, &zeros, &0.0, a.view(), at, guess.value)),
    )
}

fn transforms(table: &mut Table) -> Result<(), Failure> {
    let n = 4096;
    let signal: Array1<_> = numbers(n, 0.7).into_iter().map(|v| Complex::new(v, -v)).collect();
    let plan = FftPlanner::new().plan_fft_forward(n);
    // rustfft has a complex number of its own
    let other: Vec<_> = signal.iter().map(|z| rustfft::num_complex::Complex::new(z.re, z.im)).collect();
    table.add(
        "Fourier transform of 4096 numbers, beside rustfft",
        || {
            let mut x = other.clone();
            plan.process(&mut x);
            x
        },
        |d| {
            let mut x = signal.clone();
            fft::fft::run(d, x.view_mut()).map(|()| x)
        },
        Some(|d: &Cpu| fft::fft::vjp(d, signal.view(), signal.view())),
    )
}

fn sorts(table: &mut Table) -> Result<(), Failure> {
    let x = numbers(10_000, 0.7);
    let order = vec![0; x.len()];
    let pairs = vec![(); x.len()];
    table.add(
        "sorting 10⁴ numbers, the order kept",
        || sorting::plain::argsort(&x),
        |d| {
            let (mut y, mut order) = (x.clone(), order.clone());
            sorting::sort::run(d, &mut y, &mut order).map(|()| (y, order))
        },
        Some(|d: &Cpu| sorting::sort::vjp(d, &x, &pairs, &x, &order)),
    )?;
    let weights = numbers(x.len(), 0.2);
    let bins = vec![0.0; 64];
    table.add(
        "weighted histogram of 10⁴ numbers",
        || sorting::plain::histogram(64, &x, &weights, -1.0, 1.1),
        |d| {
            let mut bins = bins.clone();
            sorting::histogram::run(d, &mut bins, &x, &weights, -1.0, 1.1).map(|()| bins)
        },
        Some(|d: &Cpu| sorting::histogram::vjp(d, &bins, &bins, &x, &weights, -1.0, 1.1)),
    )?;
    let (zeros, none, pairs) = (vec![0.0; x.len()], vec![0; x.len()], vec![(); x.len()]);
    table.add(
        "records of 10⁴ numbers",
        || sorting::plain::records(&x),
        |d| {
            let (mut y, mut at, mut count) = (zeros.clone(), none.clone(), 0);
            sorting::records::run(d, &mut y, &mut at, &mut count, &x).map(|()| (y, at, count))
        },
        Some(|d: &Cpu| sorting::records::vjp(d, &zeros, &pairs, (), &zeros, &none, &0, &x)),
    )?;
    table.add(
        "running sums of 10⁴ numbers",
        || sorting::plain::cumulative_sum(&x),
        |d| {
            let mut y = x.clone();
            sorting::cumulative_sum::run(d, &mut y).map(|()| y)
        },
        Some(|d: &Cpu| sorting::cumulative_sum::vjp(d, &x, &x)),
    )
}
