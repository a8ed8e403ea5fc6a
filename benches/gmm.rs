//! The Gaussian mixture at the sizes of the paper's table, scaled to a running time of about a
//! second: the plain twin beside the reversible program.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use rev_kernels::gmm::{plain, Instance};

/// Dimension, components, points.
const SIZES: [[usize; 3]; 5] =
    [[2, 5, 10_000], [2, 200, 1000], [10, 5, 10_000], [10, 25, 1000], [20, 50, 1000]];

fn gmm(criterion: &mut Criterion) {
    for [d, k, n] in SIZES {
        let i = Instance::random(d, k, n, 0);
        let (alphas, means, icf, points) = (&i.alphas, i.means.view(), i.icf.view(), i.points.view());
        let size = format!("d{d}_k{k}_n{n}");
        let mut group = criterion.benchmark_group("gmm");
        group.bench_function(BenchmarkId::new("plain objective", &size), |b| {
            b.iter(|| plain::objective(alphas, means, icf, points, i.gamma, i.m));
        });
        group.bench_function(BenchmarkId::new("plain gradient", &size), |b| {
            b.iter(|| plain::gradient(alphas, means, icf, points, i.gamma, i.m));
        });
        group.finish();
    }
}

criterion_group!(benches, gmm);
criterion_main!(benches);
