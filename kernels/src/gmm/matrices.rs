//! The objective by products of matrices with a column for each point, for mixtures in many dimensions on a GPU.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

use super::program::prior;

/// `loss += L`; the arguments and the result are those of [`objective`](fn@super::objective).
///
/// For each component `Q_k (x_n - μ_k)` of all points is one product of matrices, and so is each part of
/// its adjoint, which computes that product again instead of keeping it: statements of their own, which a GPU
/// gives to its library. On a CPU [`objective_by_products`](fn@super::objective_by_products), which takes blocks of
/// points that stay in the cache, is several times faster. Memory: `N (K + D)` numbers.
#[reversible(constant(points, gamma))]
pub fn objective_by_matrices<T: Real>(
    loss: &mut T,
    alphas: &[T],
    means: ArrayView2<T>,
    icf: ArrayView2<T>,
    points: ArrayView2<T>,
    gamma: T,
    m: usize,
) {
    let k = alphas.len();
    let n = points.nrows();
    let d = points.ncols();
    let mut term: Array2<T> = zeros((k, n));
    for c in 0..k {
        let mut factor: Array2<T> = zeros((d, d));
        let mut offset = T::zero();
        offset += alphas[c];
        for j in 0..d {
            factor[[j, j]] += icf[[c, j]].exp();
            offset += icf[[c, j]];
            // l_rj, r > j, lies at column + r
            let column = d + j * (2 * d - j - 1) / 2 - (j + 1);
            for r in j + 1..d {
                factor[[r, j]] += icf[[c, column + r]];
            }
        }
        let mut centre: Array1<T> = zeros(d);
        for r in 0..d {
            for j in 0..r + 1 {
                centre[r] += factor[[r, j]] * means[[c, j]];
            }
        }
        let mut z: Array2<T> = zeros((d, n));
        z += matmul(lower(factor), points.t()) - contract("i->ij", centre);
        for i in par(0..n) {
            term[[c, i]] += offset;
            for j in 0..d {
                term[[c, i]] -= 0.5 * z[[j, i]] * z[[j, i]];
            }
        }
    }
    for i in par(0..n) {
        let mut best: Array1<usize> = zeros(k);
        for c in 1..k {
            best[c] += if term[[c, i]] > term[[best[c - 1], i]] { c } else { best[c - 1] };
        }
        let max = term[[best[k - 1], i]];
        let mut sum = T::zero();
        for c in 0..k {
            // a weight below 1e-299 counts nothing, and products with subnormal numbers are slow
            let below = term[[c, i]] - max;
            sum += if below > T::from_f64(-690.0) { below.exp() } else { T::zero() };
        }
        *loss += max + sum.ln();
    }
    let mut exp_q: Array2<T> = zeros((k, d));
    for c in 0..k {
        for j in 0..d {
            exp_q[[c, j]] += icf[[c, j]].exp();
        }
    }
    prior(&mut *loss, alphas, icf, &exp_q, gamma, m, n);
}
