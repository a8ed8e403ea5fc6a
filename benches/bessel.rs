//! The Bessel function `J_2` by its series, at one point and at many: the reversible programs beside
//! their plain twin.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use rev::prelude::*;
use rev::scalar::NoShadow;
use rev_kernels::bessel::{bessel_j, bessel_j_each, plain};

/// Where the papers stop the series.
const TOLERANCE: f64 = 1e-8;

/// How many points the papers evaluate it at.
const POINTS: usize = 1 << 17;

/// What is timed is what a caller has behind `?`: numbers, as with the twin.
fn at_one(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bessel");
    group.bench_function("plain value", |b| b.iter(|| plain::bessel_j(2, black_box(1.0), TOLERANCE)));
    group.bench_function("plain gradient", |b| b.iter(|| plain::gradient(2, black_box(1.0), TOLERANCE)));
    let device = Cpu::with_threads(1).checks(false);
    for (what, device) in [("value", device.clone()), ("value, checked", device.clone().checks(true))] {
        group.bench_function(what, |b| {
            b.iter(|| {
                let mut out = 0.0;
                bessel_j::run(&device, &mut out, 2, black_box(1.0), TOLERANCE)
                    .map(|()| out)
                    .unwrap_or_default()
            });
        });
    }
    group.bench_function("inverse", |b| {
        b.iter(|| {
            let mut out = 0.0;
            bessel_j::run_inverse(&device, &mut out, 2, black_box(1.0), TOLERANCE).map(|()| out)
        });
    });
    group.bench_function("gradient", |b| {
        b.iter(|| {
            let gradient = bessel_j::gradient(&device, 2, black_box(1.0), TOLERANCE);
            gradient.map(|g| (g.value, g.z)).unwrap_or_default()
        });
    });
    group.finish();
}

fn at_many(criterion: &mut Criterion) {
    let z: Vec<f64> = (1..=POINTS).map(|i| 2.0 * i as f64 / POINTS as f64).collect();
    let (mut out, seeds, start) = (vec![0.0; POINTS], vec![1.0; POINTS], vec![0.0; POINTS]);
    let mut group = criterion.benchmark_group("bessel at 2^17 points");
    group.bench_function("plain values", |b| {
        b.iter(|| z.iter().map(|z| plain::bessel_j(2, *z, TOLERANCE)).sum::<f64>());
    });
    let one = Cpu::with_threads(1).checks(false);
    for (what, device) in [("1 thread", one), ("all threads", Cpu::new().checks(false))] {
        group.bench_function(format!("values, {what}"), |b| {
            b.iter(|| bessel_j_each::run(&device, &mut out, 2, &z, TOLERANCE));
        });
        let (mut bars, mut z_bars) = (vec![Batch([1.0]); POINTS], vec![Batch([0.0]); POINTS]);
        group.bench_function(format!("gradients in place, {what}"), |b| {
            b.iter(|| {
                let (mut nu_bar, mut tolerance_bar) = (NoShadow::NEW, Batch([0.0]));
                bessel_j_each::adjoint(
                    &device,
                    &mut out,
                    &mut bars,
                    2,
                    &mut nu_bar,
                    &z,
                    &mut z_bars,
                    TOLERANCE,
                    &mut tolerance_bar,
                )
            });
        });
        group.bench_function(format!("gradients, {what}"), |b| {
            b.iter(|| bessel_j_each::vjp(&device, &seeds, &start, 2, &z, TOLERANCE));
        });
    }
    group.finish();
}

criterion_group!(benches, at_one, at_many);
criterion_main!(benches);
