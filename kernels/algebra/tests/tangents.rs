//! Tangents and compiled Hessians against formulas, and against the derivatives of the factors' products.
#![allow(clippy::unwrap_used)]

#[path = "support/second.rs"]
mod formulas;

use approx::abs_diff_eq;
use formulas::{
    along_symmetric, definite, inverse, lower_unit, matrix, near, of_det, of_eigenvalues, of_logdet,
    of_rotations, of_solution, theirs, unit,
};
use nalgebra::DMatrix;
use ndarray::{s, Array1, Array2, ArrayView2};
use rev_algebra::factorize::{cholesky, lu, qr};
use rev_algebra::{eigen, fft, sorting, sparse, statistics};
use rev_cpu::prelude::*;

/// The program that the compiled Hessians of systems are those of: `y += Σ w_ij x_ij` for `X = A⁻¹ B` by LU.
#[reversible(tangent)]
fn weighted_solution<T: Real>(y: &mut T, a: ArrayView2<T>, b: ArrayView2<T>, w: ArrayView2<T>) {
    let mut x: Array2<T> = zeros((b.nrows(), b.ncols()));
    lu::solve(&mut x, &a, &b);
    *y += contract("ij,ij->", w, x);
}

fn rows(h: &DerivativeMatrix) -> Vec<Vec<f64>> {
    h.matrix().rows().into_iter().map(|row| row.to_vec()).collect()
}

/// Compares matrices, up to `tolerance` of the largest number that is expected.
fn same(found: &Array2<f64>, expected: &DMatrix<f64>, tolerance: f64) {
    assert_eq!(found.dim(), expected.shape());
    near(&found.rows().into_iter().map(|row| row.to_vec()).collect::<Vec<_>>(), expected, tolerance);
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let apart = found.iter().zip(expected).find(|(f, e)| !abs_diff_eq!(*f, *e, epsilon = 1e-12));
    assert_eq!(apart, None, "{found:?} and {expected:?}");
}

#[test]
fn hessians_of_determinants() {
    let cpu = Cpu::new();
    for n in [2, 3, 9] {
        let a = matrix(n, n, 0.7);
        near(&rows(&lu::det::hessian(&cpu, a.view()).unwrap()), &of_det(&a), 1e-10);
        near(&rows(&lu::logdet::hessian(&cpu, a.view()).unwrap()), &of_logdet(&a), 1e-10);
        let (a, by) = (definite(n, 0.3), |p| inverse(&definite(n, 0.3)) * lower_unit(n, p));
        let expected = DMatrix::from_fn(n * n, n * n, |p, q| -(by(p) * by(q)).trace());
        near(&rows(&cholesky::logdet::hessian(&cpu, a.view()).unwrap()), &expected, 1e-10);
        // one product of the Hessian, with the gradient: of ln |det A| by A, A⁻ᵀ and -A⁻ᵀ Ȧᵀ A⁻ᵀ
        let (a, direction) = (matrix(n, n, 0.7), matrix(n, n, 0.2));
        let (g, h) = lu::logdet::gradient_and_hvp(&cpu, direction.view(), a.view()).unwrap();
        let c = inverse(&a);
        same(&g.a, &c.transpose(), 1e-10);
        same(&h.a, &-(&c * theirs(&direction) * &c).transpose(), 1e-10);
    }
}

/// `Ċ = -A⁻¹ Ȧ A⁻¹`.
#[test]
fn inverses() {
    let cpu = Cpu::new();
    for n in [1, 3, 9] {
        let (a, a_dot, zero) = (matrix(n, n, 0.7), matrix(n, n, 0.2), Array2::zeros((n, n)));
        let d = lu::invert::jvp(&cpu, zero.view(), a_dot.view(), zero.view(), a.view()).unwrap();
        let c = inverse(&a);
        same(&d.c, &c, 1e-10);
        same(&d.c_dot, &-(&c * theirs(&a_dot) * &c), 1e-10);
        let w = matrix(n, n, 0.4);
        let h =
            formulas::weighted_inverse::hessian_wrt(&cpu, formulas::weighted_inverse::A, a.view(), w.view());
        let expected = of_solution(&a, &Array2::eye(n), &w, |n, p| unit(n, n, p));
        near(&rows(&h.unwrap()), &expected.view((0, 0), (n * n, n * n)).into_owned(), 1e-10);
    }
}

/// `Ẋ = A⁻¹ (Ḃ - Ȧ X)`, and all second derivatives, of which the refinement has to make a second step.
#[test]
fn systems() {
    let cpu = Cpu::new();
    for (n, m) in [(1, 1), (3, 2), (9, 1)] {
        let (a, a_dot) = (matrix(n, n, 0.7), matrix(n, n, 0.2));
        let (b, b_dot, zero) = (matrix(n, m, 0.8), matrix(n, m, 0.5), Array2::zeros((n, m)));
        let d =
            lu::solve::jvp(&cpu, zero.view(), a_dot.view(), b_dot.view(), zero.view(), a.view(), b.view());
        let (d, c) = (d.unwrap(), inverse(&a));
        let x = &c * theirs(&b);
        same(&d.x_dot, &(&c * (theirs(&b_dot) - theirs(&a_dot) * &x)), 1e-10);
        let w = matrix(n, m, 0.4);
        let wrt = weighted_solution::A | weighted_solution::B;
        let h = weighted_solution::hessian_wrt(&cpu, wrt, a.view(), b.view(), w.view()).unwrap();
        near(&rows(&h), &of_solution(&a, &b, &w, |n, p| unit(n, n, p)), 1e-9);
        let a = definite(n, 0.3);
        let wrt = formulas::weighted_solution::A | formulas::weighted_solution::B;
        let h = formulas::weighted_solution::hessian_wrt(&cpu, wrt, a.view(), b.view(), w.view()).unwrap();
        near(&rows(&h), &of_solution(&a, &b, &w, lower_unit), 1e-10);
    }
}

fn lower(a: &Array2<f64>) -> DMatrix<f64> {
    theirs(a).lower_triangle()
}

/// `L̇ = L Φ(L⁻¹ Ȧ L⁻ᵀ)`, where `Φ` takes the lower triangle with half of the diagonal (S. F. Walter, *Structured higher-order algorithmic
/// differentiation*, 2012; I. Murray, *Differentiation of the Cholesky decomposition*, 2016).
#[test]
fn a_factor_of_cholesky() {
    for n in [1, 3, 9, 19] {
        let (a, b) = (definite(n, 0.3), matrix(n, n, 0.2));
        let a_dot = &b + &b.t();
        let d = cholesky::cholesky::jvp(&Cpu::new(), a_dot.view(), a.view()).unwrap();
        let l = lower(&d.a);
        let back = l.clone().try_inverse().unwrap();
        let mut inner = (&back * theirs(&a_dot) * back.transpose()).lower_triangle();
        (0..n).for_each(|k| inner[(k, k)] *= 0.5);
        let l_dot = DMatrix::from_fn(n, n, |i, j| if i >= j { d.a_dot[[i, j]] } else { 0.0 });
        let expected = &l * inner;
        assert!((l_dot - &expected).amax() < 1e-12 * expected.amax());
    }
}

/// The tangents of the factors are those that have the tangent of their product and the factors' form.
#[test]
fn factors_of_lu_and_qr() {
    let cpu = Cpu::new();
    for n in [1, 4, 9] {
        let (a, a_dot) = (matrix(n, n, 0.7), matrix(n, n, 0.2));
        let d = lu::lu::jvp(&cpu, a_dot.view(), a.view(), &vec![0; n]).unwrap();
        let eye = DMatrix::<f64>::identity(n, n);
        let split = |a: &Array2<f64>| {
            let (lower, upper) = (lower(a), theirs(a).upper_triangle());
            (&lower - DMatrix::from_diagonal(&lower.diagonal()), upper)
        };
        let ((l, u), (l_dot, u_dot)) = (split(&d.a), split(&d.a_dot));
        let mut exchanged = theirs(&a_dot);
        d.pivots.iter().enumerate().for_each(|(k, step)| exchanged.swap_rows(k, k + step));
        let product = l_dot * &u + (l + eye) * u_dot;
        assert!((product - &exchanged).amax() < 1e-10 * exchanged.amax());
    }
    for (m, n) in [(1, 1), (5, 3), (12, 9)] {
        let (a, a_dot, zero) = (matrix(m, n, 0.6), matrix(m, n, 0.2), Array2::zeros((n, n)));
        let d = qr::gram_schmidt::jvp(&cpu, a_dot.view(), zero.view(), a.view(), zero.view()).unwrap();
        let [q, q_dot, r, r_dot] = [&d.a, &d.a_dot, &d.r, &d.r_dot].map(theirs);
        let product = &q_dot * &r + &q * &r_dot;
        assert!((product - theirs(&a_dot)).amax() < 1e-11);
        // columns stay orthonormal, and the other factor a triangle
        let turned = q.transpose() * &q_dot;
        assert!((&turned + turned.transpose()).amax() < 1e-11 * (1.0 + q_dot.amax()));
        assert!((0..n).all(|j| (j + 1..n).all(|i| r_dot[(i, j)] == 0.0)));
        // the other way has the same triangle up to the signs of its rows
        let h = qr::householder::jvp(&cpu, a_dot.view(), a.view()).unwrap();
        for (i, j) in (0..n).flat_map(|i| (i..n).map(move |j| (i, j))) {
            let sign = h.a[[i, i]].signum();
            assert!(abs_diff_eq!(sign * h.a_dot[[i, j]], r_dot[(i, j)], epsilon = 1e-10 * r_dot.amax()));
        }
    }
}

/// `λ̇ = vᵀ Ȧ v`, and second derivatives by the gaps between eigenvalues.
#[test]
fn eigenvalues() {
    let cpu = Cpu::new();
    for a in [definite(3, 0.3), Array2::from_diag(&ndarray::arr1(&[1.0, 2.5, 7.0])), definite(5, 0.1)] {
        let n = a.nrows();
        let (b, zero) = (matrix(n, n, 0.2), Array1::zeros(n));
        let a_dot = &b + &b.t();
        let d =
            eigen::eigenvalues::jvp(&cpu, zero.view(), a_dot.view(), 0.0, zero.view(), a.view(), 10, -1.0);
        let d = d.unwrap();
        let known = theirs(&a).symmetric_eigen();
        for (value, slope) in known.eigenvalues.iter().zip(known.eigenvectors.column_iter()) {
            let expected = (slope.transpose() * theirs(&a_dot) * slope)[0];
            let at = d.values.iter().position(|v| abs_diff_eq!(*v, *value, epsilon = 1e-9)).unwrap();
            assert!(abs_diff_eq!(d.values_dot[at], expected, epsilon = 1e-10), "{expected}");
        }
        let w = matrix(1, n, 0.6).row(0).to_owned();
        let by_a = formulas::weighted_eigenvalues::A;
        let hessian = |tolerance: f64| {
            rows(
                &formulas::weighted_eigenvalues::hessian_wrt(&cpu, by_a, a.view(), w.view(), 10, tolerance)
                    .unwrap(),
            )
        };
        let expected = of_eigenvalues(&a, &d.values.to_vec(), &w.to_vec());
        near(&along_symmetric(&hessian(-1.0), n), &expected, 1e-9);
        // with a tolerance the diagonal matrix has no angles, nor what follows from them
        if a[[0, 1]] == 0.0 {
            assert!(hessian(1e-8).iter().flatten().all(|h| *h == 0.0));
        }
    }
}

#[test]
fn rotations() {
    let (x, w, angles) = (matrix(4, 2, 0.9), matrix(4, 2, 0.1), [0.4, -1.3, 2.2, 0.1, 0.9, -0.5]);
    let wrt = formulas::weighted_rotations::X | formulas::weighted_rotations::ANGLES;
    let h = formulas::weighted_rotations::hessian_wrt(&Cpu::new(), wrt, x.view(), &angles, w.view()).unwrap();
    near(&rows(&h), &of_rotations(&x, &angles, &w), 1e-13);
}

#[test]
fn moments_and_densities() {
    let (cpu, n) = (Cpu::with_threads(2), 7);
    let x = matrix(n, 3, 0.4);
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let numbers = x.column(0).to_vec();
    let h = statistics::variance::hessian(&cpu, &numbers).unwrap();
    near(&rows(&h), &DMatrix::from_fn(n, n, |i, j| (unit(i, j) - 1.0 / 7.0) / 3.0), 1e-14);
    let (mean, s) = (0.3, 1.5);
    let h = statistics::normal_log_density::hessian(&cpu, 1.0, mean, s).unwrap();
    let z = (1.0 - mean) / s;
    let by_hand = [[-1.0, 1.0, 2.0 * z], [1.0, -1.0, -2.0 * z], [2.0 * z, -2.0 * z, 1.0 - 3.0 * z * z]];
    near(&rows(&h), &DMatrix::from_fn(3, 3, |i, j| by_hand[i][j] / (s * s)), 1e-14);
    // (Ẋᵀ D + Dᵀ Ẋ)/(n - 1) for deviations D
    let (x_dot, zero) = (matrix(n, 3, 0.1), Array2::zeros((3, 3)));
    let d =
        statistics::covariance_matrix::jvp(&cpu, zero.view(), x_dot.view(), zero.view(), x.view()).unwrap();
    let deviations = &x - &x.mean_axis(ndarray::Axis(0)).unwrap();
    let product = theirs(&x_dot).transpose() * theirs(&deviations) / 6.0;
    same(&d.c_dot, &(&product + product.transpose()), 1e-13);
    // what edge pushing has, on the interpreter
    let (a, b) = (x.column(1).to_vec(), x.column(2).to_vec());
    let pushed = statistics::correlation::hessian_pushed(&a, &b).unwrap().to_dense();
    let h = statistics::correlation::hessian(&cpu, &a, &b).unwrap();
    near(&rows(&h), &DMatrix::from_fn(2 * n, 2 * n, |i, j| pushed[i][j]), 1e-12);
    let (mean, c) = (x.row(0), definite(3, 0.3));
    let pushed =
        statistics::multivariate_normal::hessian_pushed(x.view(), mean, c.view()).unwrap().to_dense();
    let h = statistics::multivariate_normal::hessian(&cpu, x.view(), mean, c.view()).unwrap();
    let size = 3 * n + 3 + 9;
    near(&rows(&h), &DMatrix::from_fn(size, size, |i, j| pushed[i][j]), 1e-12);
}

/// A matrix of 3 rows and 4 columns with an empty row: starts, columns, values.
const A: (&[usize], &[usize], &[f64]) = (&[0, 2, 2, 5], &[0, 3, 0, 1, 2], &[1.5, -2.0, 0.5, 3.0, -0.25]);
/// Another one.
const B: (&[usize], &[usize], &[f64]) = (&[0, 1, 2, 5], &[3, 1, 0, 2, 3], &[0.75, 1.0, -1.5, 2.0, 4.0]);

/// The entries of a sparse matrix by their places.
fn entry(m: (&[usize], &[usize]), k: usize) -> (usize, usize) {
    (m.0.iter().rposition(|start| *start <= k).unwrap(), m.1[k])
}

#[test]
fn sparse_products() {
    let cpu = Cpu::new();
    let dense = |values: &[f64]| {
        let mut m = Array2::zeros((3, 4));
        values.iter().enumerate().for_each(|(k, v)| m[entry((A.0, A.1), k)] = *v);
        m
    };
    let (v, x, w) = ([0.3, -0.7, 1.1, 0.2, 2.0], [1.0, 0.5, -1.0, 2.0], [0.4, -0.1, 0.9, 1.2]);
    let d = sparse::matvec::jvp(&cpu, &[0.0; 3], &v, &w, &[0.0; 3], A.0, A.1, A.2, &x).unwrap();
    let [x, w] = [x, w].map(|x| ndarray::Array1::from(x.to_vec()));
    close(&d.y_dot, &(dense(&v).dot(&x) + dense(A.2).dot(&w)).to_vec());
    // entries in the same place, as pairs
    let shared = |i: usize, j: usize| f64::from(u8::from(entry((A.0, A.1), i) == entry((B.0, B.1), j)));
    let h = sparse::dot::hessian(&cpu, A.0, A.1, A.2, B.0, B.1, B.2).unwrap();
    let expected = DMatrix::from_fn(10, 10, |p, q| match (p / 5, q / 5) {
        (0, 1) => shared(p, q - 5),
        (1, 0) => shared(q, p - 5),
        _ => 0.0,
    });
    assert_eq!(expected.sum(), 6.0);
    near(&rows(&h), &expected, 1e-15);
    let h = sparse::dot_at::hessian(&cpu, A.2, &[1, 2, 4], B.2, &[0, 2, 3]).unwrap();
    near(&rows(&h), &expected, 1e-15);
}

/// Transforms are linear: the tangent is the transform of the tangent, bit for bit.
#[test]
fn transforms() {
    let cpu = Cpu::new();
    let signal = |n: usize, by: f64| {
        Array1::from_shape_fn(n, |i| Complex::new(f64::sin(by + i as f64), f64::cos(by * i as f64)))
    };
    for n in [1, 2, 64] {
        let (x, v) = (signal(n, 0.7), signal(n, 1.9));
        let d = fft::fft::jvp(&cpu, v.view(), x.view()).unwrap();
        let near = |found: &Array1<Complex<f64>>, expected: &Array1<Complex<f64>>| {
            assert!(found.iter().zip(expected).all(|(f, e)| abs_diff_eq!(
                (f - e).norm(),
                0.0,
                epsilon = 1e-13
            )));
        };
        near(&d.x, &fft::plain::dft(x.as_slice().unwrap()).into());
        near(&d.x_dot, &fft::plain::dft(v.as_slice().unwrap()).into());
        let (d, mut turned) = (fft::real_fft::jvp(&cpu, v.view(), x.view()).unwrap(), v.clone());
        fft::real_fft(turned.view_mut()).unwrap();
        near(&d.z_dot, &turned);
    }
    let (x, v) = (signal(32, 0.7), signal(32, 1.9));
    let [x, v] = [x, v].map(|x| x.into_shape_with_order((4, 8)).unwrap());
    let (d, mut turned) = (fft::fft2::jvp(&cpu, v.view(), x.view()).unwrap(), v.clone());
    fft::fft2(turned.view_mut()).unwrap();
    assert!(d.x_dot.iter().zip(&turned).all(|(f, e)| abs_diff_eq!((f - e).norm(), 0.0, epsilon = 1e-14)));
}

/// `y += x²`, both to map and to fold.
#[reversible(tangent)]
fn add_square<T: Real>(y: &mut T, x: &T) {
    *y += *x * *x;
}

#[test]
fn sorts_and_running_sums() {
    let cpu = Cpu::new();
    let (x, v) = ([0.5, -1.5, 2.25, 3.0, -0.75, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (zero, order) = ([0.0; 6], sorting::plain::argsort(&x));
    let d = sorting::sorted::jvp(&cpu, &zero, &v, &zero, &x).unwrap();
    let moved: Vec<f64> = order.iter().map(|i| v[*i]).collect();
    assert_eq!(d.y_dot, moved);
    let d = sorting::sort::jvp(&cpu, &v, &x, &[0; 6]).unwrap();
    assert_eq!((d.x_dot.to_vec(), d.order.to_vec()), (moved, order));
    let d = sorting::cumulative_sum::jvp(&cpu, &v, &x).unwrap();
    close(&d.x_dot, &sorting::plain::cumulative_sum(&v));
    // the sum over one factor's tangent in its place
    let d = sorting::cumulative_product::jvp(&cpu, &zero, &v, &zero, &x).unwrap();
    let with = |k: usize, n: usize| (0..=n).map(|i| if i == k { v[i] } else { x[i] }).product::<f64>();
    let expected: Vec<f64> = (0..6).map(|n| (0..=n).map(|k| with(k, n)).sum()).collect();
    close(&d.y_dot, &expected);
    let d = sorting::running_maximum::jvp(&cpu, &zero, &v, &zero, &x).unwrap();
    assert_eq!(d.y_dot, [1.0, 1.0, 3.0, 4.0, 4.0, 4.0]);
    let d = sorting::records::jvp(&cpu, &zero, &v, &zero, &[0; 6], &0, &x).unwrap();
    assert_eq!((d.y_dot.to_vec(), d.count), (vec![1.0, 3.0, 4.0, 0.0, 0.0, 0.0], 3));
    let d =
        sorting::histogram::jvp(&cpu, &[0.0; 2], &zero, &v, 0.0, 0.0, &[0.0; 2], &x, &v, -2.0, 4.0).unwrap();
    assert_eq!(d.bins_dot, [1.0 + 2.0 + 5.0, 3.0 + 4.0 + 6.0 - 6.0 + 6.0]);
    // Σ x⁴
    let (square, tangent) = (add_square {}, add_square::TANGENT);
    let h = sorting::map_and_fold::hessian(&cpu, tangent, tangent, &x, square, square).unwrap();
    near(&rows(&h), &DMatrix::from_fn(6, 6, |i, j| if i == j { 12.0 * x[i] * x[i] } else { 0.0 }), 1e-14);
}

/// What is left of columns after a reflection that keeps their lengths: the lengths' tangents are those of the columns.
#[test]
fn products_with_the_factor_of_reflections() {
    let (a, b, cpu) = (matrix(6, 3, 0.6), matrix(6, 2, 0.9), Cpu::new());
    let (mut factors, b_dot) = (a.clone(), matrix(6, 2, 0.1));
    qr::householder(factors.view_mut()).unwrap();
    let factors_dot = matrix(6, 3, 0.3);
    let d =
        qr::transposed_times::jvp(&cpu, b_dot.view(), factors_dot.view(), b.view(), factors.view()).unwrap();
    for j in 0..2 {
        let before = b.column(j).dot(&b_dot.column(j));
        let after = d.b.column(j).dot(&d.b_dot.column(j));
        assert!(abs_diff_eq!(before, after, epsilon = 1e-13), "{before} and {after}");
    }
    // with the tangent that the factorization gives, A's own columns turn into R
    let a_dot = matrix(6, 3, 0.2);
    let factored = qr::householder::jvp(&cpu, a_dot.view(), a.view()).unwrap();
    let d = qr::transposed_times::jvp(&cpu, a_dot.view(), factored.a_dot.view(), a.view(), factored.a.view());
    let d = d.unwrap();
    for ((i, j), found) in d.b_dot.indexed_iter() {
        let expected = if i <= j { factored.a_dot[[i, j]] } else { 0.0 };
        assert!(abs_diff_eq!(*found, expected, epsilon = 1e-12), "({i}, {j})");
    }
    assert_eq!(d.b.slice(s![3.., ..]).len(), 9);
}
