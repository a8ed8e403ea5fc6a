//! The Bessel function `J_2(1)` by its series: the plain twin beside the reversible program.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use rev_kernels::bessel::plain;

/// Where the papers stop the series.
const TOLERANCE: f64 = 1e-8;

fn bessel(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bessel");
    group.bench_function("plain value", |b| b.iter(|| plain::bessel_j(2, black_box(1.0), TOLERANCE)));
    group.bench_function("plain gradient", |b| b.iter(|| plain::gradient(2, black_box(1.0), TOLERANCE)));
    group.finish();
}

criterion_group!(benches, bessel);
criterion_main!(benches);
