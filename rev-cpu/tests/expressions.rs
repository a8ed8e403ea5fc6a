//! Expressions on every device: every function of the table with a literal in each of its places, as a
//! function and as a method, in loops, lanes and derivatives; and `#[pure]` functions with results of every kind.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev_core::interp::Interpreter;
use rev_core::ops::{Func, Shape};
use rev_cpu::prelude::*;

/// With checks, in lanes without, and on the interpreter.
fn devices() -> [Box<dyn Device>; 3] {
    let cpu = Cpu::with_threads(1);
    [Box::new(cpu.clone()), Box::new(cpu.checks(false)), Box::new(Interpreter::new())]
}

/// These programs are large, and what they keep on the stack isn't shared where it isn't optimised.
fn on_a_large_stack(test: fn()) {
    std::thread::Builder::new().stack_size(1 << 30).spawn(test).unwrap().join().unwrap();
}

/// A program of the sum of expressions in `x`, each named by the function of the table, and its argument, that
/// it is about; compiled for any real number.
macro_rules! programs {
    ($($program:ident($x:ident) { $($func:ident $place:literal: $e:expr;)* })*) => {
        $(
            #[reversible]
            fn $program<T: Real>(y: &mut T, a: &[T]) {
                for i in par(0..a.len()) {
                    let $x = a[i];
                    $(*y += $e;)*
                }
            }
        )*

        /// What the programs have a literal for.
        const PLACES: &[(&str, usize)] = &[$($((stringify!($func), $place),)*)*];

        #[test]
        fn a_literal_in_every_place() {
            on_a_large_stack(literals);
        }

        fn literals() {
            // more than a group of lanes
            let a: Vec<f64> = (0..40).map(|i| 0.303 + 0.01 * f64::from(i)).collect();
            let single: Vec<f32> = a.iter().map(|x| *x as f32).collect();
            let half: Vec<f16> = a.iter().map(|x| f16::from_f64(*x)).collect();
            $(
                let mut found = Vec::new();
                for device in devices() {
                    let (device, name) = (&*device, stringify!($program));
                    let report = $program::check_gradient(device, &0.0, &a).unwrap();
                    assert!(report.passed(), "{name} on {}: {report}", device.name());
                    found.push($program::gradient(device, &a).unwrap());
                }
                let cpu = Cpu::with_threads(1).checks(false);
                let (wide, narrow) = (&found[0], $program::gradient(&cpu, &single).unwrap());
                let halved = $program::gradient(&cpu, &half).unwrap();
                for k in 0..a.len() {
                    let exact = wide.a[k];
                    let scale = 1.0 + exact.abs();
                    assert_abs_diff_eq!(f64::from(narrow.a[k]), exact, epsilon = 1e-4 * scale);
                    assert_abs_diff_eq!(f64::from(halved.a[k]), exact, epsilon = 0.1 * scale);
                }
            )*
        }
    };
}

programs! {
    powers(x) {
        powf 1: powf(2.5, x) + 2.5.powf(x);
        powf 2: powf(x, 2.5) + x.powf(2.5) + powf(x, 2) + x.powf(-1) + powf(2.0, 3.0);
        hypot 1: hypot(2.0, x) + 2.0.hypot(x) + 2.hypot(x);
        hypot 2: hypot(x, 2.0) + x.hypot(2) + hypot(3.0, 4.0);
        powi 1: powi(1.5, 2) * x;
        powi 2: powi(x, 3) + x.powi(-2);
        sqrt 1: sqrt(2.0) * x + x * 2.0.sqrt();
        recip 1: recip(2.0) * x + 4.recip() * x;
        exp 1: exp(0.5) * x + 1.exp() * x;
        expm1 1: expm1(0.5) * x + 0.5.exp_m1() * x;
        fmod 1: fmod(2.5, x) + 2.5.fmod(x) + 7 % x;
        fmod 2: fmod(x, 0.75) + x.fmod(2) + x % 0.3 + fmod(5.5, 2.0);
        cbrt 1: cbrt(2.5) * x + x.cbrt();
        exp2 1: exp2(0.5) * x + x.exp2();
        sigmoid 1: sigmoid(0.5) * x + x.sigmoid();
        softplus 1: softplus(0.5) * x + x.softplus();
        erf 1: erf(0.5) * x + x.erf();
        erfc 1: erfc(0.5) * x + x.erfc();
        ln 1: ln(2.5) * x;
        log2 1: log2(2.5) * x;
        log10 1: log10(2.5) * x;
        log1p 1: log1p(2.5) * x + 2.5.ln_1p() * x;
        ln_gamma 1: ln_gamma(2.5) * x;
        polygamma 1: polygamma(1, x);
        polygamma 2: polygamma(1, 2.5) * x;
    }
    angles(x) {
        atan2 1: atan2(0.5, x) + 0.5.atan2(x);
        atan2 2: atan2(x, 0.5) + x.atan2(-1) + atan2(1.0, 2.0);
        sin 1: sin(0.5) * x + sin_cos(0.5).0 * x + sin_cos(x).1 + x.sin_cos().0;
        cos 1: cos(0.5) * x;
        tan 1: tan(0.5) * x;
        sinh 1: sinh(0.5) * x;
        cosh 1: cosh(0.5) * x;
        tanh 1: tanh(0.5) * x;
        asin 1: asin(0.5) * x;
        acos 1: acos(0.5) * x;
        atan 1: atan(0.5) * x;
        asinh 1: asinh(0.5) * x + x.asinh();
        acosh 1: acosh(2.5) * x + (x + 1.0).acosh();
        atanh 1: atanh(0.5) * x + (0.1 * x).atanh();
        complex 1: abs2(complex(0.5, x)) + Complex::new(0.5, x).norm();
        complex 2: abs2(complex(x, 0.5)) + Complex::new(x, 0.5).norm();
        conj 1: conj(2.5) * x;
        re 1: re(2.5) * x + 2.5.re() * x;
        im 1: x + im(2.5) * x;
        abs2 1: abs2(-1.5) * x + 2.5.norm_sqr() * x;
        norm 1: norm(-2.5) * x;
        arg 1: arg(-2.5) * x;
    }
    choices(x) {
        min 1: min(0.2, x) * x + min(1.5, x) + 0.2.min(x);
        min 2: x.clamp(0.1, 0.2) * x + clamp(x, -2, 2) + clamp(2.5, x, 3.0) + min(x, 0.2) * x + min(x, 1.5) + x.min(2) + min(1.0, 2.0) * x;
        max 1: max(0.2, x) * x + max(1.5, x) + 0.2.max(x);
        max 2: max(x, 0.2) * x + max(x, 1.5) + x.max(0) + max(1, 2) * x;
        abs 1: abs(-2.5) * x;
        floor 1: floor(2.5) * x;
        ceil 1: ceil(2.5) * x;
        round 1: round(2.5) * x;
        trunc 1: trunc(2.5) * x + fract(2.5) * x + x.fract();
        copysign 1: copysign(2.0, x) * x + 2.0.copysign(x) + signum(x) * x + x.signum();
        copysign 2: copysign(x, -2.0) + x.copysign(-1) + signum(-2.5) * x;
        select 1: select(true, x, 0.5);
        select 2: select(x > 0.5, 0.5, x);
        select 3: select(x > 0.5, x, 0.5) + select(x > 0.5, 2, 3) * x;
        mul_add 1: mul_add(2.0, x, x) + 2.0.mul_add(x, 1.0);
        mul_add 2: mul_add(x, 0.5, x) + x.mul_add(3, 1.5);
        mul_add 3: mul_add(x, x, 0.5) + x.mul_add(x, -1);
        fused 1: fused(2.5 * x);
        stop_gradient 1: stop_gradient(2.5) * x + 0.5.stop_gradient();
        // conditions and conversions of literals alone
        select 1: if powf(2.0, 3.0) > 7.5 && 2 < 3 && 0.5 * 3.0 != 2.0 { x * 2.5 } else { x };
        select 1: (2.5 as T) * x + (2 as T) * x + (powf(2.0, 3.0) as T) * x;
        select 1: (((if x > 0.5 { 7 } else { 4 }) % 5) as T) * x + ((if x > 0.5 { 1.5 } else { 2.0 }) as T) * x;
    }
}

/// What is spelled by operators, and what only adjoints call.
const NOT_NAMED: [&str; 29] = [
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "quot",
    "rem",
    "bit_and",
    "bit_or",
    "bit_xor",
    "shl",
    "shr",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "or",
    "not",
    "powi_derivative",
    "arg_gradient",
    "unit",
    "scale",
    "absorb",
    "differentiable",
    "scale_real",
    "shadow_of",
];

/// A new row of the table gets a program for each of its arguments.
#[test]
fn every_place_has_a_literal() {
    for row in Func::ALL.iter().map(|f| f.row()).filter(|row| !NOT_NAMED.contains(&row.name)) {
        let shadow = |s: &Shape| matches!(s, Shape::S | Shape::SR | Shape::SC);
        if row.args.iter().any(shadow) {
            continue;
        }
        for place in 1..=row.args.len() {
            assert!(PLACES.contains(&(row.name, place)), "no literal for argument {place} of `{}`", row.name);
        }
    }
}

// results of pure functions

#[pure]
fn is_far<T: Real>(x: T, limit: T) -> bool {
    let square = x * x;
    square > limit * limit
}

#[pure]
fn level<T: Real>(x: T) -> i64 {
    if x > 0.5 {
        2
    } else {
        1
    }
}

/// A value, how it was found, and whether it is exact.
#[pure]
fn split<T: Real>(x: T, n: usize) -> (T, i32, bool) {
    let whole = x * T::from_usize(n);
    if is_far(whole, 2.0) {
        (whole * x, 1, false)
    } else {
        (whole, -1, n == 1)
    }
}

/// The same with its derivative given, also of what has none.
#[pure(d(x) = (2 * x, 0, false))]
fn squared<T: Real>(x: T, n: i32) -> (T, i32, bool) {
    (x * x, n + 1, x > 0.5)
}

#[pure]
fn either(a: bool, b: bool) -> bool {
    a != b || b
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Tally<T: Real> {
    sum: T,
    count: i64,
}

#[reversible]
fn results<T: Real>(y: &mut T, tally: &mut Tally<T>, far: &mut bool, x: &[T]) {
    for i in par(0..x.len()) {
        let (value, way, exact) = split(x[i], 3);
        let (square, next, above) = squared(x[i], way);
        let rough = level(x[i]);
        let far_off = is_far(x[i], 0.6);
        if either(far_off, exact) {
            *y += value;
        } else {
            *y += square * (rough as T) * x[i] + T::from_int(next);
        }
        *y += if above { split(x[i], 2).0 } else { x[i] * (split(x[i], 1).1 as T) };
        *y += if is_far(x[i], 0.45) { x[i] } else { 0.0 };
    }
    for i in 0..x.len() {
        tally.count += level(x[i]);
        tally.sum += split(x[i], 2).0;
        *far ^= is_far(x[i], 0.45);
    }
}

#[test]
fn pure_functions_with_results_of_every_kind() {
    on_a_large_stack(every_result);
}

fn every_result() {
    let x: Vec<f64> = (0..40).map(|i| 0.303 + 0.01 * f64::from(i)).collect();
    let expected: f64 = x
        .iter()
        .map(|x| {
            let (value, way, exact) = split(*x, 3);
            let (square, next, above) = squared(*x, way);
            let far = is_far(*x, 0.6);
            let first =
                if either(far, exact) { value } else { square * level(*x) as f64 * x + f64::from(next) };
            let second = if above { split(*x, 2).0 } else { x * f64::from(split(*x, 1).1) };
            first + second + if *x > 0.45 { *x } else { 0.0 }
        })
        .sum();
    for device in devices() {
        let device = &*device;
        let start = Tally { sum: 0.0, count: 0 };
        let (mut y, mut tally, mut far) = (0.0, start.clone(), false);
        results::run(device, &mut y, &mut tally, &mut far, &x).unwrap();
        assert!(abs_diff_eq!(y, expected, epsilon = 1e-9), "{}: {y} instead of {expected}", device.name());
        assert_eq!((tally.count, far), (60, true), "{}", device.name());
        let back = results::check_inverse(device, &0.5, &start, &true, &x).unwrap();
        assert!(back.passed(), "{}: {back}", device.name());
        let gradient = results::check_gradient(device, &0.5, &start, &true, &x).unwrap();
        assert!(gradient.passed(), "{}: {gradient}", device.name());
    }
}

#[pure]
fn third(x: i32, d: i32) -> i32 {
    x / d
}

#[pure]
fn rest(x: u8, d: u8) -> (u8, bool) {
    (x % d, x > d)
}

#[reversible]
fn thirds(y: &mut i32, x: i32, d: i32) {
    *y += third(x, d);
}

/// In plain Rust a pure function is a plain function; in a program its failure is an error value.
#[test]
fn a_pure_function_divides_by_zero() {
    assert_eq!((third(7, -2), third(i32::MIN, -1), rest(7, 4)), (-3, i32::MIN, (3, true)));
    for found in
        [std::panic::catch_unwind(|| third(1, 0)).err(), std::panic::catch_unwind(|| rest(1, 0)).err()]
    {
        let message = found.unwrap();
        assert_eq!(message.downcast_ref::<&str>(), Some(&"attempt to divide by zero"));
    }
    for device in devices() {
        let error = thirds::run(&*device, &mut 0, 1, 0).unwrap_err();
        assert_eq!(*error.cause(), rev_core::error::Cause::DivisionByZero);
    }
}

/// A failed `unwrap` shows the message, not a tree of structs.
#[test]
fn what_unwrap_shows() {
    let error = thirds(&mut 0, 1, 0).unwrap_err();
    let shown = std::panic::catch_unwind(|| thirds(&mut 0, 1, 0).unwrap()).unwrap_err();
    let shown = shown.downcast_ref::<String>().unwrap();
    assert!(shown.contains(&error.to_string()), "{shown}");
    assert!(shown.contains("an integer is divided by zero\n  in `thirds` at "), "{shown}");
    assert!(!shown.contains("Failure"), "{shown}");
}
