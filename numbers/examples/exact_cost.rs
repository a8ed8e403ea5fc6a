//! What an addition to an `Exact` costs beside one of floats, and what a parallel one does.

use std::time::Instant;

use rev_cpu::prelude::*;
use rev_numbers::{Exact, Float};

#[reversible]
fn exact<T: Real + Float>(sum: &mut Exact<T>, x: &[T]) {
    for i in 0..x.len() {
        *sum += x[i];
    }
}

#[reversible]
fn parallel<T: Real + Float>(sum: &mut Exact<T>, x: &[T]) {
    sum.add_all(x);
}

#[reversible]
fn float<T: Real>(sum: &mut T, x: &[T]) {
    for i in 0..x.len() {
        *sum += x[i];
    }
}

#[reversible]
fn rounded<T: Real + Float>(out: &mut T, sum: &Exact<T>, times: usize) {
    for _ in 0..times {
        sum.read(&mut *out);
    }
}

/// Nanoseconds of each of `n`, the least of seven runs.
fn time(n: usize, mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut least = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(1e9 * least / n as f64)
}

fn main() -> Result<(), Error> {
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(|k| (k as f64 - 3e5) * 1.7f64.powi((k % 61) as i32 - 30)).collect();
    let cpu = |threads| Cpu::new().threads(threads).checks(false);
    let mut sum = Exact::zero();
    let mut plain = 0.0;
    let added = || {
        float::run(&cpu(1), &mut plain, std::hint::black_box(&x))?;
        std::hint::black_box(plain);
        Ok(())
    };
    println!("float +=            {:6.2} ns", time(n, added)?);
    println!("Exact +=            {:6.2} ns", time(n, || exact::run(&cpu(1), &mut sum, &x))?);
    println!("Exact -=            {:6.2} ns", time(n, || exact::run_inverse(&cpu(1), &mut sum, &x))?);
    println!("add_all, 1 thread   {:6.2} ns", time(n, || parallel::run(&cpu(1), &mut sum, &x))?);
    println!("add_all, 2 threads  {:6.2} ns", time(n, || parallel::run(&cpu(2), &mut sum, &x))?);
    let times = 10_000;
    println!(
        "read                {:6.1} ns",
        time(times, || rounded::run(&cpu(1), &mut plain, &sum, times))?
    );
    Ok(())
}
