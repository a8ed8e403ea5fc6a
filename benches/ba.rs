//! Bundle adjustment with random cameras and points: the plain twin beside the reversible program.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use rev_kernels::ba::{plain, Instance};

/// Cameras, points, observations: those of ADBench's first instances.
const SIZES: [[usize; 3]; 2] = [[49, 7776, 31_843], [161, 48_126, 182_072]];

fn ba(criterion: &mut Criterion) {
    for [n, m, p] in SIZES {
        let instance = Instance::random(n, m, p, 0);
        let size = format!("n{n}_m{m}_p{p}");
        let mut group = criterion.benchmark_group("ba");
        group.bench_function(BenchmarkId::new("plain residuals", &size), |b| {
            b.iter(|| plain::residuals(&instance));
        });
        group.bench_function(BenchmarkId::new("plain gradient", &size), |b| {
            b.iter(|| plain::gradient(&instance));
        });
        group.finish();
    }
}

criterion_group!(benches, ba);
criterion_main!(benches);
