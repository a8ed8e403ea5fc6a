//! Truth values, integers and complex numbers that pure functions return, as arguments in derivatives of any order: rustc alone
//! knows their types.

#![allow(clippy::unwrap_used)]

use approx::{assert_abs_diff_eq, assert_relative_eq};
use rev::prelude::*;
use rev::Emulator;

#[pure]
fn is_large<T: Real>(x: T) -> bool {
    x > 1.0
}

#[pure]
fn and_twice<T: Real>(x: T) -> (bool, T) {
    (x > 1.0, x + x)
}

#[pure]
fn whole(x: f64) -> i64 {
    x as i64
}

#[pure]
fn following(n: i64) -> i64 {
    n + 1
}

#[pure]
fn is_uneven(n: i64) -> bool {
    n % 2 == 1
}

#[pure]
fn bent_if<T: Real>(bent: bool, x: T) -> T {
    if bent {
        x * x * x
    } else {
        x
    }
}

#[pure]
fn times(n: i64, x: f64) -> f64 {
    x * x * (n as f64)
}

#[reversible(tangent)]
fn called(y: &mut f64, bent: bool, n: i64, x: f64) {
    if bent {
        *y += x * x * (n as f64);
    }
}

/// Named and not, as arguments of pure functions and of a reversible one.
#[reversible(tangent)]
fn steps(y: &mut f64, x: f64, z: &[f64]) {
    *y += times(following(whole(x)), x) + bent_if(is_uneven(whole(x)), x);
    called(y, is_large(x), following(whole(x)), x);
    let large = is_large(x);
    let n = following(whole(x));
    let (also, twice) = and_twice(x);
    called(y, also, n, twice);
    let chosen = if large { following(n) } else { n };
    *y += times(chosen, x);
    for i in par(0..z.len()) {
        let small = is_large(z[i]);
        let m = following(whole(z[i]));
        *y += bent_if(large, z[i]) + bent_if(small, z[i]) * times(n, z[i]) + times(m, x);
    }
}

/// The same in plain Rust.
fn steps_by_hand(x: f64, z: &[f64]) -> f64 {
    let times = |n: f64, x: f64| n * x * x;
    let bent_if = |bent: bool, x: f64| if bent { x * x * x } else { x };
    let n = x.trunc() + 1.0;
    let large = x > 1.0;
    let called = if large { n * x * x + n * 4.0 * x * x } else { 0.0 };
    let each =
        z.iter().map(|&z| bent_if(large, z) + bent_if(z > 1.0, z) * times(n, z) + times(z.trunc() + 1.0, x));
    times(if large { n + 1.0 } else { n }, x)
        + times(n, x)
        + bent_if(x.trunc() as i64 % 2 == 1, x)
        + called
        + each.sum::<f64>()
}

#[test]
fn as_arguments() {
    fn on<D: Device>(device: &D) {
        let z: Vec<f64> = (0..70).map(|k| 0.32 + 0.05 * f64::from(k)).collect();
        let ones = vec![1.0; z.len()];
        let h = 1e-4;
        for x in [0.4, 1.5, 2.5] {
            let slope = |x: f64, z: &[f64]| {
                let g = steps::gradient(device, x, z).unwrap();
                assert_relative_eq!(g.value, steps_by_hand(x, z), max_relative = 1e-13);
                let by_x = (steps_by_hand(x + h, z) - steps_by_hand(x - h, z)) / (2.0 * h);
                assert_relative_eq!(g.x, by_x, max_relative = 1e-6);
                g
            };
            let further = |h: f64| slope(x + h, &z.iter().map(|z| z + h).collect::<Vec<_>>());
            let (before, after) = (further(-h), further(h));
            let found = steps::hvp(device, 1.0, &ones, x, &z).unwrap();
            assert_relative_eq!(found.x, (after.x - before.x) / (2.0 * h), max_relative = 1e-6);
            for k in 0..z.len() {
                let expected = (after.z[k] - before.z[k]) / (2.0 * h);
                assert_relative_eq!(found.z[k], expected, max_relative = 1e-6);
            }
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
    on(&Emulator::new().checks(true));
}

/// An integer, a truth value and a number.
#[pure]
fn gauge<T: Real>(n: i64, large: bool, a: T) -> (i64, bool, T) {
    if large {
        (n % 6, n % 3 < 2, a * a)
    } else {
        (n + 1, true, a * a * a)
    }
}

/// Results of a call as arguments of others, in and around a loop, beside values of known types and in a tuple of them.
#[reversible(tangent, inverse_adjoint)]
fn gauged<T: Real>(y: &mut T, n: i64, x: T, z: &[T]) {
    let (m, large, v) = gauge(n, x > 1.0, x);
    let (k, small, w) = if x < 1.5 { (n, x < 1.2, x * v) } else { gauge(m, large, v) };
    *y += w * v;
    let all: (i64, bool, T) = if x < 1.5 { (n, x < 1.2, x) } else { gauge(k, small, w) };
    *y += gauge(all.0, all.1, all.2).2;
    for i in par(0..z.len()) {
        let (_, at_last, u) = gauge(k, small, z[i] * w);
        *y += if at_last { u } else { z[i] };
    }
}

/// The same in plain Rust, with the number of every result alone; the branches don't depend on `z`.
fn gauged_by_hand(n: i64, x: f64, z: &[f64]) -> f64 {
    let gauge = |n: i64, large: bool, a: f64| match large {
        true => (n % 6, n % 3 < 2, a.powi(2)),
        false => (n + 1, true, a.powi(3)),
    };
    let (m, large, v) = gauge(n, x > 1.0, x);
    let (k, small, w) = if x < 1.5 { (n, x < 1.2, x * v) } else { gauge(m, large, v) };
    let each = z.iter().map(|&z| match gauge(k, small, z * w) {
        (_, true, u) => u,
        _ => z,
    });
    let all = if x < 1.5 { (n, x < 1.2, x) } else { gauge(k, small, w) };
    w * v + gauge(all.0, all.1, all.2).2 + each.sum::<f64>()
}

#[test]
fn as_arguments_of_what_returned_them() {
    fn on<D: Device>(device: &D) {
        let z: Vec<f64> = (0..35).map(|k| 0.2 + 0.02 * f64::from(k)).collect();
        let step = vec![1.0; z.len()];
        let h = 1e-4;
        for (n, x) in [(1, 0.6), (2, 1.1), (2, 1.3), (3, 1.7), (4, 1.8), (5, 1.6)] {
            let slope = |h_now: f64| {
                let z: Vec<f64> = z.iter().map(|z| z + h_now).collect();
                let g = gauged::gradient(device, n, x + h_now, &z).unwrap();
                assert_relative_eq!(g.value, gauged_by_hand(n, x + h_now, &z), max_relative = 1e-13);
                let by_x = gauged_by_hand(n, x + h_now + h, &z) - gauged_by_hand(n, x + h_now - h, &z);
                assert_relative_eq!(g.x, by_x / (2.0 * h), max_relative = 1e-6);
                g
            };
            let (before, after) = (slope(-h), slope(h));
            let found = gauged::hvp(device, 1.0, &step, n, x, &z).unwrap();
            assert_relative_eq!(found.x, (after.x - before.x) / (2.0 * h), max_relative = 1e-6);
            for k in 0..z.len() {
                let expected = (after.z[k] - before.z[k]) / (2.0 * h);
                assert_abs_diff_eq!(found.z[k], expected, epsilon = 1e-6 * (1.0 + expected.abs()));
            }
        }
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
    on(&Emulator::new().checks(true));
}

#[pure]
fn squared<T: Real>(z: Complex<T>) -> Complex<T> {
    z * z
}

#[pure]
fn cubed<T: Real>(z: Complex<T>) -> Complex<T> {
    z * z * z
}

#[reversible(tangent)]
fn of_complex(y: &mut f64, z: Complex<f64>) {
    let w = squared(z);
    *y += re(cubed(w)) + re(cubed(squared(z)));
}

#[test]
fn complex_numbers() {
    // 2 z⁶, of which the second derivative is 60 z⁴
    fn on<D: Device>(device: &D) {
        let (z, v) = (Complex::new(1.1f64, 0.7), Complex::new(0.3, -0.4));
        let expected = (z.powi(4) * v * 60.0).conj();
        let found = of_complex::hvp(device, v, z).unwrap().z;
        assert_abs_diff_eq!((found - expected).norm(), 0.0, epsilon = 1e-11);
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new());
}
