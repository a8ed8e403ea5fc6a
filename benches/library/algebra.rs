//! Dense linear algebra and statistics.

use ndarray::{Array1, Array2};
use rev::prelude::*;
use rev_algebra::factorize::{cholesky, lu, qr, triangular};
use rev_algebra::{eigen, statistics, unitary};

use super::{matrix, numbers, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    dense_programs(table)?;
    statistical_programs(table)?;
    factors_and_eigenvectors(table)
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
        || cholesky::plain::logdet(definite.view()),
        |d| {
            let mut y = 0.0;
            cholesky::logdet::run(d, &mut y, definite.view()).map(|()| y)
        },
        Some(|d: &Cpu| cholesky::logdet::gradient(d, definite.view())),
    )?;
    table.add(
        "determinant, 64 by 64",
        || lu::plain::det(a.view()),
        |d| {
            let mut y = 0.0;
            lu::det::run(d, &mut y, a.view()).map(|()| y)
        },
        Some(|d: &Cpu| lu::det::gradient(d, a.view())),
    )?;
    let square = Array2::zeros((n, n));
    table.add(
        "inverse, 64 by 64",
        || lu::plain::invert(a.view()),
        |d| {
            let mut c = square.clone();
            lu::invert::run(d, c.view_mut(), a.view()).map(|()| c)
        },
        Some(|d: &Cpu| lu::invert::vjp(d, a.view(), square.view(), a.view())),
    )?;
    let sides = matrix((n, 8), 0.9);
    table.add(
        "triangular system, 64 by 64, 8 right sides",
        || {
            let mut x = sides.clone();
            triangular::plain::solve_lower(x.view_mut(), definite.view());
            x
        },
        |d| {
            let mut x = sides.clone();
            triangular::solve_lower::run(d, x.view_mut(), definite.view()).map(|()| x)
        },
        Some(|d: &Cpu| triangular::solve_lower::vjp(d, sides.view(), sides.view(), definite.view())),
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
    )
}

fn statistical_programs(table: &mut Table) -> Result<(), Failure> {
    let x = numbers(10_000, 0.7);
    table.add(
        "variance of 10⁴ numbers",
        || statistics::plain::variance(&x),
        |d| {
            let mut y = 0.0;
            statistics::variance::run(d, &mut y, &x).map(|()| y)
        },
        Some(|d: &Cpu| statistics::variance::gradient(d, &x)),
    )?;
    let samples = matrix((1000, 16), 0.4);
    let zeros = Array2::zeros((16, 16));
    table.add(
        "covariances of 16 numbers, 1000 samples",
        || statistics::plain::covariance_matrix(samples.view()),
        |d| {
            let mut c = zeros.clone();
            statistics::covariance_matrix::run(d, c.view_mut(), samples.view()).map(|()| c)
        },
        Some(|d: &Cpu| statistics::covariance_matrix::vjp(d, zeros.view(), zeros.view(), samples.view())),
    )?;
    let (square, mean) = (matrix((16, 16), 0.7), Array1::from(numbers(16, 0.2)));
    let definite = square.dot(&square.t()) + Array2::<f64>::eye(16);
    table.add(
        "normal density of 16 numbers, 1000 samples",
        || statistics::plain::multivariate_normal(samples.view(), mean.view(), definite.view()),
        |d| {
            let (x, mean, definite, mut y) = (samples.view(), mean.view(), definite.view(), 0.0);
            statistics::multivariate_normal::run(d, &mut y, x, mean, definite).map(|()| y)
        },
        Some(|d: &Cpu| {
            statistics::multivariate_normal::gradient(d, samples.view(), mean.view(), definite.view())
        }),
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
    table.add(
        "QR by reflections, 96 by 48",
        || qr::plain::householder(a.view()),
        |d| {
            let mut a = a.clone();
            qr::householder::run(d, a.view_mut()).map(|()| a)
        },
        Some(|d: &Cpu| qr::householder::vjp(d, a.view(), a.view())),
    )?;
    let r = Array2::zeros((48, 48));
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
