//! `f16` and `bf16`: the same bits on every device, gradients in `f32`, inverses.
#![allow(clippy::unwrap_used)] // helpers of tests

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev::compare;
use rev::prelude::*;
use rev::scalar::{Half, WideBatch};
use rev::tolerance::Options;
use rev::Outputs;

#[pure]
fn bend<T: Real>(x: T, w: T) -> T {
    x * w / (1.0 + x * x)
}

/// Updates of elements, a sum that all iterations share, calls of pure functions, branches.
#[reversible]
fn blend<T: Real>(loss: &mut T, y: &mut [T], x: &[T], w: &[T]) {
    for i in par(0..x.len()) {
        if x[i] > 0.25 {
            y[i] += (x[i] * w[0]).sin() + bend(x[i], w[1]);
        } else {
            y[i] -= (x[i] - w[1]).exp() * 0.5;
        }
    }
    for i in par(0..x.len()) {
        *loss += y[i] * w[0] + w[1].powi(3);
    }
}

fn numbers<T: Half>(n: usize, start: f64, step: f64) -> Vec<T> {
    (0..n).map(|k| T::from_f64(start + step * (k as f64 * 0.618).fract())).collect()
}

/// Values and gradient of [`blend`].
fn outputs<T>(device: &dyn Device) -> Result<Outputs, Error>
where
    T: Half + Primal<Gradient = f32, Shadow<1> = WideBatch<T, 1>>,
{
    let (x, w) = (numbers::<T>(300, -1.0, 2.0), numbers::<T>(2, 0.5, 1.0));
    let (mut loss, mut y) = (T::zero(), numbers::<T>(300, 0.0, 1.0));
    let start = y.clone();
    blend::run(device, &mut loss, &mut y, &x, &w)?;
    let g = blend::gradient(device, &start, &x, &w)?;
    let mut back = (loss, y.clone());
    blend::run_inverse(device, &mut back.0, &mut back.1, &x, &w)?;
    Ok(Outputs::new()
        .with("loss", &loss)
        .with("y", &y)
        .with("back", &back.1)
        .with("x_bar", &g.x)
        .with("w_bar", &g.w))
}

#[test]
fn devices_agree_in_every_bit() {
    let cpus = [Cpu::with_threads(1), Cpu::with_threads(3).parallel_from(0)].map(|c| c.deterministic(true));
    let emulator = rev::Emulator::new().deterministic(true);
    let interpreter = Interpreter::with_options(Options { deterministic: true, ..Options::default() });
    for other in [&cpus[1] as &dyn Device, &emulator, &interpreter] {
        let both = [&cpus[0] as &dyn Device, other];
        let outcome = compare(both, outputs::<rev::scalar::f16>).unwrap();
        assert!(outcome.identical(), "{outcome}");
        let outcome = compare(both, outputs::<rev::scalar::bf16>).unwrap();
        assert!(outcome.identical(), "{outcome}");
    }
}

/// The sums in any order: up to rounding of the type.
#[test]
fn shared_sums_in_any_order() {
    #[reversible]
    fn total<T: Real>(y: &mut T, s: &mut [T], x: &[T]) {
        for i in par(0..x.len()) {
            *y += x[i];
            s[i % 3] += x[i];
        }
    }
    let x = [f16::from_f32(0.5); 200];
    let (mut y, mut s) = (f16::ZERO, [f16::ZERO; 3]);
    total::run(&rev::Emulator::new(), &mut y, &mut s, &x).unwrap();
    assert_eq!((y.to_f32(), s.map(f16::to_f32)), (100.0, [33.5, 33.5, 33.0]));
}

fn far<T>(unit: f64)
where
    T: Half + Primal<Gradient = f32, Shadow<1> = WideBatch<T, 1>>,
{
    let (y, x, w) = (numbers::<T>(40, 0.0, 1.0), numbers::<T>(40, -1.0, 2.0), numbers::<T>(2, 0.5, 1.0));
    let wide = |v: &[T]| v.iter().map(|v| v.to_f64()).collect::<Vec<f64>>();
    let half = blend::gradient(&Cpu::new(), &y, &x, &w).unwrap();
    let exact = blend::gradient(&Cpu::new(), &wide(&y), &wide(&x), &wide(&w)).unwrap();
    // an element's derivative comes from fewer than ten rounded operations on numbers below 4
    for (a, b) in half.x.iter().zip(&exact.x) {
        assert_abs_diff_eq!(f64::from(*a), b, epsilon = 40.0 * unit);
    }
    // the shared ones are sums of forty such terms, which aren't rounded to 16 bits any more
    for (a, b) in half.w.iter().zip(&exact.w) {
        assert_abs_diff_eq!(f64::from(*a), b, epsilon = 40.0 * 40.0 * unit);
    }
}

#[test]
fn gradients_are_near_those_of_doubles() {
    far::<f16>(2f64.powi(-11));
    far::<bf16>(2f64.powi(-8));
}

#[test]
fn sums_of_cotangents_lose_nothing() {
    #[reversible]
    fn scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
        for i in par(0..x.len()) {
            y[i] += a * x[i];
        }
    }
    let n = 20_000;
    let (mut y, x) = (vec![bf16::ZERO; n], vec![bf16::from_f32(1.5); n]);
    let mut a_bar = WideBatch::from(0.0);
    let mut x_bar = vec![WideBatch::<bf16, 1>::from(0.0); n];
    let mut y_bar = vec![WideBatch::from(1.0); n];
    scaled::adjoint(&Cpu::new(), &mut y, &mut y_bar, bf16::ONE, &mut a_bar, &x, &mut x_bar).unwrap();
    // in `bf16` the sum would stop at 512
    assert_eq!(a_bar.get(), 30_000.0);
    assert!(x_bar.iter().all(|v| v.get() == 1.0));
}

#[test]
fn forward_then_inverse() {
    let (start, n) = (f16::from_f32(0.25), 50);
    let (y0, x, w) = (numbers::<f16>(n, 0.0, 1.0), numbers::<f16>(n, -1.0, 2.0), numbers::<f16>(2, 0.5, 1.0));
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new(), &rev::Emulator::new()] {
        let (mut loss, mut y) = (start, y0.clone());
        blend::run(device, &mut loss, &mut y, &x, &w).unwrap();
        assert!(loss.to_f32() < 128.0 && y.iter().all(|v| v.to_f32().abs() < 4.0));
        blend::run_inverse(device, &mut loss, &mut y, &x, &w).unwrap();
        // two roundings of numbers below 4, a hundred of numbers below 128, each half a last bit
        let off = |a: f16, b: f16| (a.to_f32() - b.to_f32()).abs();
        assert!(y.iter().zip(&y0).all(|(a, b)| off(*a, *b) <= 2f32.powi(-9)), "{}", device.name());
        assert!(off(loss, start) <= 2.0 * n as f32 * 2f32.powi(-5), "{}: {loss}", device.name());
        let report = blend::check_gradient(device, &start, &y, &x, &w).unwrap();
        assert!(report.arguments.iter().all(|a| a.passed), "{}: {report}", device.name());
    }
}

/// Types by their names, conversions, instructions, ancillas, complex numbers over them.
#[reversible]
fn named(y: &mut f16, z: &mut rev::scalar::bf16, c: &mut Complex<f16>, x: f16, n: i32) {
    let mut t = f16::from_f64(0.0);
    t += x * 3.0;
    *y += t + (n as f16) * 0.25;
    *z += (t as bf16) + (x as f64 * 0.5) as bf16;
    neg(y);
    mul_int(z, 2);
    *c += Complex::new(t, x) * Complex::new(x, 1.0);
    rot(y, c.re, x);
}

#[test]
fn types_by_name() {
    let start = || (f16::ONE, bf16::ONE, Complex::new(f16::ONE, f16::ZERO));
    let x = f16::from_f32(0.75);
    let mut seen = Vec::new();
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new(), &rev::Emulator::new()] {
        let (mut y, mut z, mut c) = start();
        named::run(device, &mut y, &mut z, &mut c, x, 3).unwrap();
        seen.push(format!("{y:?} {z:?} {c:?}"));
        let report = named::check_gradient(device, &start().0, &start().1, &start().2, x, 3).unwrap();
        assert!(report.passed(), "{}: {report}", device.name());
        named::run_inverse(device, &mut y, &mut z, &mut c, x, 3).unwrap();
        assert!(abs_diff_eq!(y.to_f32(), 1.0, epsilon = 0.02), "{y} {z} {c:?}");
        assert!(abs_diff_eq!(z.to_f32(), 1.0, epsilon = 0.05), "{y} {z} {c:?}");
    }
    assert!(seen.iter().all(|s| *s == seen[0]), "{seen:?}");
    // each operation is rounded: 2⁻¹² is lost beside 1 although an `f32` holds the sum
    #[reversible]
    fn sum<T: Real>(y: &mut T, a: T, b: T) {
        *y += (a + b) - a;
    }
    let mut y = f16::ZERO;
    sum(&mut y, f16::ONE, f16::from_f32(2f32.powi(-12))).unwrap();
    assert_eq!(y, f16::ZERO);
}
