//! What can go wrong in a run is an error value that says what, where and in which iteration, and
//! leaves the arguments as the failing statement found them. Nothing panics, with checks on or off.

#![allow(clippy::unwrap_used)]

mod common;

use common::devices;
use rev_core::error::{Cause, Error};
use rev_core::interp::Interpreter;
use rev_core::tolerance::{Options, Tolerance, Tolerances};
use rev_cpu::prelude::*;

/// The devices that make checks.
fn checking() -> [Box<dyn Device>; 2] {
    [Box::new(Cpu::new()), Box::new(Interpreter::new())]
}

/// The variables and values of the loops around the failing statement.
fn iterations(error: &Error) -> Vec<(String, i128)> {
    let site = error.site().unwrap();
    site.iterations.iter().map(|i| (i.variable.to_string(), i.value)).collect()
}

// where

#[reversible]
fn inner(y: &mut [f64], x: &[f64], at: usize) {
    for j in 0..x.len() {
        y[j] += x[j];
        y[at + j] += x[j] * 2.0;
    }
}

#[reversible]
fn outer(y: &mut [f64], x: &[f64], done: &mut i64) {
    for i in 0..5 {
        inc(done);
        inner(&mut y[..], &x[..], i);
    }
}

#[test]
fn an_error_names_function_calls_line_statement_and_iterations() {
    let first_line = include_str!("failures.rs").lines().position(|l| l.contains("y[at + j] +=")).unwrap();
    for device in devices() {
        let (mut y, mut done) = ([0.0; 3], 0);
        let error = outer::run(&*device, &mut y, &[1.0, 10.0], &mut done).unwrap_err();
        let Cause::IndexOutOfRange { index, shape, .. } = error.cause() else { panic!("{error}") };
        assert_eq!((&index[..], &shape[..]), (&[3][..], &[3][..]));
        let [at, call] = error.trace() else { panic!("{error}") };
        assert!(at.function.ends_with("inner") && call.function.ends_with("outer"), "{error}");
        assert_eq!(at.statement, "y[at + j] += x[j] * 2.0", "{}", device.name());
        assert_eq!(at.span.line as usize, first_line + 1);
        assert!(at.file.ends_with("failures.rs"), "{error}");
        if device.name() == "cpu" {
            assert_eq!(call.statement, "inner(&mut y[..], &x[..], i)");
        }
        assert_eq!(iterations(&error), [("j".to_string(), 1)]);
        assert_eq!((&*call.iterations[0].variable, call.iterations[0].value), ("i", 2));
        // the state in which the failing statement found them
        assert_eq!((y, done), ([1.0 + 2.0 + 1.0 + 1.0, 10.0 + 20.0 + 2.0 + 10.0 + 10.0, 20.0 + 2.0], 3));
    }
}

#[reversible]
fn counted(k: &mut i64, y: &mut [i64], x: &[i64]) {
    #[post(*k > 0)]
    while *k < 9 {
        y[0] += x[0] / (3 - *k);
        *k += 1;
    }
}

#[test]
fn an_integer_is_divided_by_zero() {
    for device in devices() {
        let (mut k, mut y) = (0, [0]);
        let error = counted::run(&*device, &mut k, &mut y, &[6]).unwrap_err();
        assert!(matches!(error.cause(), Cause::DivisionByZero), "{error}");
        assert_eq!(iterations(&error), [("while".to_string(), 3)]);
        assert_eq!((k, y), (3, [2 + 3 + 6]));
        // back from the very state that it left is an error too, not a panic
        assert!(counted::run_inverse(&*device, &mut 9, &mut y, &[6]).is_err());
    }
}

// what

#[reversible]
fn leftover(y: &mut f64, x: f64) {
    for i in 0..3 {
        let mut a = 0.5;
        a += x * i as f64;
        *y += a;
        release(a);
    }
}

#[reversible]
fn wrong_sign(y: &mut f64, x: f64) {
    #[post(*y > 0.0)]
    if x > 1.0 {
        *y += x;
    } else {
        *y -= x;
    }
}

#[reversible]
fn alias(x: &mut [f64], i: usize, j: usize, k: usize) {
    x[k] += 1.0;
    rot(x[i], x[j], 0.5);
}

#[reversible]
fn swapped(x: &mut [f64], i: usize, j: usize) {
    swap(x[i], x[j]);
}

#[reversible]
fn move_out(stack: &mut Stack<i64>, a: &mut i64, b: &mut i64) {
    pop(stack, a);
    pop(stack, b);
}

#[test]
fn each_check_says_what_it_expected() {
    for device in checking() {
        let mut y = 0.0;
        let error = leftover::run(&*device, &mut y, 2.0).unwrap_err();
        let Cause::Release { place, expected, found, .. } = error.cause() else { panic!("{error}") };
        assert_eq!((&**place, &**expected, &**found), ("a", "0.5", "2.5"), "{}", device.name());
        assert_eq!(iterations(&error), [("i".to_string(), 1)]);
        assert_eq!(y, 3.0);

        let mut y = 0.0;
        wrong_sign::run(&*device, &mut y, 2.0).unwrap();
        let error = wrong_sign::run(&*device, &mut y, -3.0).unwrap_err();
        assert!(matches!(error.cause(), Cause::Condition { expected: false, .. }), "{error}");
        assert!(error.to_string().contains("y > 0.0`"), "{error}");

        let mut x = [1.0, 2.0, -1.0];
        let error = alias::run(&*device, &mut x, 1, 1, 0).unwrap_err();
        assert!(matches!(error.cause(), Cause::Alias { .. }), "{error}");
        assert_eq!(x, [2.0, 2.0, -1.0]);
        // exchanged with itself, it stays
        swapped::run(&*device, &mut x, 2, 2).unwrap();
        assert_eq!(x, [2.0, 2.0, -1.0]);
    }
}

#[test]
fn a_stack_that_ends_and_a_target_that_is_not_zero() {
    for device in devices() {
        let (mut stack, mut a, mut b) = (Stack::new(), 0, 0);
        stack.push(7);
        let error = move_out::run(&*device, &mut stack, &mut a, &mut b).unwrap_err();
        assert!(matches!(error.cause(), Cause::StackUnderflow { .. }), "{error}");
        assert_eq!((a, b, stack.len()), (7, 0, 0));
    }
    for device in checking() {
        let (mut stack, mut a, mut b) = (Stack::new(), 3, 0);
        stack.push(7);
        let error = move_out::run(&*device, &mut stack, &mut a, &mut b).unwrap_err();
        assert!(matches!(error.cause(), Cause::PopTarget { .. }), "{error}");
        assert_eq!((a, stack.len()), (3, 1));
    }
}

// with checks off

#[test]
fn with_checks_off_reversibility_is_the_callers_business() {
    let cpu = Cpu::new().checks(false);
    let mut y = 0.0;
    leftover::run(&cpu, &mut y, 2.0).unwrap();
    assert_eq!(y, 7.5);
    wrong_sign::run(&cpu, &mut y, -30.0).unwrap();
    let mut x = [1.0, 2.0];
    swapped::run(&cpu, &mut x, 1, 1).unwrap();
    assert_eq!(x, [1.0, 2.0]);
    // may be either: with one element twice a rotation means nothing
    let _ = alias::run(&cpu, &mut x, 1, 1, 0);
}

// parallel loops

#[reversible]
fn spread(y: &mut [i64], idx: &[usize], x: &[i64], by: &[i64]) {
    for i in par(0..idx.len()) {
        let mut share = 0;
        share += x[i] / by[i];
        y[idx[i]] += share;
        release(share, x[i]);
    }
}

#[test]
fn an_error_in_a_parallel_loop() {
    let n = 10_000;
    let idx: Vec<usize> = (0..n).map(|i| i % 7).collect();
    let x = vec![6; n];
    for threads in [1, 2, 8] {
        let cpu = Cpu::with_threads(threads);
        let mut by = vec![1; n];
        spread::run(&cpu, &mut [0; 7], &idx, &x, &by).unwrap();
        by[7321] = 0;
        let error = spread::run(&cpu, &mut [0; 7], &idx, &x, &by).unwrap_err();
        assert!(matches!(error.cause(), Cause::DivisionByZero), "{error}");
        assert_eq!(iterations(&error), [("i".to_string(), 7321)]);
        by[7321] = 2;
        let error = spread::run(&cpu, &mut [0; 7], &idx, &x, &by).unwrap_err();
        let Cause::Release { expected, found, tolerance, .. } = error.cause() else { panic!("{error}") };
        assert_eq!((&**expected, &**found, *tolerance), ("0", "-3", 0.0));
        let mut far = idx.clone();
        far[9_999] = 7;
        by[7321] = 1;
        let error = spread::run(&cpu, &mut [0; 7], &far, &x, &by).unwrap_err();
        assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}");
        assert_eq!(iterations(&error), [("i".to_string(), 9_999)]);
        assert!(spread::run(&cpu, &mut [0; 7], &idx, &x[1..], &by).is_err());
    }
}

// NaN, infinity, tolerance

#[reversible]
fn nearly<T: Real>(x: T, rest: T) {
    let mut a = T::zero();
    a += x;
    a -= x + rest;
    release(a);
}

fn tolerating(tolerance: Tolerance) -> [Box<dyn Device>; 2] {
    let tolerances = Tolerances { f64: tolerance, ..Tolerances::default() };
    let options = Options { tolerances, ..Options::default() };
    [Box::new(Cpu::new().tolerances(tolerances)), Box::new(Interpreter::with_options(options))]
}

#[test]
fn the_caller_sets_the_tolerance() {
    for device in checking() {
        nearly::run(&*device, 1.0, 1e-10).unwrap();
        assert!(nearly::run(&*device, 1.0, 1e-6).is_err());
        nearly::run(&*device, 1e6, 1e-6).unwrap();
        nearly::run(&*device, 1f32, 1e-5).unwrap();
        assert!(nearly::run(&*device, 1f32, 1e-2).is_err());
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(nearly::run(&*device, x, 0.0).is_err(), "{x} on {}", device.name());
            assert!(nearly::run(&*device, 1.0, x).is_err(), "{x} on {}", device.name());
        }
    }
    for device in tolerating(Tolerance { absolute: 0.5, relative: 0.5 }) {
        nearly::run(&*device, 1.0, 0.25).unwrap();
        assert!(nearly::run(&*device, 1.0, f64::NAN).is_err());
        assert!(nearly::run(&*device, 1f32, 0.25).is_err(), "another type");
    }
    for device in tolerating(Tolerance::EXACT) {
        nearly::run(&*device, 1.0, 0.0).unwrap();
        assert!(nearly::run(&*device, 1.0, 1e-15).is_err());
    }
}

#[reversible]
fn decided(y: &mut f64, x: f64) {
    #[post(*y > x)]
    if x > 0.0 {
        *y += x;
    }
}

#[reversible]
fn added(y: &mut f64, x: f64) {
    *y += x;
}

#[test]
fn nan_in_a_condition_and_in_values() {
    for device in checking() {
        // NaN isn't above zero before, and not above itself after
        decided::run(&*device, &mut 1.0, f64::NAN).unwrap();
        let mut y = f64::NAN;
        let error = decided::run(&*device, &mut y, 1.0).unwrap_err();
        assert!(matches!(error.cause(), Cause::Condition { .. }), "{error}");
        let report = nearly::check_inverse(&*device, f64::NAN, 0.0);
        assert!(report.is_err());
    }
    for device in devices() {
        let report = added::check_inverse(&*device, &0.0, f64::INFINITY).unwrap();
        assert!(!report.passed(), "∞ can't be taken away again:\n{report}");
    }
}

// shapes

#[reversible]
fn add(y: &mut [f64], m: ndarray::ArrayView2<f64>) {
    for i in 0..y.len() {
        y[i] += m[[i, 0]] * 2.0;
    }
}

#[test]
fn shapes_that_disagree() {
    let m = ndarray::array![[1.0], [2.0]];
    for device in devices() {
        let error = add::vjp(&*device, &[1.0], &[0.0; 2], m.view()).unwrap_err();
        assert!(matches!(error.cause(), Cause::Shape { .. }), "{error}");
        let mut y = [0.0; 3];
        let error = add::run(&*device, &mut y, m.view()).unwrap_err();
        assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}");
        assert_eq!(y, [2.0, 4.0, 0.0]);
        let (mut y_bar, mut m_bar) = ([Batch([0.0]); 2], ndarray::Array2::from_elem((2, 2), Batch([0.0])));
        let error =
            add::adjoint::<1>(&*device, &mut y[..2], &mut y_bar, m.view(), m_bar.view_mut()).unwrap_err();
        assert!(matches!(error.cause(), Cause::Shape { .. }), "{error}");
    }
}

// extremes

#[reversible]
fn extremes(y: &mut i32, a: i32, b: i32, k: u32) {
    *y += a * b - a + (a >> k) + (b << k);
    *y ^= -a;
    *y += a.abs() - b / -1;
}

#[reversible]
fn far_index(y: &mut [f64], i: i64, j: usize) {
    y[(i + 1) as usize] += 1.0;
    y[j - 1] += 1.0;
    y[j + j] += 1.0;
}

#[test]
fn extreme_integers_wrap_and_never_panic() {
    for device in devices() {
        for (a, b, k) in
            [(i32::MIN, i32::MAX, 31), (i32::MAX, i32::MIN, 0), (i32::MIN, i32::MIN, 32), (1, 0, 999)]
        {
            let mut y = i32::MAX;
            if extremes::run(&*device, &mut y, a, b, k).is_ok() {
                extremes::run_inverse(&*device, &mut y, a, b, k).unwrap();
                assert_eq!(y, i32::MAX, "{}", device.name());
            }
        }
        for (i, j) in
            [(i64::MAX, 0), (i64::MIN, 1), (-2, 2), (0, 0), (0, usize::MAX), (0, usize::MAX / 2 + 1)]
        {
            let error = far_index::run(&*device, &mut [0.0; 3], i, j).unwrap_err();
            assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}");
        }
    }
}

#[reversible]
fn slices(y: &mut [f64], x: &[f64], i: usize, j: usize) {
    inner(&mut y[i..j], &x[j..i], 0);
}

#[reversible]
fn sized(y: &mut f64, n: i64) {
    let mut a: ndarray::Array1<f64> = zeros(n as usize);
    for i in 0..a.len() {
        a[i] += 1.0;
    }
    *y += a[0];
}

#[reversible]
fn strided(y: &mut f64, k: usize) {
    for i in (0..9).step_by(k) {
        *y += i as f64;
    }
}

#[test]
fn ranges_that_make_no_sense() {
    for device in devices() {
        for (i, j) in [(2, 1), (0, 9), (9, 9), (usize::MAX, 0)] {
            let error = slices::run(&*device, &mut [0.0; 3], &[1.0; 3], i, j).unwrap_err();
            assert!(!error.to_string().is_empty());
        }
        let error = sized::run(&*device, &mut 0.0, 0).unwrap_err();
        assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}");
        let error = strided::run(&*device, &mut 0.0, 0).unwrap_err();
        assert!(matches!(error.cause(), Cause::Step { found: 0 }), "{error}");
    }
}
