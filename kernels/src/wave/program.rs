//! The step in the language.
//!
//! A cell needs its neighbours, and what a cell reads its adjoint adds to. So that no two iterations of a parallel loop add to
//! one cell in the adjoint either, each loop takes one neighbour at a time, in rows that stay in the cache: a
//! row with itself, shifted by a cell to either side, and two rows with each other. A block of rows is an iteration; what
//! blocks have to do with each other is a loop of its own over their edges. So all of it is owned in both directions: no sums that threads
//! share, no copies, no atomic additions, and the same bits on any number of threads.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use rev_cpu::prelude::*;

/// A row of `u`, from itself: the step before damped, and the neighbours on both sides; but for the divisor `1 + (σ + τ) Δt/2`, which
/// is common to all that a cell gets.
#[reversible(constant(sigma, tau, dt, hx, hy))]
fn row<T: Real>(
    mut before: ArrayViewMut1<T>,
    u: ArrayView1<T>,
    psi: ArrayView1<T>,
    c: ArrayView1<T>,
    sigma: T,
    tau: &[T],
    dt: T,
    hx: T,
    hy: T,
) {
    let m = u.len();
    let x = dt * dt / (hx * hx);
    let y = dt * dt / (hy * hy);
    let p = dt * dt / (2.0 * hy);
    for j in par(0..m) {
        let s = (sigma + tau[j]) * dt / 2.0;
        scale_by(before[j], s - 1.0);
        before[j] += (2.0 - sigma * tau[j] * dt * dt - 2.0 * (x + y) * c[j]) * u[j];
    }
    for j in par(1..m) {
        before[j] += y * c[j] * u[j - 1] - p * psi[j - 1];
    }
    for j in par(1..m) {
        before[j - 1] += y * c[j - 1] * u[j] + p * psi[j];
    }
}

/// Two rows of `u`, one above the other, from each other.
#[reversible(constant(dt, hx))]
fn rows<T: Real>(
    mut upper: ArrayViewMut1<T>,
    mut lower: ArrayViewMut1<T>,
    upper_u: ArrayView1<T>,
    lower_u: ArrayView1<T>,
    upper_phi: ArrayView1<T>,
    lower_phi: ArrayView1<T>,
    upper_c: ArrayView1<T>,
    lower_c: ArrayView1<T>,
    dt: T,
    hx: T,
) {
    let x = dt * dt / (hx * hx);
    let p = dt * dt / (2.0 * hx);
    for j in par(0..upper.len()) {
        upper[j] += x * upper_c[j] * lower_u[j] + p * lower_phi[j];
        lower[j] += x * lower_c[j] * upper_u[j] - p * upper_phi[j];
    }
}

/// A row of `u`, whose neighbours are all there, by its divisor; and one of the auxiliary fields, from itself.
#[reversible(constant(sigma, tau, dt, hy))]
fn damped_row<T: Real>(
    mut u: ArrayViewMut1<T>,
    mut phi: ArrayViewMut1<T>,
    mut psi: ArrayViewMut1<T>,
    c: ArrayView1<T>,
    sigma: T,
    tau: &[T],
    dt: T,
    hy: T,
) {
    let m = u.len();
    let q = dt / (2.0 * hy);
    for j in par(0..m) {
        unscale_by(u[j], 1.0 + (sigma + tau[j]) * dt / 2.0);
        scale_by(phi[j], 1.0 - dt * sigma);
        scale_by(psi[j], 1.0 - dt * tau[j]);
    }
    for j in par(1..m) {
        psi[j] -= q * c[j] * (sigma - tau[j]) * u[j - 1];
    }
    for j in par(1..m) {
        psi[j - 1] += q * c[j - 1] * (sigma - tau[j - 1]) * u[j];
    }
}

/// Two rows of `φ` from each other.
#[reversible(constant(upper_sigma, lower_sigma, tau, dt, hx))]
fn damped_rows<T: Real>(
    mut upper: ArrayViewMut1<T>,
    mut lower: ArrayViewMut1<T>,
    upper_u: ArrayView1<T>,
    lower_u: ArrayView1<T>,
    upper_c: ArrayView1<T>,
    lower_c: ArrayView1<T>,
    upper_sigma: T,
    lower_sigma: T,
    tau: &[T],
    dt: T,
    hx: T,
) {
    let q = dt / (2.0 * hx);
    for j in par(0..upper.len()) {
        upper[j] += q * upper_c[j] * (tau[j] - upper_sigma) * lower_u[j];
        lower[j] -= q * lower_c[j] * (tau[j] - lower_sigma) * upper_u[j];
    }
}

/// A step: `before`, which holds `u` of the step before `u`, becomes `u` of the one after, and `φ`, `ψ` those that belong to it.
///
/// All matrices have a row for each x and a column for each y; `c` is the squared speed, `sigma` and `tau` are the damping by
/// x and by y, `hx` and `hy` the cells' sizes; a source adds `amount Δt²` to the cell `at`. It is linear in `(before, u, φ, ψ)`. Damping that takes a value to zero in one
/// step (`dt σ = 1`, `dt (σ + τ) = 2`) can't be undone, which is the error of `scale_by`. With damping the inverse isn't stable
/// over many steps: keep states.
#[reversible(constant(sigma, tau, dt, hx, hy))]
pub fn step<T: Real>(
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
    let blocks = (n + 31) / 32;
    for b in par(0..blocks) {
        let first = 32 * b;
        row(
            &mut before.row_mut(first),
            &u.row(first),
            &psi.row(first),
            &c.row(first),
            sigma[first],
            &tau,
            dt,
            hx,
            hy,
        );
        for r in 1..32 {
            let i = 32 * b + r;
            if i < n {
                row(&mut before.row_mut(i), &u.row(i), &psi.row(i), &c.row(i), sigma[i], &tau, dt, hx, hy);
                rows(
                    &mut before.row_mut(i - 1),
                    &mut before.row_mut(i),
                    &u.row(i - 1),
                    &u.row(i),
                    &phi.row(i - 1),
                    &phi.row(i),
                    &c.row(i - 1),
                    &c.row(i),
                    dt,
                    hx,
                );
            }
        }
    }
    for i in par((32..n).step_by(32)) {
        rows(
            &mut before.row_mut(i - 1),
            &mut before.row_mut(i),
            &u.row(i - 1),
            &u.row(i),
            &phi.row(i - 1),
            &phi.row(i),
            &c.row(i - 1),
            &c.row(i),
            dt,
            hx,
        );
    }
    for b in par(0..blocks) {
        let first = 32 * b;
        damped_row(
            &mut before.row_mut(first),
            &mut phi.row_mut(first),
            &mut psi.row_mut(first),
            &c.row(first),
            sigma[first],
            &tau,
            dt,
            hy,
        );
        for r in 1..32 {
            let i = 32 * b + r;
            if i < n {
                damped_row(
                    &mut before.row_mut(i),
                    &mut phi.row_mut(i),
                    &mut psi.row_mut(i),
                    &c.row(i),
                    sigma[i],
                    &tau,
                    dt,
                    hy,
                );
                damped_rows(
                    &mut phi.row_mut(i - 1),
                    &mut phi.row_mut(i),
                    &before.row(i - 1),
                    &before.row(i),
                    &c.row(i - 1),
                    &c.row(i),
                    sigma[i - 1],
                    sigma[i],
                    &tau,
                    dt,
                    hx,
                );
            }
        }
    }
    for i in par((32..n).step_by(32)) {
        damped_rows(
            &mut phi.row_mut(i - 1),
            &mut phi.row_mut(i),
            &before.row(i - 1),
            &before.row(i),
            &c.row(i - 1),
            &c.row(i),
            sigma[i - 1],
            sigma[i],
            &tau,
            dt,
            hx,
        );
    }
    before[[at[0], at[1]]] += amount * dt * dt;
}
