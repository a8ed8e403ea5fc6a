//! The functions' errors against arbitrary precision, and their special values.
//!
//! `cargo test` measures some points of each function. The table of `docs/mathematics.md` is printed by
//!
//! ```text
//! REV_POINTS=1000000 cargo test --release -p rev-ad-core --test mathematics -- --nocapture errors
//! ```

#![allow(clippy::unwrap_used)]

mod cases;
mod exact;
mod factorials;
mod gamma;
mod special;

use cases::{Case, Random, CASES};
use exact::{ulps, ulps_single, Exact};

/// Points for each function.
fn points() -> usize {
    std::env::var("REV_POINTS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

fn chosen(case: &&Case) -> bool {
    std::env::var("REV_FUNCTION").map_or(true, |name| name == case.name)
}

/// The largest error and where it is.
fn worst(case: &Case, count: usize, error: impl Fn(&mut Exact, &[f64]) -> f64) -> (f64, Vec<f64>) {
    let (mut exact, mut random) = (Exact::new(), Random(1));
    let mut worst = (0.0, Vec::new());
    for i in 0..count {
        let ranges = case.ranges[i % case.ranges.len()];
        let x: Vec<f64> = ranges.iter().map(|r| random.draw(*r)).collect();
        let e = error(&mut exact, &x);
        if e > worst.0 {
            worst = (e, x);
        }
    }
    worst
}

/// Prints a row for each function, and fails after all of them.
fn check(format: &str, error: impl Fn(&Case) -> (f64, Vec<f64>)) {
    let mut beyond = Vec::new();
    for case in CASES.iter().filter(chosen) {
        let (error, x) = error(case);
        println!("| {} | {format} | {error:.3} | {x:?} |", case.name);
        if error > case.bound {
            beyond.push(format!("{} {error} at {x:?}", case.name));
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

#[test]
fn errors_of_double() {
    check("f64", |case| {
        worst(case, points(), |exact, x| ulps((case.double)(x), &exact.value(case.name, x), 52, 1023))
    });
}

/// The reference is the function of `f64`, whose error is nothing in ulps of `f32`.
#[test]
fn errors_of_single() {
    check("f32", |case| {
        worst(case, 20 * points(), |_, x| {
            let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
            let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
            ulps_single((case.single)(&x), (case.double)(&wide))
        })
    });
}
