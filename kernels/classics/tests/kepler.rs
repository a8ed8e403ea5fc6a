//! Kepler's problem: the twin, the way back, the energy and derivatives.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod support;

use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq, relative_eq};
use rev_classics::kepler::{self, plain};
use rev_cpu::prelude::*;
use support::hessian;

const STEPS_PER_ORBIT: usize = 1000;

fn dt() -> f64 {
    std::f64::consts::TAU / STEPS_PER_ORBIT as f64
}

#[test]
fn as_plain_rust_and_around_once() {
    let start = kepler::perihelion(0.2);
    let (mut x, mut v) = start;
    let (mut y, mut w) = start;
    kepler::orbit(&mut x, &mut v, dt(), STEPS_PER_ORBIT).unwrap();
    plain::orbit(&mut y, &mut w, dt(), STEPS_PER_ORBIT);
    for k in 0..2 {
        assert_abs_diff_eq!(x[k], y[k], epsilon = 1e-12);
        assert_abs_diff_eq!(v[k], w[k], epsilon = 1e-12);
        // the orbit closes, but for the method's own error, of second order
        assert!(abs_diff_eq!(x[k], start.0[k], epsilon = 1e-3), "{x:?}");
    }
}

#[test]
fn fixed_point_goes_back_bit_for_bit() {
    let number = Fixed43::from_num::<f64>;
    let (x, v) = kepler::perihelion(0.5);
    let start = (x.map(number), v.map(number));
    let (mut x, mut v) = start;
    let steps = 1_000_000;
    kepler::orbit(&mut x, &mut v, number(dt()), steps).unwrap();
    assert_ne!((x, v), start);
    let energy = plain::energy(x.map(|x| x.to_num::<f64>()), v.map(|v| v.to_num::<f64>()));
    assert_abs_diff_eq!(energy, -0.5, epsilon = 1e-3);
    kepler::orbit::inverse(&mut x, &mut v, number(dt()), steps).unwrap();
    assert_eq!((x, v), start);
}

#[test]
fn floats_go_back_up_to_rounding() {
    let start = kepler::perihelion(0.5);
    let (mut x, mut v) = start;
    let steps = 20 * STEPS_PER_ORBIT;
    kepler::orbit(&mut x, &mut v, dt(), steps).unwrap();
    assert_abs_diff_eq!(plain::energy(x, v), -0.5, epsilon = 1e-3);
    kepler::orbit::inverse(&mut x, &mut v, dt(), steps).unwrap();
    for k in 0..2 {
        assert_abs_diff_eq!(x[k], start.0[k], epsilon = 1e-8);
        assert_abs_diff_eq!(v[k], start.1[k], epsilon = 1e-8);
    }
}

/// The rows of the Jacobian of 300 steps by position and velocity, and the derivatives by `dt`.
fn jacobian(x: &[f64; 2], v: &[f64; 2]) -> ([[f64; 4]; 4], [f64; 4]) {
    let (mut rows, mut by_dt) = ([[0.0; 4]; 4], [0.0; 4]);
    for k in 0..4 {
        let seed = |at: usize| std::array::from_fn(|i| f64::from(u8::from(at + i == k)));
        let g = kepler::orbit::vjp(&Cpu::new(), seed(0), seed(2), x, v, dt(), 300).unwrap();
        rows[k] = [g.position_bar[0], g.position_bar[1], g.velocity_bar[0], g.velocity_bar[1]];
        by_dt[k] = g.dt_bar;
    }
    (rows, by_dt)
}

#[test]
fn derivatives() {
    let (x, v) = ([0.6, -0.3], [0.5, 1.1]);
    let (rows, by_dt) = jacobian(&x, &v);
    let end = |moved: [f64; 4], dt: f64| {
        let (mut x, mut v) = ([x[0] + moved[0], x[1] + moved[1]], [v[0] + moved[2], v[1] + moved[3]]);
        plain::orbit(&mut x, &mut v, dt, 300);
        [x[0], x[1], v[0], v[1]]
    };
    let h = 1e-6;
    for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
        let step = |h: f64| std::array::from_fn(|k| if k == j { h } else { 0.0 });
        let slope = (end(step(h), dt())[i] - end(step(-h), dt())[i]) / (2.0 * h);
        let found = rows[i][j];
        assert!(relative_eq!(found, slope, epsilon = 1e-6, max_relative = 1e-6), "{i} {j}: {found} {slope}");
    }
    let (up, down) = (end([0.0; 4], dt() + 1e-8), end([0.0; 4], dt() - 1e-8));
    for i in 0..4 {
        let slope = (up[i] - down[i]) / 2e-8;
        assert_relative_eq!(by_dt[i], slope, epsilon = 1e-5, max_relative = 1e-5);
    }
}

/// Shears keep areas in phase space: `Jᵀ Ω J = Ω`.
#[test]
fn the_jacobian_is_symplectic() {
    let (rows, _) = jacobian(&[0.6, -0.3], &[0.5, 1.1]);
    for a in 0..4 {
        for b in 0..4 {
            let area: f64 = (0..2).map(|k| rows[k][a] * rows[k + 2][b] - rows[k + 2][a] * rows[k][b]).sum();
            let expected = if b == a + 2 {
                1.0
            } else if a == b + 2 {
                -1.0
            } else {
                0.0
            };
            assert!(abs_diff_eq!(area, expected, epsilon = 1e-9), "{a} {b}: {area}");
        }
    }
}

/// `out += w·v` for the velocity that a kick leaves.
#[reversible(loss = out)]
fn after_kick<T: Real>(out: &mut T, position: &[T; 2], velocity: &mut [T; 2], time: T, w: [T; 2]) {
    kepler::kick(&mut velocity, &position, time);
    for k in 0..2 {
        *out += w[k] * velocity[k];
    }
}

/// Of `w·(v - t f(x))` with `f(x) = x/r³`. The force's derivatives are `∂f_i/∂x_j = δ_ij/r³ - 3 x_i x_j/r⁵`, and its second ones along `w`
///
/// ```text
/// Σ_k w_k ∂²f_k/∂x_i∂x_j = -3 (w_i x_j + w_j x_i + δ_ij w·x)/r⁵ + 15 (w·x) x_i x_j/r⁷
/// ```
#[test]
fn second_derivatives_of_a_kick() {
    let (x, v, t, w) = ([0.6, -0.3], [0.5, 1.1], 0.7, [0.8, -1.3]);
    let (r, along) = (f64::hypot(x[0], x[1]), w[0] * x[0] + w[1] * x[1]);
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let force = |i: usize| x[i] / r.powi(3);
    let slope = |i: usize, j: usize| unit(i, j) / r.powi(3) - 3.0 * x[i] * x[j] / r.powi(5);
    let second = |i: usize, j: usize| {
        let linear = w[i] * x[j] + w[j] * x[i] + unit(i, j) * along;
        -3.0 * linear / r.powi(5) + 15.0 * along * x[i] * x[j] / r.powi(7)
    };
    // position, velocity, time, weights
    let mut expected = [[0.0; 7]; 7];
    let mut set = |i: usize, j: usize, value: f64| (expected[i][j], expected[j][i]) = (value, value);
    for i in 0..2 {
        (0..2).for_each(|j| set(i, j, -t * second(i, j)));
        (0..2).for_each(|k| set(i, 5 + k, -t * slope(k, i)));
        set(i, 4, -(w[0] * slope(0, i) + w[1] * slope(1, i)));
        set(2 + i, 5 + i, 1.0);
        set(4, 5 + i, -force(i));
    }
    let h = hessian!(after_kick, x, v, t, w);
    assert_eq!(h.len(), 7);
    for (row, expected) in h.iter().zip(expected) {
        row.iter()
            .zip(expected)
            .for_each(|(h, e)| assert_relative_eq!(*h, e, epsilon = 1e-12, max_relative = 1e-12));
    }
}
