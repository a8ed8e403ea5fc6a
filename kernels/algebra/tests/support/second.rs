//! Programs that end in a number, and formulas for their second derivatives: what edge pushing and compiled Hessians are compared with.
#![allow(dead_code)]

use approx::abs_diff_eq;
use nalgebra::DMatrix;
use ndarray::{Array2, ArrayView1, ArrayView2};
use rev_algebra::factorize::{cholesky, lu};
use rev_algebra::{eigen, unitary};
use rev_cpu::prelude::*;

/// `y += Σ w_ij c_ij` for `C = A⁻¹`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_inverse<T: Real>(y: &mut T, a: ArrayView2<T>, w: ArrayView2<T>) {
    let mut c: Array2<T> = zeros((a.nrows(), a.nrows()));
    lu::invert(&mut c, &a);
    *y += contract("ij,ij->", w, c);
}

/// `y += Σ w_ij x_ij` for `X = A⁻¹ B` by Cholesky.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_solution<T: Real>(y: &mut T, a: ArrayView2<T>, b: ArrayView2<T>, w: ArrayView2<T>) {
    let mut x: Array2<T> = zeros((b.nrows(), b.ncols()));
    cholesky::solve(&mut x, &a, &b);
    *y += contract("ij,ij->", w, x);
}

/// `y += Σ w_i λ_i`, in the order of [`eigen::eigenvalues()`].
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_eigenvalues<T: Real>(
    y: &mut T,
    a: ArrayView2<T>,
    w: ArrayView1<T>,
    sweeps: usize,
    tolerance: T,
) {
    let mut values: Array1<T> = zeros(w.len());
    eigen::eigenvalues(&mut values, &a, sweeps, tolerance);
    *y += dot(w, values);
}

/// `y += Σ w_ij x_ij` for what the rotations make of `X`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weighted_rotations<T: Real>(y: &mut T, x: ArrayView2<T>, angles: &[T], w: ArrayView2<T>) {
    let mut turned: Array2<T> = zeros((x.nrows(), x.ncols()));
    turned += entries(x);
    unitary::rotations(&mut turned, &angles);
    *y += contract("ij,ij->", w, turned);
}

/// Numbers without a pattern.
pub fn matrix(rows: usize, columns: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        (seed + 12.9898 * i as f64 + 78.233 * j as f64 + 3.7 * (i * j) as f64).sin()
    })
}

/// A symmetric positive definite matrix.
pub fn definite(n: usize, seed: f64) -> Array2<f64> {
    let a = matrix(n, n, seed);
    a.dot(&a.t()) + Array2::<f64>::eye(n)
}

/// The matrix as another crate has it.
pub fn theirs(a: &Array2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
}

/// The inverse by another crate.
pub fn inverse(a: &Array2<f64>) -> DMatrix<f64> {
    theirs(a).try_inverse().unwrap()
}

/// The matrix of zeros with a one at place `p` of its rows.
pub fn unit(rows: usize, columns: usize, p: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, j| f64::from(u8::from(columns * i + j == p)))
}

/// The matrix by which an element of the lower triangle changes a symmetric one, at both of its places; zero for one of the upper triangle.
pub fn lower_unit(n: usize, p: usize) -> DMatrix<f64> {
    let (i, j) = (p / n, p % n);
    DMatrix::from_fn(n, n, |k, l| f64::from(u8::from(i >= j && ((k, l) == (i, j) || (l, k) == (i, j)))))
}

/// Compares the first rows and columns of a matrix, up to `tolerance` of the largest number that is expected.
pub fn near(found: &[Vec<f64>], expected: &DMatrix<f64>, tolerance: f64) {
    let largest = expected.amax();
    for ((i, j), e) in
        (0..expected.nrows()).flat_map(|i| (0..expected.ncols()).map(move |j| ((i, j), expected[(i, j)])))
    {
        let h = found[i][j];
        assert!(abs_diff_eq!(h, e, epsilon = tolerance * largest), "({i}, {j}): {h} and {e}");
    }
}

/// Of `det A` by `a_ij` and `a_kl`: `det A (c_ji c_lk - c_jk c_li)` for `C = A⁻¹`.
pub fn of_det(a: &Array2<f64>) -> DMatrix<f64> {
    let (n, c, det) = (a.nrows(), inverse(a), theirs(a).determinant());
    DMatrix::from_fn(n * n, n * n, |p, q| {
        let (i, j, k, l) = (p / n, p % n, q / n, q % n);
        det * (c[(j, i)] * c[(l, k)] - c[(j, k)] * c[(l, i)])
    })
}

/// Of `ln |det A|` by `a_ij` and `a_kl`: `-c_jk c_li` for `C = A⁻¹`.
pub fn of_logdet(a: &Array2<f64>) -> DMatrix<f64> {
    let (n, c) = (a.nrows(), inverse(a));
    DMatrix::from_fn(n * n, n * n, |p, q| -c[(p % n, q / n)] * c[(q % n, p / n)])
}

/// Of `Σ w_ij x_ij` for `A X = B` and `C = A⁻¹`, by elements that change `A` by `E` and `F`, and elements that change `B` by `G`:
/// `wᵀ(C E C F X + C F C E X)`, `-wᵀ(C E C G)`, and 0 by two of `B`.
pub fn of_solution(
    a: &Array2<f64>,
    b: &Array2<f64>,
    w: &Array2<f64>,
    change: impl Fn(usize, usize) -> DMatrix<f64>,
) -> DMatrix<f64> {
    let ((n, m), c) = (b.dim(), inverse(a));
    let (x, w) = (&c * theirs(b), theirs(w));
    let by: Vec<_> = (0..n * n).map(|p| &c * change(n, p)).collect();
    let mixed = |e: usize, g: usize| -w.dot(&(&by[e] * &c * unit(n, m, g)));
    DMatrix::from_fn(n * (n + m), n * (n + m), |p, q| match (p < n * n, q < n * n) {
        (true, true) => w.dot(&((&by[p] * &by[q] + &by[q] * &by[p]) * &x)),
        (true, false) => mixed(p, q - n * n),
        (false, true) => mixed(q, p - n * n),
        (false, false) => 0.0,
    })
}

/// Of `Σ w_i λ_i` along symmetric matrices, each of which has ones at `(i, j)` and `(j, i)`:
/// `Σ_i w_i Σ_j 2 (v_iᵀ D v_j)(v_iᵀ E v_j)/(λ_i - λ_j)` for `j ≠ i`. `values` says which weight belongs to which eigenvalue.
pub fn of_eigenvalues(a: &Array2<f64>, values: &[f64], w: &[f64]) -> DMatrix<f64> {
    let (n, theirs) = (a.nrows(), theirs(a).symmetric_eigen());
    let weights: Vec<f64> = theirs.eigenvalues.iter().map(|x| w[nearest(values, *x)]).collect();
    let in_axes: Vec<_> = (0..n * n)
        .map(|p| theirs.eigenvectors.transpose() * symmetric_unit(n, p) * &theirs.eigenvectors)
        .collect();
    let pairs = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
    DMatrix::from_fn(n * n, n * n, |p, q| {
        let term = |(i, j): (usize, usize)| {
            let gap = theirs.eigenvalues[i] - theirs.eigenvalues[j];
            2.0 * weights[i] * in_axes[p][(i, j)] * in_axes[q][(i, j)] / gap
        };
        pairs().map(term).sum()
    })
}

fn nearest(values: &[f64], x: f64) -> usize {
    (0..values.len()).min_by(|i, j| (values[*i] - x).abs().total_cmp(&(values[*j] - x).abs())).unwrap()
}

/// Ones at `(i, j)` and `(j, i)`.
pub fn symmetric_unit(n: usize, p: usize) -> DMatrix<f64> {
    let one = unit(n, n, p);
    &one + one.transpose() - DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j && n * i + j == p)))
}

/// `dᵀ H e` along all pairs of such matrices, of a Hessian by all elements.
pub fn along_symmetric(h: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let h = DMatrix::from_fn(n * n, n * n, |p, q| h[p][q]);
    let along = DMatrix::from_fn(n * n, n * n, |p, k| symmetric_unit(n, p)[(k / n, k % n)]);
    let found = &along * h * along.transpose();
    (0..n * n).map(|p| found.row(p).iter().copied().collect()).collect()
}

/// Of `Σ w_ij x_ij` for `X := U X`, by elements of `X`, then by angles. It is linear in the cosine and the sine of each angle and in `X`, so that
/// derivatives are exact differences: `(f(θ + π/2) - f(θ - π/2))/2`, `f(x + 1) - f(x)`.
pub fn of_rotations(x: &Array2<f64>, angles: &[f64], w: &Array2<f64>) -> DMatrix<f64> {
    let (n, count) = (x.len(), x.len() + angles.len());
    let value = |moves: [(usize, f64); 2]| {
        let (mut x, mut angles) = (x.clone(), angles.to_vec());
        for (p, by) in moves {
            match p < n {
                true => *x.iter_mut().nth(p).unwrap() += by,
                false => angles[p - n] += by,
            }
        }
        (unitary::plain::rotations(x.view(), &angles) * w).sum()
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    let steps = |p: usize| if p < n { [(1.0, 1.0), (0.0, -1.0)] } else { [(quarter, 0.5), (-quarter, -0.5)] };
    DMatrix::from_fn(count, count, |p, q| {
        let pairs = steps(p).into_iter().flat_map(|a| steps(q).into_iter().map(move |b| (a, b)));
        pairs.map(|((a, by_a), (b, by_b))| by_a * by_b * value([(p, a), (q, b)])).sum()
    })
}
