//! The step in the language, cell by cell: for a GPU.

use ndarray::{ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// A step, as [`step`](fn@super::step) does it, with a thread for each cell.
///
/// A cell reads its neighbours, so in the adjoint it adds to theirs, and these sums are shared: a GPU adds them where they
/// lie. The sums of [`step`](fn@super::step) are all owned, so its gradients have the same bits on any number of threads.
#[reversible(constant(sigma, tau, dt, hx, hy))]
pub fn step_by_cells<T: Real>(
    mut before: ArrayViewMut2<T>,
    u: ArrayView2<T>,
    mut phi: ArrayViewMut2<T>,
    mut psi: ArrayViewMut2<T>,
    c: ArrayView2<T>,
    sigma: &[T],
    tau: &[T],
    dt: T,
    hx: T,
    hy: T,
    at: [usize; 2],
    amount: T,
) {
    let n = u.nrows();
    let m = u.ncols();
    let x = dt * dt / (hx * hx);
    let y = dt * dt / (hy * hy);
    let px = dt * dt / (2.0 * hx);
    let py = dt * dt / (2.0 * hy);
    for i in par(0..n) {
        for j in par(0..m) {
            // the neighbours' fields; beyond the edges all is zero
            let u_sides = (if i > 0 { u[[i - 1, j]] } else { T::zero() })
                + (if i + 1 < n { u[[i + 1, j]] } else { T::zero() });
            let u_ends = (if j > 0 { u[[i, j - 1]] } else { T::zero() })
                + (if j + 1 < m { u[[i, j + 1]] } else { T::zero() });
            let phi_rise = (if i + 1 < n { phi[[i + 1, j]] } else { T::zero() })
                - (if i > 0 { phi[[i - 1, j]] } else { T::zero() });
            let psi_rise = (if j + 1 < m { psi[[i, j + 1]] } else { T::zero() })
                - (if j > 0 { psi[[i, j - 1]] } else { T::zero() });
            let s = (sigma[i] + tau[j]) * dt / 2.0;
            scale_by(before[[i, j]], s - 1.0);
            before[[i, j]] += (2.0 - sigma[i] * tau[j] * dt * dt - 2.0 * (x + y) * c[[i, j]]) * u[[i, j]]
                + c[[i, j]] * (x * u_sides + y * u_ends)
                + px * phi_rise
                + py * psi_rise;
            unscale_by(before[[i, j]], 1.0 + s);
        }
    }
    let qx = dt / (2.0 * hx);
    let qy = dt / (2.0 * hy);
    for i in par(0..n) {
        for j in par(0..m) {
            let rise = (if i + 1 < n { before[[i + 1, j]] } else { T::zero() })
                - (if i > 0 { before[[i - 1, j]] } else { T::zero() });
            let slope = (if j + 1 < m { before[[i, j + 1]] } else { T::zero() })
                - (if j > 0 { before[[i, j - 1]] } else { T::zero() });
            scale_by(phi[[i, j]], 1.0 - dt * sigma[i]);
            scale_by(psi[[i, j]], 1.0 - dt * tau[j]);
            phi[[i, j]] += qx * c[[i, j]] * (tau[j] - sigma[i]) * rise;
            psi[[i, j]] += qy * c[[i, j]] * (sigma[i] - tau[j]) * slope;
        }
    }
    before[[at[0], at[1]]] += amount * dt * dt;
}
