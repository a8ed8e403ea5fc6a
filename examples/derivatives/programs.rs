//! The programs whose derivatives are taken.

use rev::prelude::*;

/// The potential of unit charges at (10, 10 - w) and (10, 0).
#[reversible(tangent = 2, adjoint)]
pub fn potential<T: Real>(u: &mut T, x: T, y: T, w: T) {
    let dx = x - 10.0;
    let above = y - (10.0 - w);
    *u += 1.0 / (dx * dx + above * above).sqrt() + 1.0 / (dx * dx + y * y).sqrt();
}

/// The force at a point in reverse mode.
#[reversible(tangent)]
pub fn force_reverse<T: Real>(fx: &mut T, fy: &mut T, x: T, y: T, w: T) {
    let mut by = [T::zero(); 3];
    potential::gradient(x, &mut by[0], y, &mut by[1], w, &mut by[2]);
    *fx -= by[0];
    *fy -= by[1];
}

/// The force at a point in forward mode.
#[reversible(tangent)]
pub fn force_forward<T: Real>(fx: &mut T, fy: &mut T, x: T, y: T, w: T) {
    let mut u = [T::zero(); 2];
    let mut along = [T::zero(); 2];
    potential::tangent(&mut u[0], &mut along[0], x, T::one(), y, T::zero(), w, T::zero());
    potential::tangent(&mut u[1], &mut along[1], x, T::zero(), y, T::one(), w, T::zero());
    *fx -= along[0];
    *fy -= along[1];
}

/// A particle starts at (0, 8) with speed (0.75, 0) and takes Euler steps of 0.1 until it is below `y = 0`: the square of where
/// it crosses that line. At most `most` steps, each of which is kept.
#[reversible(tangent)]
pub fn particle<T: Real>(loss: &mut T, force: impl Reversible<(&mut T, &mut T, T, T, T)>, w: T, most: usize) {
    let (mut x, mut y) = (vec![T::zero(); most], vec![T::zero(); most]);
    let (mut vx, mut vy) = (vec![T::zero(); most], vec![T::zero(); most]);
    let mut k = 0usize;
    y[0] += 8.0;
    vx[0] += 0.75;
    #[post(k > 0)]
    while y[k] > 0.0 {
        x[k + 1] += x[k] + 0.1 * vx[k];
        y[k + 1] += y[k] + 0.1 * vy[k];
        {
            let mut push = [T::zero(); 2];
            force(&mut push[0], &mut push[1], x[k], y[k], w);
            vx[k + 1] += vx[k] + 0.1 * push[0];
            vy[k + 1] += vy[k] + 0.1 * push[1];
        }
        k += 1;
    }
    // back along the speed of the last step
    let time = y[k] / vy[k - 1];
    let crossing = x[k] - time * vx[k - 1];
    *loss += crossing * crossing;
}

/// `(x1² + y1²) - (x2² + y2²)`
#[reversible(tangent = 2, adjoint)]
pub fn payoff<T: Real>(p: &mut T, x1: T, y1: T, x2: T, y2: T) {
    *p += x1 * x1 + y1 * y1 - x2 * x2 - y2 * y2;
}

/// The derivatives of the payoff by the second player's point in reverse mode.
#[reversible(tangent)]
pub fn climb_reverse<T: Real>(gx: &mut T, gy: &mut T, x1: T, y1: T, x2: T, y2: T) {
    let mut by = [T::zero(); 4];
    payoff::gradient(x1, &mut by[0], y1, &mut by[1], x2, &mut by[2], y2, &mut by[3]);
    *gx += by[2];
    *gy += by[3];
}

/// The same in forward mode.
#[reversible(tangent)]
pub fn climb_forward<T: Real>(gx: &mut T, gy: &mut T, x1: T, y1: T, x2: T, y2: T) {
    let mut p = [T::zero(); 2];
    let mut along = [T::zero(); 2];
    let (zero, one) = (T::zero(), T::one());
    payoff::tangent(&mut p[0], &mut along[0], x1, zero, y1, zero, x2, one, y2, zero);
    payoff::tangent(&mut p[1], &mut along[1], x1, zero, y1, zero, x2, zero, y2, one);
    *gx += along[0];
    *gy += along[1];
}

/// The best answer (x2, y2) to (x1, y1), by ascending from (1, 1), and its payoff. A step that gains is taken, and after
/// ten of them the step becomes twice as long; one that doesn't makes it half as long. At most `most` steps, each of
/// which is kept.
#[reversible(tangent)]
pub fn answer<T: Real>(
    gain: &mut T,
    best: &mut [T; 2],
    climb: impl Reversible<(&mut T, &mut T, T, T, T, T)>,
    x1: T,
    y1: T,
    most: usize,
) {
    let (mut x, mut y) = (vec![T::zero(); most], vec![T::zero(); most]);
    let (mut gx, mut gy) = (vec![T::zero(); most], vec![T::zero(); most]);
    let (mut value, mut step) = (vec![T::zero(); most], vec![T::zero(); most]);
    let mut taken = vec![0i64; most];
    let mut k = 0usize;
    x[0] += 1.0;
    y[0] += 1.0;
    step[0] += 1e-5;
    payoff(&mut value[0], x1, y1, x[0], y[0]);
    climb(&mut gx[0], &mut gy[0], x1, y1, x[0], y[0]);
    #[post(k > 0)]
    while (gx[k] * gx[k] + gy[k] * gy[k]).sqrt() > 1e-5
        && (taken[k] == 10 || step[k] * (gx[k] * gx[k] + gy[k] * gy[k]).sqrt() > 1e-5)
    {
        {
            let px = x[k] + step[k] * gx[k];
            let py = y[k] + step[k] * gy[k];
            let mut there = T::zero();
            payoff(&mut there, x1, y1, px, py);
            if taken[k] < 10 && there > value[k] {
                x[k + 1] += px;
                y[k + 1] += py;
                value[k + 1] += there;
                climb(&mut gx[k + 1], &mut gy[k + 1], x1, y1, px, py);
                step[k + 1] += step[k];
                taken[k + 1] += taken[k] + 1;
            } else {
                x[k + 1] += x[k];
                y[k + 1] += y[k];
                value[k + 1] += value[k];
                gx[k + 1] += gx[k];
                gy[k + 1] += gy[k];
                if taken[k] == 10 {
                    step[k + 1] += 2.0 * step[k];
                } else {
                    step[k + 1] += 0.5 * step[k];
                }
            }
        }
        k += 1;
    }
    *gain += value[k];
    best[0] += x[k];
    best[1] += y[k];
}
