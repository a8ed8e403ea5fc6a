//! Second derivatives by edge pushing against formulas: determinants, inverses, solutions, eigenvalues, rotations.
#![allow(clippy::unwrap_used)]

#[path = "support/second.rs"]
mod formulas;
#[path = "../../tests/support/hessian.rs"]
mod support;

use formulas::{
    along_symmetric, definite, lower_unit, matrix, near, of_det, of_eigenvalues, of_rotations, of_solution,
    unit,
};
use ndarray::{Array1, Array2};
use rev_algebra::{eigen, factorize::lu};
use support::hessian;

#[test]
fn determinants() {
    // with exchanges and without, of one block and of two
    for a in [
        matrix(2, 2, 0.3),
        matrix(3, 3, 0.7),
        matrix(4, 4, 0.2) + 3.0 * Array2::<f64>::eye(4),
        matrix(9, 9, 0.7),
    ] {
        near(&hessian!(lu::det, a), &of_det(&a), 1e-10);
    }
}

#[test]
fn inverses() {
    for n in [1, 3, 4, 9] {
        let (a, w) = (matrix(n, n, 0.7), matrix(n, n, 0.4));
        let expected = of_solution(&a, &Array2::eye(n), &w, |n, p| unit(n, n, p));
        let by_a = expected.view((0, 0), (n * n, n * n)).into_owned();
        near(&hessian!(formulas::weighted_inverse, a, w), &by_a, 1e-10);
    }
}

#[test]
fn solutions_by_cholesky() {
    for (n, m) in [(1, 1), (3, 2), (9, 1)] {
        let (a, b, w) = (definite(n, 0.3), matrix(n, m, 0.8), matrix(n, m, 0.4));
        let h = hessian!(formulas::weighted_solution, a, b, w);
        near(&h, &of_solution(&a, &b, &w, lower_unit), 1e-10);
    }
}

#[test]
fn eigenvalues() {
    // the second one is diagonal: only angles of zero have its derivatives
    for a in [definite(3, 0.3), Array2::from_diag(&ndarray::arr1(&[1.0, 2.5, 7.0])), definite(5, 0.1)] {
        let n = a.nrows();
        let (w, mut values) = (matrix(1, n, 0.6).row(0).to_owned(), Array1::zeros(n));
        eigen::eigenvalues(values.view_mut(), a.view(), 10, -1.0).unwrap();
        let h = hessian!(formulas::weighted_eigenvalues, a, w, 10usize, -1.0);
        near(&along_symmetric(&h, n), &of_eigenvalues(&a, &values.to_vec(), &w.to_vec()), 1e-9);
    }
}

#[test]
fn rotations() {
    let (x, w, angles) = (matrix(4, 2, 0.9), matrix(4, 2, 0.1), [0.4, -1.3, 2.2, 0.1, 0.9, -0.5]);
    near(&hessian!(formulas::weighted_rotations, x, &angles[..], w), &of_rotations(&x, &angles, &w), 1e-13);
}
