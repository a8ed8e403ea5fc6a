//! The objective by products of matrices, for mixtures in many dimensions.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

use super::program::prior;

/// About the most points of a block: what belongs to a block and one component, and its shadows, stays in the
/// second cache.
const BLOCK: usize = 480;

/// Blocks are whole groups of so many points, which run in lanes.
const GROUP: usize = 32;

/// `loss += L`; the arguments and the result are those of [`objective`](fn@super::objective).
///
/// For each component `Q_k (x_n - μ_k)` of a block of points is one product of matrices, and so is each part
/// of its adjoint, which computes that product again instead of keeping it. Faster than
/// [`objective`](fn@super::objective) from about D = 32 on. Memory of a block: `K + 2 D` numbers for each of its
/// points and D (D + 1) for the component at hand.
#[reversible(constant(points, gamma))]
pub fn objective_by_products<T: Real>(
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
    // the last block may have room for more points than there are
    let blocks = n / BLOCK + 1;
    let size = (n / (GROUP * blocks) + 1) * GROUP;
    for b in par(0..blocks) {
        let mut x: Array2<T> = zeros((d, size));
        for i in par(0..size) {
            if b * size + i < n {
                for j in 0..d {
                    x[[j, i]] += points[[b * size + i, j]];
                }
            }
        }
        let mut term: Array2<T> = zeros((k, size));
        for c in 0..k {
            // transposed, so that a column lies in order as it does in `icf`
            let mut factor: Array2<T> = zeros((d, d));
            let mut offset = T::zero();
            offset += alphas[c];
            for j in 0..d {
                factor[[j, j]] += icf[[c, j]].exp();
                offset += icf[[c, j]];
                // l_rj, r > j, lies at column + r
                let column = d + j * (2 * d - j - 1) / 2 - (j + 1);
                for r in j + 1..d {
                    factor[[j, r]] += icf[[c, column + r]];
                }
            }
            let mut centre: Array1<T> = zeros(d);
            for j in 0..d {
                for r in j..d {
                    centre[r] += factor[[j, r]] * means[[c, j]];
                }
            }
            let mut z: Array2<T> = zeros((d, size));
            z += matmul(upper(factor).t(), x);
            for i in par(0..size) {
                let mut square = T::zero();
                for j in 0..d {
                    let v = z[[j, i]] - centre[j];
                    square += fused(v * v);
                }
                term[[c, i]] += offset - 0.5 * square;
            }
        }
        for i in par(0..size) {
            if b * size + i < n {
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
        }
    }
    let mut exp_q: Array2<T> = zeros((k, d));
    for c in 0..k {
        for j in 0..d {
            exp_q[[c, j]] += icf[[c, j]].exp();
        }
    }
    prior(&mut *loss, alphas, icf, &exp_q, gamma, m, n);
}
