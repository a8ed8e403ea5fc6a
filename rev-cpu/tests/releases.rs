//! Ancillas that programs bring back themselves, and elements that only the values of indices tell apart, in loops that
//! run in lanes: what is asked of vectors is what is asked of one iteration after the other.

#![allow(clippy::unwrap_used)]

use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

/// `a` passes through `far[i]` and is left with `left[i]` too much: what may be left is relative to what was held.
#[reversible]
fn scalars(y: &mut [f64], far: &[f64], left: &[f64]) {
    for i in par(0..y.len()) {
        let mut a = 0.0;
        a += far[i];
        if far[i] > 2.0 {
            scale_by(a, 4.0);
            unscale_by(a, 4.0);
        }
        y[i] += a * 0.5;
        a -= far[i] - left[i];
        release(a);
    }
}

/// The same of singles, whose tolerance is wider.
#[reversible]
fn singles(y: &mut [f64], far: &[f64], left: &[f64]) {
    for i in par(0..y.len()) {
        let mut a: f32 = 1.0;
        a += far[i] as f32;
        y[i] += (a as f64) * 0.5;
        a -= (far[i] - left[i]) as f32;
        release(a);
    }
}

/// Of parts: of a pair, a complex number, an array of three in which each lane chooses, and one of run-time length.
#[reversible]
fn parts(y: &mut [f64], far: &[f64], left: &[f64]) {
    for i in par(0..y.len()) {
        let mut pair = (0.0, 0i64);
        pair.0 += far[i];
        pair.1 += i as i64;
        let mut turned = Complex::new(0.0, 0.0);
        turned.im += far[i] * 0.25;
        let mut three = [1.0; 3];
        three[i % 3] += far[i];
        let mut many = vec![2.0; 4];
        for k in 0..4 {
            many[k] += far[i] + (k as f64);
        }
        y[i] += pair.0 + turned.im + three[(i + 1) % 3] + many[i % 4];
        for k in 0..4 {
            many[k] -= far[i] + (k as f64);
        }
        many[(i + 3) % 4] += left[i] * 4.0;
        release(many);
        three[i % 3] -= far[i] - left[i] * 3.0;
        release(three);
        turned.im -= far[i] * 0.25 - left[i] * 2.0;
        release(turned);
        pair.0 -= far[i] - left[i];
        pair.1 -= i as i64;
        release(pair);
    }
}

/// An integer that a loop changes by another number of trips in each lane, and a number that a branch and a loop change.
#[reversible]
fn in_loops(y: &mut [f64], far: &[f64], left: &[f64]) {
    for i in par(0..y.len()) {
        let mut n = 0i64;
        let mut a = 0.0;
        #[post(n > 0)]
        while n < (i % 5) as i64 {
            n += 1;
            a += far[i];
        }
        y[i] += a + (n as f64);
        for _k in 0..i % 5 {
            a -= far[i];
        }
        a += left[i];
        release(a);
        n -= (i % 5) as i64;
        if left[i] > 3e7 {
            n += 1;
        }
        release(n);
    }
}

/// Its own ancilla, released by hand.
#[reversible]
fn halved(y: &mut f64, far: f64, left: f64) {
    let mut a = 0.0;
    a += far;
    *y += a * 0.5;
    a -= far - left;
    release(a);
}

#[reversible]
fn called(y: &mut [f64], far: &[f64], left: &[f64]) {
    for i in par(0..y.len()) {
        halved(&mut y[i], far[i], left[i]);
    }
}

type Program = fn(&dyn Device, bool, &mut [f64], &[f64], &[f64]) -> Result<(), Error>;

macro_rules! both_ways {
    ($($name:ident)*) => {
        [$((stringify!($name), (|d, inverse, y, far, left| match inverse {
            false => $name::run(d, y, far, left),
            true => $name::run_inverse(d, y, far, left),
        }) as Program)),*]
    };
}

/// What isn't brought back, and what it should hold.
fn words(error: &Error) -> Option<(String, String, String)> {
    let Cause::Release { place, expected, found, .. } = error.cause() else { return None };
    Some((place.to_string(), expected.to_string(), found.to_string()))
}

fn devices() -> impl Iterator<Item = Cpu> {
    [1, 2, 3, 7].into_iter().flat_map(|threads| {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        [cpu.clone(), cpu.lanes(false)]
    })
}

/// What is left in one iteration, and how far it has been, in full groups and in what is left over: the interpreter's
/// verdict, statement, iteration and words.
#[test]
fn what_is_left_is_compared_in_lanes() {
    let n = 2 * 32 + 19;
    let regular: Vec<f64> = (0..n).map(|i| 0.5 + i as f64 / 20.0).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, program) in both_ways!(scalars singles parts in_loops called) {
        for [far, left] in [
            [1.0, 1e-12],
            [1.0, 1e-6],
            [1.0, 0.25],
            [1e12, 0.25],
            [1e12, 1e-6],
            [1e12, 4e7],
            [1e-3, 1e-11],
            [1.0, f64::NAN],
            [f64::INFINITY, 0.0],
            [f64::NAN, 0.0],
            [1e300, 1e299],
            [1.0, -f64::INFINITY],
        ] {
            for at in [0, 13, 31, 32, 64, n - 1] {
                let (mut fars, mut lefts) = (regular.clone(), vec![0.0; n]);
                (fars[at], lefts[at]) = (far, left);
                for inverse in [false, true] {
                    let run = |device: &dyn Device| {
                        let mut y = vec![0.25; n];
                        program(device, inverse, &mut y, &fars, &lefts).map(|()| y)
                    };
                    let expected = run(&Interpreter::new());
                    match &expected {
                        Ok(_) => passed += 1,
                        Err(_) => failed += 1,
                    }
                    let alone = run(&Cpu::with_threads(1).lanes(false));
                    for device in devices() {
                        let found = run(&device);
                        match (&found, &expected) {
                            (Ok(found), Ok(expected)) => {
                                let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                                assert!(found.iter().zip(expected).all(same), "{name}, {far}, {left}, {at}");
                            }
                            (Err(found), Err(expected)) => {
                                // the tolerance that is told is of another number where one is NaN
                                let alone = alone.as_ref().unwrap_err();
                                assert_eq!(found.cause(), alone.cause(), "{name}, {far}, {left}, {at}");
                                assert_eq!(words(found), words(expected), "{name}, {far}, {left}, {at}");
                                let [here, there] = [found, expected].map(|e| e.site().unwrap());
                                assert_eq!(here.span.line, there.span.line, "{found}\n{expected}");
                                assert_eq!(here.iterations, there.iterations, "{found}\n{expected}");
                                let [outer, other] = [found, expected].map(|e| e.trace().last().unwrap());
                                assert_eq!(outer.iterations, other.iterations, "{found}\n{expected}");
                            }
                            _ => panic!(
                                "{name}, {far}, {left} at {at}, {inverse}, {device:?}: {found:?}, {expected:?}"
                            ),
                        }
                    }
                }
            }
        }
    }
    assert!(passed > 100 && failed > 100, "{passed} {failed}");
}

#[reversible]
fn exchange(a: &mut f64, b: &mut f64) {
    swap(*a, *b);
    *a += *b;
}

/// Two elements of an iteration's row that `j` may make one, changed by a call, an update and a rotation.
#[reversible]
fn rows(mut x: ndarray::ArrayViewMut2<f64>, j: &[usize], how: usize) {
    for i in par(0..j.len()) {
        if how == 0 {
            exchange(&mut x[[i, 0]], &mut x[[i, j[i]]]);
        }
        if how == 1 {
            x[[i, 0]] += x[[i, j[i]]];
        }
        if how == 2 {
            rot(x[[i, 0]], x[[i, j[i]]], 0.5);
        }
    }
}

#[test]
fn elements_that_are_one_in_some_lane() {
    let n = 2 * 32 + 19;
    for how in 0..3 {
        for at in [None, Some(0), Some(31), Some(40), Some(64), Some(n - 1)] {
            let mut j: Vec<usize> = (0..n).map(|i| 1 + i % 2).collect();
            if let Some(at) = at {
                j[at] = 0;
            }
            let run = |device: &dyn Device| {
                let mut x = ndarray::Array2::from_shape_fn((n, 3), |(i, k)| (i * 3 + k) as f64 * 0.25);
                rows::run(device, x.view_mut(), &j, how).map(|()| x)
            };
            let expected = run(&Interpreter::new());
            assert_eq!(expected.is_err(), at.is_some());
            for device in devices() {
                match (run(&device), &expected) {
                    (Ok(found), Ok(expected)) => assert_eq!(found, *expected),
                    (Err(found), Err(expected)) => {
                        assert!(matches!(found.cause(), Cause::Alias { .. }), "{found}");
                        assert!(matches!(expected.cause(), Cause::Alias { .. }), "{expected}");
                        let [here, there] = [&found, expected].map(|e| e.site().unwrap());
                        assert_eq!((here.span.line, &here.iterations), (there.span.line, &there.iterations));
                    }
                    (found, expected) => panic!("{how}, {at:?}, {device:?}: {found:?}, {expected:?}"),
                }
            }
            // with checks off a call still compares what it lends
            if how == 0 {
                for device in devices() {
                    assert_eq!(run(&device.checks(false)).is_err(), at.is_some());
                }
            }
        }
    }
}
