//! `#[pure]` functions in lanes: the same bits as the interpreter, the same errors.

#![allow(clippy::unwrap_used)]

use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// A branch whose other side is infinite, exponentials, and a name that is used twice.
#[pure]
fn bent<T: Real>(x: T, slope: T) -> T {
    let t = (slope * x).tanh();
    if x > 0.0 {
        x.ln() + t
    } else {
        t * x.exp() + t
    }
}

/// Two results, one of them by another pure function.
#[pure]
fn both<T: Real>(x: T, n: usize, low: bool) -> (T, T) {
    let part = if low && n > 2 { x } else { bent(x, 0.5) };
    (part * part, part - (n as T))
}

#[pure(d(z) = z + z)]
fn squared<T: Real>(z: Complex<T>) -> Complex<T> {
    z * z
}

#[pure(d(a) = b, d(b) = a)]
fn product<T: Real>(a: T, b: T) -> T {
    a * b
}

#[pure]
fn constant<T: Real>() -> T {
    0.25
}

/// More parameters than a tuple in lanes has parts.
#[pure]
fn long<T: Real>(a: T, b: T, c: T, d: T, e: T, f: T, g: T, h: T, i: T) -> T {
    a * b + c * d + e * f + g * h + i * a
}

#[reversible(tangent)]
fn all<T: Real>(y: &mut [T], w: &mut [Complex<T>], x: &[T], z: &[Complex<T>], n: &[usize]) {
    for i in par(0..x.len()) {
        let (a, b) = both(x[i], n[i], x[i] < 1.0);
        y[i] += a + b * product::<T>(x[i], 1.5) + constant::<T>();
        if n[i] % 3 == 0 {
            y[i] += bent(1.0 + x[i], (i as T) / 64.0);
        }
        w[i] += squared(z[i]);
    }
}

#[reversible]
fn of_nine<T: Real>(y: &mut [T], x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += long(x[i], x[i + 1], x[i + 2], x[i], x[i], 2.0, x[i + 1], x[i + 2], x[i]);
    }
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7).sin() * 3.0).collect()
}

fn seen<D: Device>(device: &D, n: usize) -> String {
    let x = numbers(n);
    let z: Vec<_> = x.iter().map(|v| Complex::new(*v, 1.0 - v)).collect();
    let which: Vec<usize> = (0..n).map(|i| i * 5 % 7).collect();
    let (mut y, mut w) = (vec![0.5; n], z.clone());
    all::run(device, &mut y, &mut w, &x, &z, &which).unwrap();
    let seeds: Vec<_> = z.iter().map(|v| v.conj()).collect();
    let by = all::vjp(device, &x, &seeds, &y, &w, &x, &z, &which).unwrap();
    let along = all::jvp(device, &x, &seeds, &y, &w, &y, &w, &x, &z, &which).unwrap();
    let mut nine = vec![0.0; n.saturating_sub(2)];
    of_nine::run(device, &mut nine, &x).unwrap();
    let by_nine = of_nine::vjp(device, &nine.clone(), &nine, &x).unwrap();
    format!("{y:?} {w:?} {by:?} {along:?} {nine:?} {by_nine:?}")
}

#[test]
fn in_lanes_they_have_the_same_bits_as_the_interpreter() {
    for n in [2, 3, 31, 64, 77] {
        let expected = seen(&Interpreter::new(), n);
        for checks in [true, false] {
            // one thread: `of_nine` adds to elements that several iterations read
            assert_eq!(seen(&Cpu::with_threads(1).checks(checks), n), expected, "{n}, checks: {checks}");
        }
    }
}

#[pure]
fn quotient(a: i64, b: i64) -> i64 {
    a / b + a % b
}

#[reversible]
fn quotients(y: &mut [i64], a: &[i64], b: &[i64]) {
    for i in par(0..y.len()) {
        if a[i] > 0 {
            y[i] += quotient(a[i], b[i]);
        }
    }
}

#[test]
fn a_division_by_zero_is_the_failing_iteration_s() {
    let (a, mut b) = (vec![7, -7, 7, 7, -7, 9, 8, 7, 7, 7, 3], vec![2; 11]);
    // where the branch isn't taken nothing is divided
    (b[1], b[4]) = (0, 0);
    let mut y = vec![0; 11];
    quotients(&mut y, &a, &b).unwrap();
    assert_eq!(y, [4, 0, 4, 4, 0, 5, 4, 4, 4, 4, 2]);
    b[6] = 0;
    let of = |error: Error| (error.cause().clone(), error.to_string());
    let found = of(quotients::run(&Cpu::new(), &mut y, &a, &b).unwrap_err());
    assert_eq!(found.0, Cause::DivisionByZero);
    assert_eq!(found, of(quotients::run(&Interpreter::new(), &mut [0; 11], &a, &b).unwrap_err()));
}

#[pure]
fn two<T: Real>(x: T) -> (T, T) {
    (x * x, x)
}

#[pure]
fn product_of_either<T: Real>(x: T) -> T {
    let (p, q) = if x > 1.0 { two(x) } else { (x, T::one()) };
    p * q
}

#[reversible(tangent)]
fn results_of_branches<T: Real>(y: &mut T, z: &mut T, x: T, n: usize) {
    let (p, q) = if n > 1 { two(x) } else { (T::one(), x) };
    let (r, s) = match n {
        0 => two(p),
        1 => {
            let half = 0.5 * q;
            two(half)
        }
        _ => two(q),
    };
    *z += p * q + product_of_either(x);
    (*y, *z) += if n > 2 { two(r) } else { (s, p) };
}

/// The same in plain Rust: `y`, `z`.
fn results_of_branches_by_hand(x: f64, n: usize) -> (f64, f64) {
    let two = |x: f64| (x * x, x);
    let (p, q) = if n > 1 { two(x) } else { (1.0, x) };
    let (r, s) = two([p, 0.5 * q, q][n.min(2)]);
    let (a, b) = if n > 2 { two(r) } else { (s, p) };
    (a, b + p * q + if x > 1.0 { x * x * x } else { x })
}

#[test]
fn branches_are_calls_with_several_results() {
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        for (n, x) in (0..4).flat_map(|n| [(n, 0.7), (n, 1.5)]) {
            let found = results_of_branches::jvp(device, &0.0, &0.0, 1.0, &0.0, &0.0, x, n).unwrap();
            let at = |h: f64| results_of_branches_by_hand(x + h, n);
            assert_eq!((found.y, found.z), at(0.0), "{n}");
            let (before, after) = (at(-1e-6), at(1e-6));
            approx::assert_abs_diff_eq!(found.y_dot, (after.0 - before.0) / 2e-6, epsilon = 1e-8);
            approx::assert_abs_diff_eq!(found.z_dot, (after.1 - before.1) / 2e-6, epsilon = 1e-8);
            let back = results_of_branches::vjp(device, 2.0, 3.0, &0.0, &0.0, x, n).unwrap();
            approx::assert_abs_diff_eq!(back.x_bar, 2.0 * found.y_dot + 3.0 * found.z_dot, epsilon = 1e-12);
        }
    }
}

#[pure]
fn is_odd<T: Real>(n: i64, x: T, yes: bool) -> bool {
    if x > 0.0 {
        n % 2 == 1
    } else {
        yes
    }
}

#[pure]
fn one_of_both<T: Real>(first: bool, x: T) -> T {
    if first {
        x * x
    } else {
        3.0 * x
    }
}

/// Truth values that are results of one function and arguments of another, which reads numbers too.
#[reversible(tangent, inverse_adjoint)]
fn truths<T: Real>(y: &mut T, x: T, n: i64) {
    *y += one_of_both(is_odd(n, x * x, is_odd(n + 1, x.cos(), n > 4)), x);
    let (p, odd) = if n > 2 { (x, is_odd(n, x, true)) } else { (T::one(), false) };
    *y += one_of_both(odd, p);
    let (k, q, both) = match n {
        3 => (1i64, x * x, true),
        _ => (n, T::one(), false),
    };
    *y += one_of_both(both, q * T::from_f64(k as f64));
    let whole = if n > 2 { two(x) } else { (x, T::one()) };
    *y += whole.0 * whole.1;
}

#[test]
fn truth_values_between_pure_functions_carry_no_tangent() {
    let x = 0.75;
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        // x² + x² + x⁴ + x³ and 3x + 3 + 3 · 2 + x
        let odd = [2.0 * x * x + x.powi(4) + x.powi(3), 4.0 * x + 4.0 * x.powi(3) + 3.0 * x * x];
        for (n, [y, slope]) in [(3, odd), (2, [4.0 * x + 9.0, 4.0])] {
            let found = truths::jvp(device, &0.0, 1.0, &0.0, x, n).unwrap();
            approx::assert_abs_diff_eq!(found.y, y, epsilon = 1e-12);
            approx::assert_abs_diff_eq!(found.y_dot, slope, epsilon = 1e-12);
            let (g, h) = truths::gradient_and_hvp(device, 1.0, x, n).unwrap();
            approx::assert_abs_diff_eq!(g.x, slope, epsilon = 1e-12);
            let second = if n == 3 { 4.0 + 12.0 * x * x + 6.0 * x } else { 0.0 };
            approx::assert_abs_diff_eq!(h.x, second, epsilon = 1e-12);
        }
    }
}
