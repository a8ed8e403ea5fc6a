//! Times of the functions beside std's, as nanoseconds for each value and their ratio.
//!
//! `cargo run --release -p rev-ad-core --example math_speed`: each function on 4096 arguments, independent
//! of each other, the best of many passes.

use rev_core::math::cpu::{double, single};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds for each value.
fn time<T: Copy>(x: &[T], f: impl Fn(T) -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let start = Instant::now();
        for x in x {
            black_box(f(black_box(*x)));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / x.len() as f64 * 1e9
}

macro_rules! rows {
    ($($name:ident $std:ident $low:literal $high:literal;)*) => {$({
        let x: Vec<f64> = (0..4096).map(|i| $low + ($high - $low) * f64::from(i * 1597 % 4096) / 4096.0).collect();
        let y: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let (ours, theirs) = (time(&x, double::$name), time(&x, f64::$std));
        let (ours32, theirs32) = (time(&y, single::$name), time(&y, f32::$std));
        println!(
            "| {} | {ours:.1} | {theirs:.1} | {:.2} | {ours32:.1} | {theirs32:.1} | {:.2} |",
            stringify!($name), ours / theirs, ours32 / theirs32
        );
    })*};
}

fn main() {
    println!("| function | f64 | std | ratio | f32 | std | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    rows! {
        exp exp -10.0 10.0;
        expm1 exp_m1 -2.0 2.0;
        ln ln 0.01 10.0;
        log2 log2 0.01 10.0;
        log10 log10 0.01 10.0;
        log1p ln_1p -0.9 5.0;
        sin sin -10.0 10.0;
        cos cos -10.0 10.0;
        tan tan -10.0 10.0;
        sinh sinh -5.0 5.0;
        cosh cosh -5.0 5.0;
        tanh tanh -3.0 3.0;
        asin asin -1.0 1.0;
        acos acos -1.0 1.0;
        atan atan -5.0 5.0;
    }
    let x: Vec<f64> = (0..4096).map(|i| 0.1 + f64::from(i) / 500.0).collect();
    let y: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let rows = [
        (
            "atan2",
            time(&x, |x| double::atan2(x, 1.5)),
            time(&x, |x| x.atan2(1.5)),
            time(&y, |x| single::atan2(x, 1.5)),
            time(&y, |x| x.atan2(1.5)),
        ),
        (
            "hypot",
            time(&x, |x| double::hypot(x, 1.5)),
            time(&x, |x| x.hypot(1.5)),
            time(&y, |x| single::hypot(x, 1.5)),
            time(&y, |x| x.hypot(1.5)),
        ),
        (
            "powf",
            time(&x, |x| double::powf(x, 1.7)),
            time(&x, |x| x.powf(1.7)),
            time(&y, |x| single::powf(x, 1.7)),
            time(&y, |x| x.powf(1.7)),
        ),
        (
            "powi",
            time(&x, |x| double::powi(x, black_box(9))),
            time(&x, |x| x.powi(black_box(9))),
            time(&y, |x| single::powi(x, black_box(9))),
            time(&y, |x| x.powi(black_box(9))),
        ),
    ];
    for (name, a, b, c, d) in rows {
        println!("| {name} | {a:.1} | {b:.1} | {:.2} | {c:.1} | {d:.1} | {:.2} |", a / b, c / d);
    }
}
