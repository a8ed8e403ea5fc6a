//! Factorizations against products of the factors, against plain loops and another crate, and gradients against formulas.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use nalgebra::DMatrix;
use ndarray::{arr2, s, Array2, ArrayView2, ArrayViewMut2, Axis};
use rev_algebra::factorize::triangular::BLOCK;
use rev_algebra::factorize::{cholesky, lu, qr, triangular};
use rev_cpu::prelude::*;

fn matrix(rows: usize, columns: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        (seed + 12.9898 * i as f64 + 78.233 * j as f64 + 3.7 * (i * j) as f64).sin()
    })
}

fn definite(n: usize, seed: f64) -> Array2<f64> {
    let a = matrix(n, n, seed);
    a.dot(&a.t()) + Array2::<f64>::eye(n)
}

fn theirs(a: &Array2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
}

fn close(got: ArrayView2<f64>, expected: ArrayView2<f64>, tolerance: f64) {
    approx::assert_relative_eq!(got, expected, epsilon = tolerance, max_relative = tolerance);
}

fn lower(a: &Array2<f64>, unit: bool) -> Array2<f64> {
    Array2::from_shape_fn(a.dim(), |(i, j)| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal if unit => 1.0,
        std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => a[[i, j]],
    })
}

fn upper(a: &Array2<f64>) -> Array2<f64> {
    lower(&a.t().to_owned(), false).t().to_owned()
}

/// Sizes within a block of rows, at its end, one further, and of several blocks.
const SIZES: [usize; 9] = [1, 2, 5, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3, 4 * BLOCK, 5 * BLOCK + 1];

#[test]
fn triangles() {
    let interpreter = rev_core::interp::Interpreter::new();
    for n in SIZES {
        for columns in [1, 3, 9] {
            // weights that fall off the diagonal, for inverses of moderate size
            let t = Array2::from_shape_fn((n, n), |(i, j)| match i == j {
                true => 1.0 + (i % 3) as f64,
                false => f64::sin((3 * i + 7 * j) as f64) / (1.0 + i.abs_diff(j) as f64),
            });
            let b = matrix(n, columns, 0.8);
            let product = |triangle: &Array2<f64>, x: &Array2<f64>| triangle.dot(x);
            let as_plain = |x: &Array2<f64>, solve: fn(ArrayViewMut2<f64>, ArrayView2<f64>)| {
                let mut expected = b.clone();
                solve(expected.view_mut(), t.view());
                close(x.view(), expected.view(), 1e-11);
            };
            let mut x = b.clone();
            triangular::solve_lower(x.view_mut(), t.view()).unwrap();
            as_plain(&x, triangular::plain::solve_lower);
            close(product(&lower(&t, false), &x).view(), b.view(), 1e-11);
            triangular::solve_lower::inverse(x.view_mut(), t.view()).unwrap();
            close(x.view(), b.view(), 1e-11);
            triangular::solve_unit_lower(x.view_mut(), t.view()).unwrap();
            as_plain(&x, triangular::plain::solve_unit_lower);
            close(product(&lower(&t, true), &x).view(), b.view(), 1e-11);
            triangular::solve_unit_lower::run_inverse(&interpreter, x.view_mut(), t.view()).unwrap();
            close(x.view(), b.view(), 1e-11);
            triangular::solve_upper(x.view_mut(), t.view()).unwrap();
            as_plain(&x, triangular::plain::solve_upper);
            close(product(&upper(&t), &x).view(), b.view(), 1e-11);
            triangular::solve_upper::run_inverse(&interpreter, x.view_mut(), t.view()).unwrap();
            close(x.view(), b.view(), 1e-11);
            triangular::solve_lower_transposed(x.view_mut(), t.view()).unwrap();
            as_plain(&x, triangular::plain::solve_lower_transposed);
            close(product(&lower(&t, false).t().to_owned(), &x).view(), b.view(), 1e-11);
            triangular::solve_lower_transposed::inverse(x.view_mut(), t.view()).unwrap();
            close(x.view(), b.view(), 1e-11);
        }
    }
    let cpu = Cpu::new();
    for n in [5, BLOCK + 2] {
        let (t, b) = (definite(n, 0.3), matrix(n, 3, 0.8));
        for report in [
            triangular::solve_lower::check_gradient(&cpu, b.view(), t.view()).unwrap(),
            triangular::solve_unit_lower::check_gradient(&cpu, b.view(), t.view()).unwrap(),
            triangular::solve_upper::check_gradient(&cpu, b.view(), t.view()).unwrap(),
            triangular::solve_lower_transposed::check_gradient(&cpu, b.view(), t.view()).unwrap(),
        ] {
            assert!(report.passed(), "{report}");
        }
    }
}

#[test]
fn lu_is_the_matrix_and_goes_back() {
    for n in SIZES {
        let a = matrix(n, n, 0.4);
        let (mut factors, mut pivots) = (a.clone(), vec![0; n]);
        lu::lu(factors.view_mut(), &mut pivots).unwrap();
        assert!(lower(&factors, true).iter().all(|l| l.abs() <= lu::MARGIN));
        let mut permuted = a.clone();
        for (k, step) in pivots.iter().enumerate() {
            (0..n).for_each(|j| permuted.swap([k, j], [k + step, j]));
        }
        close(lower(&factors, true).dot(&upper(&factors)).view(), permuted.view(), 1e-12);
        lu::lu::inverse(factors.view_mut(), &mut pivots).unwrap();
        close(factors.view(), a.view(), 1e-12);
        assert_eq!(pivots, vec![0; n]);
        if n > 1 && n < 3 * BLOCK {
            let report = lu::lu::check_gradient(&Cpu::new(), a.view(), &vec![0; n]).unwrap();
            assert!(report.passed(), "{report}");
        }
    }
}

/// Elements of one size everywhere: which is the pivot is decided in the same way on the way back.
#[test]
fn ties_between_pivots() {
    let signs = |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 0.3 } else { -0.3 };
    let a = Array2::from_shape_fn((16, 16), |(i, j)| signs(i, j));
    let (mut factors, mut pivots) = (a.clone(), vec![0; 16]);
    lu::lu(factors.view_mut(), &mut pivots).unwrap();
    lu::lu::inverse(factors.view_mut(), &mut pivots).unwrap();
    assert_eq!(pivots, vec![0; 16]);
    close(factors.view(), a.view(), 1e-14);
}

#[test]
fn determinants() {
    let cpu = Cpu::new();
    for n in SIZES {
        let a = matrix(n, n, 0.7);
        let expected = theirs(&a).determinant();
        let size = expected.abs().max(1.0);
        let mut y = 0.5;
        lu::det(&mut y, a.view()).unwrap();
        assert_abs_diff_eq!(y - 0.5, expected, epsilon = 1e-12 * size);
        assert_abs_diff_eq!(lu::plain::det(a.view()), expected, epsilon = 1e-12 * size);
        assert_abs_diff_eq!(lu::plain::logdet(a.view()), expected.abs().ln(), epsilon = 1e-12);
        lu::det::inverse(&mut y, a.view()).unwrap();
        assert_abs_diff_eq!(y, 0.5, epsilon = 1e-15 * size);
        // d det A = det A tr(A⁻¹ dA)
        let inverse = theirs(&a).try_inverse().unwrap();
        let slopes = Array2::from_shape_fn((n, n), |(i, j)| inverse[(j, i)]);
        let g = lu::det::gradient(&cpu, a.view()).unwrap();
        close((&g.a / size).view(), (expected / size * &slopes).view(), 1e-11);
        let g = lu::logdet::gradient(&cpu, a.view()).unwrap();
        assert_abs_diff_eq!(g.value, expected.abs().ln(), epsilon = 1e-12);
        close(g.a.view(), slopes.view(), 1e-11);
    }
    let report = lu::det::check_gradient(&cpu, &0.0, matrix(5, 5, 0.2).view()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn singular_matrices() {
    // of rank n - 1, where the last pivot is the one that is zero: the gradient is that of the minors
    let a = arr2(&[[1.0, 2.0], [2.0, 4.0]]);
    let g = lu::det::gradient(&Cpu::new(), a.view()).unwrap();
    assert_eq!((g.value, g.a), (0.0, arr2(&[[4.0, -2.0], [-2.0, 1.0]])));
    let mut y = 0.0;
    let zeros = Array2::<f64>::zeros((3, 3));
    assert_eq!((lu::plain::det(zeros.view()), lu::plain::logdet(zeros.view())), (0.0, f64::NEG_INFINITY));
    assert_eq!((lu::plain::invert(zeros.view()), cholesky::plain::logdet(zeros.view())), (None, None));
    let error = lu::det(&mut y, zeros.view()).unwrap_err().to_string();
    assert!(error.contains("unscale_by(a[[i, k]], a[[k, k]])"), "{error}");
    let mut x = Array2::zeros((2, 1));
    let error = lu::solve(x.view_mut(), a.view(), arr2(&[[1.0], [1.0]]).view()).unwrap_err().to_string();
    assert!(error.contains("unscale_by"), "{error}");
    let error = cholesky::cholesky(arr2(&[[1.0, 2.0], [2.0, 1.0]]).view_mut()).unwrap_err().to_string();
    assert!(error.contains("root"), "{error}");
    let error = cholesky::cholesky(zeros.clone().view_mut()).unwrap_err().to_string();
    assert!(error.contains("unscale_by"), "{error}");
}

#[test]
fn systems_and_inverses() {
    let cpu = Cpu::new();
    for n in SIZES {
        let (a, b) = (matrix(n, n, 0.9), matrix(n, 2, 0.1));
        let mut x = Array2::zeros((n, 2));
        lu::solve(x.view_mut(), a.view(), b.view()).unwrap();
        close(x.view(), lu::plain::solve(a.view(), b.view()).unwrap().view(), 1e-10);
        lu::solve::inverse(x.view_mut(), a.view(), b.view()).unwrap();
        close(x.view(), Array2::zeros((n, 2)).view(), 1e-12);
        let mut c = Array2::zeros((n, n));
        lu::invert(c.view_mut(), a.view()).unwrap();
        close(c.dot(&a).view(), Array2::eye(n).view(), 1e-10);
        close(c.view(), lu::plain::invert(a.view()).unwrap().view(), 1e-10);
        lu::invert::inverse(c.view_mut(), a.view()).unwrap();
        close(c.view(), Array2::zeros((n, n)).view(), 1e-11);
        // Ā = -A⁻ᵀ C̄ A⁻ᵀ
        let (seed, inverse) = (matrix(n, n, 0.5), theirs(&a).try_inverse().unwrap());
        let inverse = Array2::from_shape_fn((n, n), |(i, j)| inverse[(i, j)]);
        let g = lu::invert::vjp(&cpu, seed.view(), c.view(), a.view()).unwrap();
        close(g.a_bar.view(), (-inverse.t().dot(&seed).dot(&inverse.t())).view(), 1e-9);

        let spd = definite(n, 0.3);
        cholesky::solve(x.view_mut(), spd.view(), b.view()).unwrap();
        close(spd.dot(&x).view(), b.view(), 1e-11);
        close(x.view(), cholesky::plain::solve(spd.view(), b.view()).unwrap().view(), 1e-11);
    }
    for n in SIZES {
        let (a, b, seed) = (matrix(n, n, 0.9), matrix(n, 2, 0.1), matrix(n, 2, 0.5));
        let x = Array2::zeros((n, 2));
        let g = lu::solve::vjp(&cpu, seed.view(), x.view(), a.view(), b.view()).unwrap();
        // b̄ = A⁻ᵀ x̄ and Ā = -b̄ xᵀ
        let b_bar = lu::plain::solve(a.t(), seed.view()).unwrap();
        close(g.b_bar.view(), b_bar.view(), 1e-10);
        close(g.a_bar.view(), (-b_bar.dot(&g.x.t())).view(), 1e-10);
    }
    let (a, b, x) = (matrix(4, 4, 0.9), matrix(4, 2, 0.1), Array2::zeros((4, 2)));
    for report in [
        lu::solve::check_gradient(&cpu, x.view(), a.view(), b.view()).unwrap(),
        lu::invert::check_gradient(&cpu, matrix(4, 4, 0.0).view(), a.view()).unwrap(),
        cholesky::solve::check_gradient(&cpu, x.view(), definite(4, 0.6).view(), b.view()).unwrap(),
    ] {
        assert!(report.passed(), "{report}");
    }
    // one right side
    let (mut x, b) = (ndarray::Array1::zeros(4), b.column(0).to_owned());
    lu::solve(x.view_mut().insert_axis(Axis(1)), a.view(), b.view().insert_axis(Axis(1))).unwrap();
    assert!((a.dot(&x) - b).iter().all(|&r| abs_diff_eq!(r, 0.0, epsilon = 1e-12)));
}

#[test]
fn cholesky_there_and_back() {
    for n in SIZES {
        let a = definite(n, 0.2);
        let mut l = a.clone();
        cholesky::cholesky(l.view_mut()).unwrap();
        close(lower(&l, false).view(), cholesky::plain::cholesky(a.view()).unwrap().view(), 1e-13);
        cholesky::cholesky::inverse(l.view_mut()).unwrap();
        close(l.view(), a.view(), 1e-12);
        if n < 3 * BLOCK {
            let report = cholesky::cholesky::check_gradient(&Cpu::new(), a.view()).unwrap();
            assert!(report.passed(), "{report}");
        }
        // by the lower triangle, of which an element below the diagonal stands for two
        let g = cholesky::logdet::gradient(&Cpu::new(), a.view()).unwrap();
        let inverse = theirs(&a).try_inverse().unwrap();
        assert_abs_diff_eq!(g.value, theirs(&a).determinant().ln(), epsilon = 1e-11);
        assert_abs_diff_eq!(g.value, cholesky::plain::logdet(a.view()).unwrap(), epsilon = 1e-11);
        let expected = Array2::from_shape_fn((n, n), |(i, j)| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => inverse[(i, i)],
            std::cmp::Ordering::Greater => 2.0 * inverse[(i, j)],
        });
        close(g.a.view(), expected.view(), 1e-11);
    }
}

#[test]
fn reflections() {
    for (rows, columns) in [(1, 1), (4, 1), (5, 3), (6, 6), (20, 11)] {
        let a = matrix(rows, columns, 0.6);
        let mut factors = a.clone();
        qr::householder(factors.view_mut()).unwrap();
        // Q times the triangle is the matrix; Q is orthogonal
        close(factors.view(), qr::plain::householder(a.view()).view(), 1e-12);
        let r = upper_part(&factors);
        let mut product = r.clone();
        qr::transposed_times::inverse(product.view_mut(), factors.view()).unwrap();
        close(product.view(), a.view(), 1e-13);
        let mut q = Array2::eye(rows);
        qr::transposed_times(q.view_mut(), factors.view()).unwrap();
        close(q.dot(&q.t()).view(), Array2::eye(rows).view(), 1e-13);
        let (theirs, ours) = (theirs(&a).qr().r(), r.slice(s![..columns, ..]).to_owned());
        ours.indexed_iter()
            .for_each(|((i, j), r)| assert_abs_diff_eq!(r.abs(), theirs[(i, j)].abs(), epsilon = 1e-12));
        qr::householder::inverse(factors.view_mut()).unwrap();
        close(factors.view(), a.view(), 1e-12);
    }
    let (a, b) = (matrix(5, 3, 0.6), matrix(5, 2, 0.8));
    let report = qr::householder::check_gradient(&Cpu::new(), a.view()).unwrap();
    assert!(report.passed(), "{report}");
    let report = qr::transposed_times::check_gradient(&Cpu::new(), b.view(), a.view()).unwrap();
    assert!(report.passed(), "{report}");
    assert!(qr::householder(Array2::<f64>::zeros((3, 2)).view_mut()).is_err());
}

fn upper_part(a: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(a.dim(), |(i, j)| if i <= j { a[[i, j]] } else { 0.0 })
}

#[test]
fn gram_and_schmidt() {
    for (rows, columns) in [(1, 1), (5, 3), (6, 6), (20, 11)] {
        let a = matrix(rows, columns, 0.6);
        let (mut q, mut r) = (a.clone(), Array2::zeros((columns, columns)));
        qr::gram_schmidt(q.view_mut(), r.view_mut()).unwrap();
        let (q_plain, r_plain) = qr::plain::gram_schmidt(a.view());
        close(q.view(), q_plain.view(), 1e-10);
        close(r.view(), r_plain.view(), 1e-10);
        close(q.dot(&r).view(), a.view(), 1e-13);
        qr::gram_schmidt::inverse(q.view_mut(), r.view_mut()).unwrap();
        close(q.view(), a.view(), 1e-13);
        close(r.view(), Array2::zeros((columns, columns)).view(), 1e-13);
    }
    let (a, r) = (matrix(5, 3, 0.6), Array2::zeros((3, 3)));
    let report = qr::gram_schmidt::check_gradient(&Cpu::new(), a.view(), r.view()).unwrap();
    assert!(report.passed(), "{report}");
}

/// The place that each column had before.
fn order(columns: usize, pivots: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..columns).collect();
    pivots.iter().enumerate().for_each(|(k, step)| order.swap(k, k + step));
    order
}

#[test]
fn reflections_of_the_longest_columns() {
    for (rows, columns, deficient) in
        [(1, 1, 1), (5, 3, 3), (3, 5, 3), (6, 6, 6), (20, 11, 11), (8, 8, 4), (10, 6, 3), (4, 9, 2)]
    {
        // of a rank that is at most `deficient`, with columns of very different lengths
        let mut a = matrix(rows, deficient, 0.6).dot(&matrix(deficient, columns, 0.9));
        for (j, mut column) in a.columns_mut().into_iter().enumerate() {
            column *= (1u32 << (7 * j % columns)) as f64;
        }
        let least = rows.min(columns);
        let (mut factors, mut pivots, mut rank) = (a.clone(), vec![0; least], 0);
        qr::pivoted(factors.view_mut(), &mut pivots, &mut rank, 1e-11).unwrap();
        let order = order(columns, &pivots);
        assert_eq!(rank, deficient, "{rows} by {columns}");
        let mut exchanged = Array2::zeros((rows, columns));
        order.iter().enumerate().for_each(|(k, j)| exchanged.column_mut(k).assign(&a.column(*j)));

        // Q R with the reflections of the first columns, and nothing below the rank
        let below = |(i, j): (usize, usize)| if i <= j && i < rank { factors[[i, j]] } else { 0.0 };
        let r = Array2::from_shape_fn((rows, columns), below);
        let mut product = r.clone();
        qr::transposed_times::inverse(product.view_mut(), factors.slice(s![.., ..rank])).unwrap();
        close(product.view(), exchanged.view(), 1e-12);
        for k in 1..rank {
            assert!(r[[k, k]].abs() <= lu::MARGIN * r[[k - 1, k - 1]].abs());
        }
        // plain Rust chooses the same columns, as no two lengths are within the margin; another crate gets them in this order
        let (by_plain, plain_order, plain_rank) = qr::plain::pivoted(a.view(), 1e-11);
        assert_eq!((&order[..rank], rank), (&plain_order[..rank], plain_rank));
        let theirs = theirs(&exchanged).qr().r();
        for i in 0..rank {
            for j in i..rank {
                assert_abs_diff_eq!(r[[i, j]].abs(), by_plain[[i, j]].abs(), epsilon = 1e-11);
            }
            assert_abs_diff_eq!(
                r[[i, i]].abs(),
                theirs[(i, i)].abs(),
                epsilon = 1e-11 * theirs[(0, 0)].abs()
            );
        }
        for device in [&Cpu::new() as &dyn Device, &rev_core::interp::Interpreter::new()] {
            let (mut factors, mut pivots, mut rank) = (a.clone(), vec![0; least], 0);
            qr::pivoted::run(device, factors.view_mut(), &mut pivots, &mut rank, 1e-11).unwrap();
            qr::pivoted::run_inverse(device, factors.view_mut(), &mut pivots, &mut rank, 1e-11).unwrap();
            close(factors.view(), a.view(), 1e-12);
            assert_eq!((pivots, rank), (vec![0; least], 0));
        }
    }
    for (rows, columns) in [(5, 3), (3, 5), (4, 4)] {
        let (a, least) = (matrix(rows, columns, 0.6), rows.min(columns));
        let report = qr::pivoted::check_gradient(&Cpu::new(), a.view(), &vec![0; least], &0, 1e-11).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn ranks_that_are_special() {
    let tie = Array2::from_shape_fn(
        (8, 8),
        |(i, j): (usize, usize)| {
            if (i & j).count_ones().is_multiple_of(2) {
                0.5
            } else {
                -0.5
            }
        },
    );
    let ones = Array2::ones((4, 3));
    let zeros = Array2::zeros((3, 3));
    let unit = arr2(&[[0.0, 0.0], [0.0, 2.0], [0.0, 0.0]]);
    for (a, expected) in [(tie, 8), (ones, 1), (zeros, 0), (unit, 1), (Array2::eye(4), 4)] {
        let least = a.nrows().min(a.ncols());
        for tolerance in [1e-10, 0.0] {
            // what rounding leaves of ones isn't zero
            if tolerance == 0.0 && expected == 1 && a[[0, 0]] == 1.0 {
                continue;
            }
            let (mut factors, mut pivots, mut rank) = (a.clone(), vec![0; least], 0);
            qr::pivoted(factors.view_mut(), &mut pivots, &mut rank, tolerance).unwrap();
            assert_eq!(rank, expected, "{a}");
            qr::pivoted::inverse(factors.view_mut(), &mut pivots, &mut rank, tolerance).unwrap();
            close(factors.view(), a.view(), 1e-14);
            assert_eq!((pivots, rank), (vec![0; least], 0));
        }
    }
    let mut a = matrix(3, 3, 0.2);
    assert!(qr::pivoted(a.view_mut(), &mut [0; 2], &mut 0, 1e-10).is_err());
    assert!(qr::pivoted(matrix(3, 3, 0.2).view_mut(), &mut [0; 3], &mut 2, 1e-10).is_err());
}

/// Zeros at the head of columns, whose sign isn't known on the way back.
#[test]
fn reflections_of_zeros() {
    let exchanged = arr2(&[[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 1.0], [1.0, 0.0, 0.5]]);
    let signs = arr2(&[[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]);
    for a in [exchanged, signs, Array2::eye(3) + matrix(3, 3, 0.4) * 1e-12] {
        let mut factors = a.clone();
        qr::householder(factors.view_mut()).unwrap();
        qr::householder::inverse(factors.view_mut()).unwrap();
        close(factors.view(), a.view(), 1e-14);
        let interpreter = rev_core::interp::Interpreter::new();
        qr::householder::run(&interpreter, factors.view_mut()).unwrap();
        qr::householder::run_inverse(&interpreter, factors.view_mut()).unwrap();
        close(factors.view(), a.view(), 1e-14);
    }
}
