//! Moments, densities and eigenvalues against plain loops, formulas and another crate.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod support;

use approx::{abs_diff_eq, assert_abs_diff_eq, relative_eq};
use nalgebra::{DMatrix, DVector};
use ndarray::{arr2, Array1, Array2};
use rev_algebra::statistics::{self, plain};
use rev_algebra::{eigen, factorize::cholesky};
use rev_cpu::prelude::*;
use support::hessian;

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| 5.0 + (seed + 1.9 * i as f64 + 0.1 * (i * i) as f64).sin()).collect()
}

fn matrix(rows: usize, columns: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_vec((rows, columns), numbers(rows * columns, seed)).unwrap() - 5.0
}

fn definite(n: usize) -> Array2<f64> {
    let a = matrix(n, n, 0.3);
    a.dot(&a.t()) + Array2::<f64>::eye(n)
}

fn close(got: f64, expected: f64) {
    approx::assert_relative_eq!(got, expected, epsilon = 1e-12, max_relative = 1e-12);
}

#[test]
fn moments() {
    let (a, b, cpu) = (numbers(50, 0.2), numbers(50, 0.9), Cpu::with_threads(2));
    let g = statistics::mean::gradient(&cpu, &a).unwrap();
    close(g.value, plain::mean(&a));
    assert!(g.x.iter().all(|&x| abs_diff_eq!(x, 0.02, epsilon = 1e-16)));
    let g = statistics::variance::gradient(&cpu, &a).unwrap();
    close(g.value, plain::variance(&a));
    let centre = plain::mean(&a);
    g.x.iter().zip(&a).for_each(|(g, a)| close(*g, 2.0 * (a - centre) / 49.0));
    close(statistics::covariance::gradient(&cpu, &a, &b).unwrap().value, plain::covariance(&a, &b));
    close(statistics::correlation::gradient(&cpu, &a, &b).unwrap().value, plain::correlation(&a, &b));
    for report in [
        statistics::mean::check_gradient(&cpu, &0.5, &a).unwrap(),
        statistics::variance::check_gradient(&cpu, &0.5, &a).unwrap(),
        statistics::covariance::check_gradient(&cpu, &0.5, &a, &b).unwrap(),
        statistics::correlation::check_gradient(&cpu, &0.5, &a, &b).unwrap(),
    ] {
        assert!(report.passed(), "{report}");
    }
    let mut y = 0.5;
    statistics::correlation(&mut y, &a, &b).unwrap();
    statistics::correlation::inverse(&mut y, &a, &b).unwrap();
    close(y, 0.5);
    let error = statistics::covariance(&mut y, &a, &b[1..]).unwrap_err().to_string();
    assert!(error.contains("difference_in_length"), "{error}");
}

#[test]
fn covariances_of_columns() {
    let (x, mut c) = (matrix(12, 3, 0.4), Array2::zeros((3, 3)));
    statistics::covariance_matrix(c.view_mut(), x.view()).unwrap();
    for ((i, j), c) in c.indexed_iter() {
        close(*c, plain::covariance(&x.column(i).to_vec(), &x.column(j).to_vec()));
    }
    c.iter().zip(&plain::covariance_matrix(x.view())).for_each(|(c, p)| close(*c, *p));
    let report = statistics::covariance_matrix::check_gradient(&Cpu::new(), c.view(), x.view()).unwrap();
    assert!(report.passed(), "{report}");
    statistics::covariance_matrix::inverse(c.view_mut(), x.view()).unwrap();
    assert!(c.iter().all(|&c| abs_diff_eq!(c, 0.0, epsilon = 1e-15)));
}

#[test]
fn densities() {
    let cpu = Cpu::new();
    let g = statistics::normal_log_density::gradient(&cpu, 1.0, 0.3, 1.5).unwrap();
    close(g.value, -1.433_292_530_201_725_9);
    close(g.value, plain::normal_log_density(1.0, 0.3, 1.5));
    // -z/σ, z/σ and (z² - 1)/σ
    let z = 0.7 / 1.5;
    close(g.x, -z / 1.5);
    close(g.mean, z / 1.5);
    close(g.deviation, (z * z - 1.0) / 1.5);

    let (x, mean, c) = (matrix(6, 3, 0.8), Array1::from(numbers(3, 0.1)) - 5.0, definite(3));
    let theirs = DMatrix::from_fn(3, 3, |i, j| c[[i, j]]);
    let inverse = theirs.clone().try_inverse().unwrap();
    let constant = theirs.determinant().ln() / 2.0 + 1.5 * (2.0 * std::f64::consts::PI).ln();
    let density = |row: ndarray::ArrayView1<f64>| {
        let d = DVector::from_fn(3, |i, _| row[i] - mean[i]);
        -(d.transpose() * &inverse * d)[0] / 2.0 - constant
    };
    let g = statistics::multivariate_normal::gradient(&cpu, x.view(), mean.view(), c.view()).unwrap();
    close(g.value, x.outer_iter().map(density).sum());
    close(g.value, plain::multivariate_normal(x.view(), mean.view(), c.view()).unwrap());
    let report =
        statistics::multivariate_normal::check_gradient(&cpu, &0.5, x.view(), mean.view(), c.view()).unwrap();
    assert!(report.passed(), "{report}");
    let wrong = arr2(&[[1.0, 0.0], [2.0, 1.0]]);
    let point = arr2(&[[0.0, 0.0]]);
    assert!(statistics::multivariate_normal(&mut 0.0, point.view(), point.row(0), wrong.view()).is_err());
    assert_eq!(plain::multivariate_normal(point.view(), point.row(0), wrong.view()), None);
}

#[test]
fn eigenvalues_and_vectors() {
    for n in [2, 3, 7] {
        let a = definite(n);
        let (mut d, mut angles) = (a.clone(), vec![0.0; 8 * n * (n - 1) / 2]);
        eigen::diagonalize(d.view_mut(), &mut angles, 1e-8).unwrap();
        let (plain_d, plain_v) = eigen::plain::diagonalize(a.view(), 8);
        let mut v = Array2::eye(n);
        eigen::rotate(v.view_mut(), &angles).unwrap();
        close(d.diag().sum(), plain_d.diag().sum());
        close(plain_v.dot(&plain_d).dot(&plain_v.t())[[0, 1]], a[[0, 1]]);
        let rebuilt = v.dot(&Array2::from_diag(&d.diag())).dot(&v.t());
        rebuilt.iter().zip(&a).for_each(|(r, a)| assert_abs_diff_eq!(r, a, epsilon = 1e-8));
        let mut sorted = d.diag().to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut theirs = DMatrix::from_fn(n, n, |i, j| a[[i, j]]).symmetric_eigenvalues().as_slice().to_vec();
        theirs.sort_by(f64::total_cmp);
        sorted.iter().zip(&theirs).for_each(|(s, t)| close(*s, *t));
        eigen::diagonalize::inverse(d.view_mut(), &mut angles, 1e-8).unwrap();
        d.iter().zip(&a).for_each(|(d, a)| close(*d, *a));
        assert!(angles.iter().all(|&angle| abs_diff_eq!(angle, 0.0, epsilon = 1e-9)), "{angles:?}");

        // the derivative of the sum of w_i λ_i is that of Σ w_i v_i v_iᵀ
        let weights: Array1<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        let start = Array1::zeros(n);
        let g =
            eigen::eigenvalues::vjp(&Cpu::new(), weights.view(), start.view(), a.view(), 8, 1e-8).unwrap();
        let expected = v.dot(&Array2::from_diag(&weights)).dot(&v.t());
        let symmetric = (&g.a_bar + &g.a_bar.t()) / 2.0;
        symmetric
            .iter()
            .zip(&expected)
            .for_each(|(g, e)| assert!(abs_diff_eq!(g, e, epsilon = 1e-7), "{symmetric} {expected}"));
    }
    let (a, mut angles) = (definite(3), vec![0.0; 4]);
    assert!(eigen::diagonalize(a.clone().view_mut(), &mut angles, 1e-8)
        .unwrap_err()
        .to_string()
        .contains("at"));
    let report = eigen::diagonalize::check_gradient(&Cpu::new(), a.view(), &[0.0; 3], 1e-8).unwrap();
    assert!(report.passed(), "{report}");
}

/// The logarithm of the determinant two ways.
#[test]
fn determinants_by_eigenvalues() {
    let (a, mut values) = (definite(4), Array1::zeros(4));
    eigen::eigenvalues(values.view_mut(), a.view(), 8, 1e-8).unwrap();
    let mut y = 0.0;
    cholesky::logdet(&mut y, a.view()).unwrap();
    close(values.mapv(f64::ln).sum(), y);
}

/// Diagonal matrices, equal elements on the diagonal, multiple eigenvalues: the angles are the same on the way back, also where they are
/// computed again.
#[test]
fn special_matrices_come_back() {
    let rank_one = Array2::from_shape_fn((4, 4), |(i, j)| ((i + 1) * (j + 1)) as f64);
    let circulant = Array2::from_shape_fn((4, 4), |(i, j)| [3.0, 1.0, 0.5, 1.0][(i + 4 - j) % 4]);
    let checked: [&dyn Device; 2] = [&Cpu::new(), &rev_core::interp::Interpreter::new()];
    for a in [
        arr2(&[[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]),
        arr2(&[[2.0, 1.0], [1.0, 2.0]]),
        arr2(&[[2.0, -1.0], [-1.0, 2.0]]),
        arr2(&[[5.0]]),
        Array2::eye(3),
        Array2::zeros((3, 3)),
        Array2::ones((5, 5)),
        rank_one,
        circulant,
    ] {
        for device in checked {
            let (n, seed) = (a.nrows(), Array1::ones(a.nrows()));
            let g = eigen::eigenvalues::vjp(device, seed.view(), seed.view(), a.view(), 8, 1e-8).unwrap();
            assert_abs_diff_eq!(g.values.sum() - n as f64, a.diag().sum(), epsilon = 1e-12);
            // the derivative of the trace
            g.a_bar.indexed_iter().for_each(|((i, j), g)| close(*g, if i == j { 1.0 } else { 0.0 }));
            let mut values = seed.clone();
            eigen::eigenvalues::run(device, values.view_mut(), a.view(), 8, 1e-8).unwrap();
            eigen::eigenvalues::run_inverse(device, values.view_mut(), a.view(), 8, 1e-8).unwrap();
            assert!(values.iter().all(|&v| abs_diff_eq!(v, 1.0, epsilon = 1e-12)));
        }
    }
}

/// What is found by iteration, and its derivatives, which don't know how.
#[test]
fn an_eigenvector_by_iteration() {
    let cpu = Cpu::new();
    for n in [1, 2, 5, 12] {
        // one is symmetric, the other isn't, and both have one eigenvalue that is far larger than the others
        let rank_one = Array2::from_shape_fn((n, n), |(i, j)| 2.0 + 0.1 * i as f64 - 0.05 * j as f64);
        for a in [definite(n) + Array2::<f64>::ones((n, n)) * 4.0, rank_one + matrix(n, n, 0.2) * 0.3] {
            let found = eigen::search(a.view(), &vec![1.0; n], 1e-10, 1000).unwrap();
            let (x, value) = (Array1::from(found.vector.clone()), found.value);
            assert!((a.dot(&x) - value * &x).iter().all(|&r| abs_diff_eq!(
                r,
                0.0,
                epsilon = 1e-9 * value.abs()
            )));
            let (mut vector, mut exact) = (vec![0.25; n], 0.5);
            eigen::improve(&mut vector, &mut exact, a.view(), &found.vector, value).unwrap();
            let better = Array1::from(vector.clone()) - 0.25;
            assert!((a.dot(&better) - (exact - 0.5) * &better).iter().all(|&r| abs_diff_eq!(
                r,
                0.0,
                epsilon = 1e-13 * value.abs()
            )));
            close(better.dot(&better), 1.0);
            let by_plain = eigen::plain::improve(a.view(), &found.vector, value).unwrap();
            close(exact - 0.5, by_plain.1);
            better.iter().zip(&by_plain.0).for_each(|(b, p)| close(*b, *p));
            eigen::improve::inverse(&mut vector, &mut exact, a.view(), &found.vector, value).unwrap();
            assert!(vector.iter().all(|&v| abs_diff_eq!(v, 0.25, epsilon = 1e-13)));
            assert_abs_diff_eq!(exact, 0.5, epsilon = 1e-12);

            // the derivatives against differences of the iteration itself
            let seed: Vec<f64> = (0..n).map(|i| 1.0 - 0.3 * i as f64).collect();
            let g =
                eigen::improve::vjp(&cpu, &seed, 0.75, &vec![0.0; n], &0.0, a.view(), &found.vector, value)
                    .unwrap();
            let at = |i: usize, j: usize, h: f64| {
                let mut moved = a.clone();
                moved[[i, j]] += h;
                let found = eigen::search(moved.view(), &vec![1.0; n], 1e-14, 10_000).unwrap();
                0.75 * found.value + found.vector.iter().zip(&seed).map(|(x, s)| x * s).sum::<f64>()
            };
            let h = 1e-5;
            for ((i, j), found) in g.a_bar.indexed_iter() {
                let slope = (at(i, j, h) - at(i, j, -h)) / (2.0 * h);
                assert!(abs_diff_eq!(*found, slope, epsilon = 1e-7), "{n} ({i}, {j}): {found} {slope}");
            }
        }
    }
    // of a symmetric matrix the derivative of the eigenvalue is x xᵀ
    let a = arr2(&[[2.0, 1.0], [1.0, 2.0]]);
    let found = eigen::search(a.view(), &[1.0, 0.5], 1e-14, 1000).unwrap();
    let g = eigen::improve::vjp(&cpu, &[0.0; 2], 1.0, &[0.0; 2], &0.0, a.view(), &found.vector, found.value)
        .unwrap();
    close(g.value, 3.0);
    g.a_bar.iter().for_each(|slope| close(*slope, 0.5));
    // two eigenvalues of one magnitude, no start, and a start that is an eigenvector already
    assert_eq!(eigen::search(arr2(&[[1.0, 0.0], [0.0, -1.0]]).view(), &[1.0, 0.5], 1e-10, 100), None);
    assert_eq!(eigen::search(a.view(), &[0.0, 0.0], 1e-10, 100), None);
    let found = eigen::search(arr2(&[[0.0, 1.0], [0.0, 0.0]]).view(), &[2.0, 0.0], 1e-10, 100).unwrap();
    assert_eq!((found.vector, found.value, found.products), (vec![1.0, 0.0], 0.0, 1));
    // an eigenvalue that isn't simple
    let (eye, guess) = (Array2::eye(2), [1.0, 0.0]);
    let error = eigen::improve(&mut [0.0; 2], &mut 0.0, eye.view(), &guess, 1.0).unwrap_err().to_string();
    assert!(error.contains("unscale_by"), "{error}");
}

/// Hessians by edge pushing against formulas.
#[test]
fn second_derivatives() {
    // of ln N(x; μ, σ) by x, μ and σ, for z = (x - μ)/σ
    let (x, mean, s) = (1.0f64, 0.3, 1.5);
    let z = (x - mean) / s;
    let h = hessian!(statistics::normal_log_density, x, mean, s);
    let expected = [[-1.0, 1.0, 2.0 * z], [1.0, -1.0, -2.0 * z], [2.0 * z, -2.0 * z, 1.0 - 3.0 * z * z]];
    for (i, row) in h.iter().enumerate() {
        row.iter().zip(expected[i]).for_each(|(h, e)| close(*h, e / (s * s)));
    }
    // of ln det by a_ij and a_kl: -(A⁻¹)_jk (A⁻¹)_li
    let a = matrix(3, 3, 0.7);
    let inverse = DMatrix::from_fn(3, 3, |i, j| a[[i, j]]).try_inverse().unwrap();
    let h = hessian!(rev_algebra::factorize::lu::logdet, a);
    for (p, q) in (0..9).flat_map(|p| (0..9).map(move |q| (p, q))) {
        let expected = -inverse[(p % 3, q / 3)] * inverse[(q % 3, p / 3)];
        assert!(
            relative_eq!(h[p][q], expected, epsilon = 1e-9, max_relative = 1e-9),
            "{p} {q}: {} {expected}",
            h[p][q]
        );
    }
    // the variance of n numbers: 2 (δ_ij - 1/n) / (n - 1)
    let h = hessian!(statistics::variance, numbers(5, 0.2));
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        close(h[i][j], 2.0 * (f64::from(u8::from(i == j)) - 0.2) / 4.0);
    }
}

/// The matrix by which an element of the lower triangle changes a symmetric one, at both of its places; zero for one of the upper triangle.
fn lower_unit(n: usize, p: usize) -> DMatrix<f64> {
    let (i, j) = (p / n, p % n);
    DMatrix::from_fn(n, n, |k, l| f64::from(u8::from(i >= j && ((k, l) == (i, j) || (l, k) == (i, j)))))
}

fn same(found: &[Vec<f64>], expected: impl Fn(usize, usize) -> f64) {
    for (i, row) in found.iter().enumerate() {
        assert_eq!(row.len(), found.len());
        for (j, h) in row.iter().enumerate() {
            let expected = expected(i, j);
            assert!(
                relative_eq!(*h, expected, epsilon = 1e-11, max_relative = 1e-11),
                "({i}, {j}): {h} {expected}"
            );
        }
    }
}

/// Of `ln det A` by elements of the lower triangle, which change `A` by `E` and `F`: `-tr(A⁻¹ E A⁻¹ F)`.
#[test]
fn second_derivatives_of_a_determinant_by_cholesky() {
    // of one block of columns, and of two
    for n in [3, 9] {
        let a = definite(n);
        let inverse = DMatrix::from_fn(n, n, |i, j| a[[i, j]]).try_inverse().unwrap();
        let by: Vec<_> = (0..n * n).map(|p| &inverse * lower_unit(n, p)).collect();
        let h = hessian!(cholesky::logdet, a);
        assert_eq!(h.len(), n * n);
        same(&h, |p, q| -by[p].component_mul(&by[q].transpose()).sum());
    }
}

/// Of `Σ ln N(x_i; μ, S)` with `z_i = x_i - μ`. By `x` and `μ` they are `±S⁻¹`, by one of them and an element of `S`, which changes it by `E`,
/// `±S⁻¹ E S⁻¹ z`, and by two elements `Σ -zᵀ S⁻¹ E S⁻¹ F S⁻¹ z + tr(S⁻¹ E S⁻¹ F)/2`.
#[test]
fn second_derivatives_of_a_multivariate_density() {
    let (d, n) = (3, 2);
    let (x, mean, c) = (matrix(n, d, 0.8), Array1::from(numbers(d, 0.1)) - 5.0, definite(d));
    let inverse = DMatrix::from_fn(d, d, |i, j| c[[i, j]]).try_inverse().unwrap();
    let z: Vec<_> = x.outer_iter().map(|x| DVector::from_fn(d, |k, _| x[k] - mean[k])).collect();
    let by: Vec<_> = (0..d * d).map(|p| &inverse * lower_unit(d, p)).collect();
    // which samples an argument moves, by which sign, along which axis; none for elements of `S`
    let moved = |p: usize| match p / d {
        sample if sample < n => Some((sample..sample + 1, 1.0, p % d)),
        sample if sample == n => Some((0..n, -1.0, p % d)),
        _ => None,
    };
    let first = (n + 1) * d;
    let expected = |p: usize, q: usize| match (moved(p), moved(q)) {
        (Some((a, by_a, i)), Some((b, by_b, j))) => {
            -by_a * by_b * inverse[(i, j)] * a.filter(|sample| b.contains(sample)).count() as f64
        }
        (Some((samples, sign, i)), None) | (None, Some((samples, sign, i))) => {
            let slope = |sample: usize| (&by[p.max(q) - first] * &inverse * &z[sample])[i];
            sign * samples.map(slope).sum::<f64>()
        }
        (None, None) => {
            let both = &by[p - first] * &by[q - first];
            let squares = z.iter().map(|z| (z.transpose() * &both * &inverse * z)[0]);
            n as f64 * both.trace() / 2.0 - squares.sum::<f64>()
        }
    };
    let h = hessian!(statistics::multivariate_normal, x, mean, c);
    assert_eq!(h.len(), first + d * d);
    same(&h, expected);
}

/// The covariance is linear in each sample: `(δ_ij - 1/n)/(n - 1)` by one number of each.
#[test]
fn second_derivatives_of_covariances() {
    let n = 5;
    let across = |i: usize, j: usize| (f64::from(u8::from(i == j)) - 0.2) / 4.0;
    let h = hessian!(statistics::covariance, numbers(n, 0.2), numbers(n, 0.9));
    assert_eq!(h.len(), 2 * n);
    same(&h, |p, q| if p / n == q / n { 0.0 } else { across(p % n, q % n) });
}
