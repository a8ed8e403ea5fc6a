//! Loops over the elements of arrays are loops over their indices.

#![allow(clippy::unwrap_used)]

use approx::abs_diff_eq;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Point<T: Real> {
    x: T,
    y: T,
}

/// Every spelling.
#[reversible]
fn spelled<T: Real>(y: &mut [T], total: &mut T, xs: &[T], points: &Vec<Point<T>>, table: &[i64; 3]) {
    for x in xs {
        *total += x.sin();
    }
    for &x in xs.iter() {
        *total += x * x;
    }
    for (i, x) in xs.iter().enumerate() {
        y[i] += *x * (i as T);
    }
    for (i, &x) in par(xs.iter().enumerate()) {
        y[i] += x.exp();
        *total += x;
    }
    for p in par(points) {
        *total += p.x * p.y;
    }
    for (k, n) in table.iter().enumerate().rev().step_by(2) {
        *total += xs[k] * (n as T);
    }
    for (_, x) in xs[1..].iter().enumerate() {
        *total -= x;
    }
}

/// The same by indices.
#[reversible]
fn by_index<T: Real>(y: &mut [T], total: &mut T, xs: &[T], points: &Vec<Point<T>>, table: &[i64; 3]) {
    for i in 0..xs.len() {
        *total += xs[i].sin();
    }
    for i in 0..xs.len() {
        *total += xs[i] * xs[i];
    }
    for i in 0..xs.len() {
        y[i] += xs[i] * (i as T);
    }
    for i in par(0..xs.len()) {
        y[i] += xs[i].exp();
        *total += xs[i];
    }
    for i in par(0..points.len()) {
        *total += points[i].x * points[i].y;
    }
    for k in (0..3).rev().step_by(2) {
        *total += xs[k] * (table[k] as T);
    }
    for i in 1..xs.len() {
        *total -= xs[i];
    }
}

#[test]
fn elements_are_indices() {
    let xs = [0.5, -1.25, 2.0, 0.75];
    let points: Vec<_> = (0..5).map(|k| Point { x: f64::from(k), y: 0.5 - f64::from(k) / 8.0 }).collect();
    let table = [3, -1, 2];
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let found = spelled::gradient(device, &[0.0; 4], &xs, &points, &table).unwrap();
        let expected = by_index::gradient(device, &[0.0; 4], &xs, &points, &table).unwrap();
        assert_eq!((found.value, found.xs), (expected.value, expected.xs), "{}", device.name());
        assert_eq!(found.points, expected.points, "{}", device.name());
        let (mut y, mut total) = ([0.0; 4], 0.0);
        spelled::run(device, &mut y, &mut total, &xs, &points, &table).unwrap();
        let (mut other, mut sum) = ([0.0; 4], 0.0);
        by_index::run(device, &mut other, &mut sum, &xs, &points, &table).unwrap();
        assert_eq!((y, total), (other, sum), "{}", device.name());
        spelled::run_inverse(device, &mut y, &mut total, &xs, &points, &table).unwrap();
        assert!(abs_diff_eq!(total, 0.0, epsilon = 1e-12), "{}", device.name());
        assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-12)), "{}", device.name());
    }
}
