//! The same as plain Rust.

use super::{Field, Medium};

/// A step, as [`step`](fn@super::step) and an exchange of `u` and `before` do it.
///
/// Nothing happens where the sizes differ: rows that aren't there are left out.
pub fn step(field: &mut Field<f64>, medium: &Medium) {
    let (before, u, phi, psi) = field;
    let (n, m) = u.dim();
    let parts =
        (before.as_slice_mut(), u.as_slice(), phi.as_slice_mut(), psi.as_slice_mut(), medium.c.as_slice());
    let (Some(next), Some(w), Some(phi), Some(psi), Some(c)) = parts else { return };
    let none = vec![0.0; m];
    for i in 0..n {
        let all = i * m..(i + 1) * m;
        let up = |a: &[f64]| if i > 0 { i * m - m } else { a.len() };
        let above = |a| -> &[f64] { row(a, up(a), m, &none) };
        let below = |a| -> &[f64] { row(a, (i + 1) * m, m, &none) };
        let sides = [above(w), below(w), above(phi), below(phi)];
        wave_row(&mut next[all.clone()], &w[all.clone()], sides, &psi[all.clone()], &c[all], i, medium);
    }
    let w = &*next;
    for i in 0..n {
        let all = i * m..(i + 1) * m;
        let above = if i > 0 { &w[i * m - m..i * m] } else { &none[..] };
        let below = row(w, (i + 1) * m, m, &none);
        let (phi, psi) = (&mut phi[all.clone()], &mut psi[all.clone()]);
        layer_row(phi, psi, [above, &w[all.clone()], below], &c[all], i, medium);
    }
    std::mem::swap(before, u);
}

/// The row that begins at `start`, or one of zeros beyond the end.
fn row<'a>(a: &'a [f64], start: usize, m: usize, none: &'a [f64]) -> &'a [f64] {
    a.get(start..start + m).unwrap_or(none)
}

fn wave_row(
    next: &mut [f64],
    w: &[f64],
    [above, below, phi_above, phi_below]: [&[f64]; 4],
    psi: &[f64],
    c: &[f64],
    i: usize,
    medium: &Medium,
) {
    let Medium { sigma, tau, dt, hx, hy, .. } = medium;
    let (m, sigma) = (w.len(), sigma[i]);
    let (x, y) = (dt * dt / (hx * hx), dt * dt / (hy * hy));
    let (px, py) = (dt * dt / (2.0 * hx), dt * dt / (2.0 * hy));
    let mut at = |j: usize, left: f64, right: f64, psi_left: f64, psi_right: f64| {
        let s = (sigma + tau[j]) * dt / 2.0;
        let own = 2.0 - sigma * tau[j] * dt * dt - 2.0 * (x + y) * c[j];
        let sum = own * w[j]
            + x * c[j] * (above[j] + below[j])
            + y * c[j] * (left + right)
            + px * (phi_below[j] - phi_above[j])
            + py * (psi_right - psi_left)
            - (1.0 - s) * next[j];
        next[j] = sum / (1.0 + s);
    };
    if m == 1 {
        return at(0, 0.0, 0.0, 0.0, 0.0);
    }
    at(0, 0.0, w[1], 0.0, psi[1]);
    for j in 1..m - 1 {
        at(j, w[j - 1], w[j + 1], psi[j - 1], psi[j + 1]);
    }
    at(m - 1, w[m - 2], 0.0, psi[m - 2], 0.0);
}

fn layer_row(
    phi: &mut [f64],
    psi: &mut [f64],
    [above, w, below]: [&[f64]; 3],
    c: &[f64],
    i: usize,
    medium: &Medium,
) {
    let Medium { sigma, tau, dt, hx, hy, .. } = medium;
    let (m, sigma) = (w.len(), sigma[i]);
    let (qx, qy) = (dt / (2.0 * hx), dt / (2.0 * hy));
    let mut at = |j: usize, left: f64, right: f64| {
        let across = tau[j] - sigma;
        phi[j] = (1.0 - dt * sigma) * phi[j] + qx * c[j] * across * (below[j] - above[j]);
        psi[j] = (1.0 - dt * tau[j]) * psi[j] - qy * c[j] * across * (right - left);
    };
    if m == 1 {
        return at(0, 0.0, 0.0);
    }
    at(0, 0.0, w[1]);
    for j in 1..m - 1 {
        at(j, w[j - 1], w[j + 1]);
    }
    at(m - 1, w[m - 2], 0.0);
}
