//! The objective as a reversible program.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

use crate::log_sum_exp::log_sum_exp;

/// `loss += L`; the arguments are as in [`Instance`](super::Instance).
///
/// What doesn't depend on a point is computed once, outside of the loop over the points. Memory of
/// an iteration: the point, `Q_k (x - μ_k)` and the term of each component, D + K (D + 1) numbers, so
/// that the adjoint doesn't multiply by `Q` twice; and K indices.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint, constant(points, gamma)))]
#[cfg_attr(
    all(feature = "tangents", not(feature = "adjoints")),
    reversible(tangent, constant(points, gamma))
)]
#[cfg_attr(not(feature = "tangents"), reversible(constant(points, gamma)))]
pub fn objective<T: Real>(
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
    let mut exp_q: Array2<T> = zeros((k, d));
    let mut offset: Array1<T> = zeros(k);
    for c in 0..k {
        offset[c] += alphas[c];
        for j in 0..d {
            exp_q[[c, j]] += icf[[c, j]].exp();
            offset[c] += icf[[c, j]];
        }
    }
    for i in par(0..n) {
        let mut x: Array1<T> = zeros(d);
        for j in 0..d {
            x[j] += points[[i, j]];
        }
        let mut z: Array2<T> = zeros((k, d));
        let mut term: Array1<T> = zeros(k);
        for c in 0..k {
            for j in 0..d {
                let v = x[j] - means[[c, j]];
                z[[c, j]] += fused(exp_q[[c, j]] * v);
                // l_rj, r > j, lies at column + r
                let column = d + j * (2 * d - j - 1) / 2 - (j + 1);
                for r in j + 1..d {
                    z[[c, r]] += fused(icf[[c, column + r]] * v);
                }
            }
            term[c] += offset[c];
            for j in 0..d {
                term[c] -= fused(0.5 * z[[c, j]] * z[[c, j]]);
            }
        }
        let mut best: Array1<usize> = zeros(k);
        for c in 1..k {
            best[c] += if term[c] > term[best[c - 1]] { c } else { best[c - 1] };
        }
        let max = term[best[k - 1]];
        let mut sum = T::zero();
        for c in 0..k {
            // a weight below 1e-299 counts nothing, and products with subnormal numbers are slow
            let below = term[c] - max;
            sum += if below > T::from_f64(-690.0) { below.exp() } else { T::zero() };
        }
        *loss += max + sum.ln();
    }
    prior(&mut *loss, alphas, icf, &exp_q, gamma, m, n);
}

/// `loss +=` what doesn't depend on the points: the weights' normalisation for `n` points, and the
/// prior of the covariances, of which `exp_q` holds `exp(q)`.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint, constant(gamma)))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent, constant(gamma)))]
#[cfg_attr(not(feature = "tangents"), reversible(constant(gamma)))]
pub fn prior<T: Real>(
    loss: &mut T,
    alphas: &[T],
    icf: ArrayView2<T>,
    exp_q: ArrayView2<T>,
    gamma: T,
    m: usize,
    n: usize,
) {
    let k = exp_q.nrows();
    let d = exp_q.ncols();
    weights(&mut *loss, alphas, d, n);
    for c in 0..k {
        for j in 0..d {
            *loss += 0.5 * gamma * gamma * exp_q[[c, j]] * exp_q[[c, j]] - T::from_usize(m) * icf[[c, j]];
        }
        for j in d..icf.ncols() {
            *loss += 0.5 * gamma * gamma * icf[[c, j]] * icf[[c, j]];
        }
    }
    wishart_constant(&mut *loss, gamma, k, d, m);
}

/// `loss -=` what normalises the weights and the densities of `n` points in `d` dimensions.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn weights<T: Real>(loss: &mut T, alphas: &[T], d: usize, n: usize) {
    let mut lse = T::zero();
    log_sum_exp(&mut lse, alphas);
    *loss -= T::from_usize(n) * (lse + 0.5 * T::from_usize(d) * (2.0 * T::pi()).ln());
}

/// `loss -= K C`, the logarithm of the Wishart distribution's normalisation for K components.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn wishart_constant<T: Real>(loss: &mut T, gamma: T, k: usize, d: usize, m: usize) {
    let nu = d + m + 1;
    *loss -= T::from_usize(k * nu * d) * (gamma.ln() - 0.5 * T::from_f64(2.0).ln());
    *loss += T::from_usize(k * d * (d - 1)) * 0.25 * T::pi().ln();
    for j in 0..d {
        *loss += T::from_usize(k) * (0.5 * T::from_usize(nu - j)).ln_gamma();
    }
}
