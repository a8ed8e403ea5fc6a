//! The objective by one product of matrices, for a GPU.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

use super::program::{weights, wishart_constant};

/// `loss += L`; the arguments and the result are those of [`objective`](fn@super::objective).
///
/// `Q_k (x_n - μ_k)` of all points and components is one product of matrices, `(x_n, 1)` times `(Q_k, -Q_k μ_k)`, and its
/// adjoint another one: statements of their own, which a GPU gives to its library. All other loops are over pairs of a
/// point and a component, points, or columns of the second matrix, so that there is work for many thousands of threads;
/// neighbours among them use neighbours in memory, where a GPU has the elements of a column side by side. On a
/// CPU [`objective_by_products`](fn@super::objective_by_products), which takes blocks of points that stay in the cache, is
/// several times faster. Memory: `N (K D + K + D)` numbers, and as many shadows.
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
    let mut x: Array2<T> = zeros((n, d + 1));
    for i in par(0..n) {
        for j in 0..d {
            x[[i, j]] += points[[i, j]];
        }
        x[[i, d]] += T::one();
    }
    let mut exp_q: Array2<T> = zeros((k, d));
    let mut offset: Array1<T> = zeros(k);
    for c in par(0..k) {
        offset[c] += alphas[c];
        for j in 0..d {
            exp_q[[c, j]] += icf[[c, j]].exp();
            offset[c] += icf[[c, j]];
        }
    }
    // a column for each component and dimension
    let mut q: Array2<T> = zeros((d + 1, d * k));
    for column in par(0..d * k) {
        let r = column / k;
        let c = column - r * k;
        for j in 0..r {
            // l_rj, r > j
            let l = icf[[c, d + j * (2 * d - j - 1) / 2 - (j + 1) + r]];
            q[[j, column]] += l;
            q[[d, column]] -= fused(l * means[[c, j]]);
        }
        q[[r, column]] += exp_q[[c, r]];
        q[[d, column]] -= fused(exp_q[[c, r]] * means[[c, r]]);
    }
    let mut z: Array2<T> = zeros((n, d * k));
    z += matmul(x, q);
    let mut term: Array2<T> = zeros((n, k));
    #[disjoint(z, term)]
    for pair in par(0..k * n) {
        let c = pair / n;
        let i = pair - c * n;
        let mut square = T::zero();
        for j in 0..d {
            square += fused(z[[i, j * k + c]] * z[[i, j * k + c]]);
        }
        term[[i, c]] += offset[c] - 0.5 * square;
    }
    for i in par(0..n) {
        let mut best: Array1<usize> = zeros(k);
        for c in 1..k {
            best[c] += if term[[i, c]] > term[[i, best[c - 1]]] { c } else { best[c - 1] };
        }
        let max = term[[i, best[k - 1]]];
        let mut sum = T::zero();
        for c in 0..k {
            // a weight below 1e-299 counts nothing, and products with subnormal numbers are slow
            let below = term[[i, c]] - max;
            sum += if below > T::from_f64(-690.0) { below.exp() } else { T::zero() };
        }
        *loss += max + sum.ln();
    }
    weights(&mut *loss, alphas, d, n);
    let squares = dot(exp_q, exp_q) + dot(icf.slice(s![.., d..]), icf.slice(s![.., d..]));
    *loss += 0.5 * gamma * gamma * squares - T::from_usize(m) * sum(icf.slice(s![.., ..d]));
    wishart_constant(&mut *loss, gamma, k, d, m);
}
