//! Derivatives of second order and above of compiled programs: of pure functions, of functions that take functions, of parts of
//! complex numbers.

use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-7 * a.abs().max(b.abs()).max(1.0), "{a} and {b}");
}

/// The derivative of `f` at 0, by central differences.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-4;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn moved(x: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + h * v).collect()
}

#[pure(order = 3, d(x) = x * x * 3.0)]
fn cubed<T: Real>(x: T) -> T {
    x * x * x
}

/// Two results, one of a function with a given derivative.
#[pure(order = 3)]
fn swing<T: Real>(x: T, k: T) -> (T, T) {
    let s = (k * x).sin();
    (s * x, cubed(s))
}

#[reversible(tangent = 2)]
fn swings<T: Real>(y: &mut T, x: &[T], k: T) {
    for i in par(0..x.len()) {
        let (a, b) = swing(x[i], k);
        *y += a * b;
    }
}

/// The same without pure functions.
#[reversible(tangent)]
fn written_out<T: Real>(y: &mut T, x: &[T], k: T) {
    for i in 0..x.len() {
        let s = (k * x[i]).sin();
        *y += s * x[i] * s * s * s;
    }
}

#[test]
fn pure_functions_have_third_derivatives() {
    type Slope = <swings as HasTangent>::Tangent;
    let n = 40;
    let of = |f: fn(f64) -> f64, scale: f64| (0..n).map(|i| f(scale * i as f64)).collect::<Vec<f64>>();
    let (x, v, u, w) = (of(f64::sin, 0.37), of(f64::cos, 0.71), of(f64::sin, 0.23), of(f64::cos, 0.11));
    let along = |h: f64| {
        let (v, x) = (moved(&v, &w, h), moved(&x, &u, h));
        written_out::hvp(&Cpu::new(), &v, 0.4 + 0.3 * h, &x, 0.8 + 0.2 * h).unwrap()
    };
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        // products of the Hessian of a slope, by both ways
        let found = Slope::hvp(device, &0.5, &u, &w, 0.2, 0.3, &0.0, &x, &v, 0.8, 0.4).unwrap();
        let (_, other) =
            Slope::gradient_and_hvp(device, &0.5, &u, &w, 0.2, 0.3, &0.0, &x, &v, 0.8, 0.4).unwrap();
        for i in (0..n).step_by(7) {
            near(found.x[i], difference(|h| along(h).x[i]));
            near(other.x[i], found.x[i]);
        }
        near(found.k, difference(|h| along(h).k));
        near(other.k, found.k);
    }
}

#[pure(order = 3)]
fn dent<T: Real>(x: T, k: T) -> T {
    k / (1.0 + x * x)
}

#[reversible(tangent, adjoint)]
fn dents<T: Real>(y: &mut T, x: &[T; 2], k: T) {
    *y += dent(x[0], k) * dent(x[1], x[0]);
}

/// The square of the length of a gradient: its own Hessian has fourth derivatives.
#[reversible(tangent)]
fn steepness<T: Real>(y: &mut T, x: &[T; 2], k: T) {
    let mut g = [T::zero(); 2];
    let mut k_bar = T::zero();
    dents::gradient(x, &mut g, k, &mut k_bar);
    *y += g[0] * g[0] + g[1] * g[1] + k_bar;
}

#[test]
fn programs_about_gradients_of_pure_functions_have_hessians() {
    let (x, k, v) = ([0.4, -0.7], 1.3, [0.6, 1.1]);
    let at = |h: f64| [x[0] + h * v[0], x[1] + h * v[1]];
    let bell = |x: f64| 1.0 / (1.0 + x * x);
    let by_hand = |[a, b]: [f64; 2]| {
        let (p, q) = (bell(a), bell(b));
        let g = [k * q * (p - 2.0 * a * a * p * p), -2.0 * k * p * a * b * q * q];
        g[0] * g[0] + g[1] * g[1] + p * a * q
    };
    let value = |x: [f64; 2]| {
        let mut y = 0.0;
        steepness(&mut y, &x, k).unwrap();
        y
    };
    near(value(x), by_hand(x));
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let slope = |h: f64| steepness::gradient(device, &at(h), k).unwrap();
        near(slope(0.0).x[0] * v[0] + slope(0.0).x[1] * v[1], difference(|h| by_hand(at(h))));
        let product = steepness::hvp(device, &v, 0.0, &x, k).unwrap();
        near(product.x[0], difference(|h| slope(h).x[0]));
        near(product.x[1], difference(|h| slope(h).x[1]));
        near(product.k, difference(|h| slope(h).k));
    }
}
