//! The Gaussian mixture at sizes of the paper's table, with fewer points where it would take long:
//! the reversible program beside its plain twin.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use rev::prelude::*;
use rev_kernels::gmm::{objective, plain, Instance};

/// Dimension, components, points.
const SIZES: [[usize; 3]; 5] =
    [[2, 5, 10_000], [2, 200, 1000], [10, 5, 10_000], [10, 25, 1000], [20, 50, 500]];

fn gmm(criterion: &mut Criterion) {
    for [d, k, n] in SIZES {
        let i = Instance::random(d, k, n, 0);
        let (alphas, means, icf, points) =
            (i.alphas.as_slice(), i.means.view(), i.icf.view(), i.points.view());
        let size = format!("d{d}_k{k}_n{n}");
        let mut group = criterion.benchmark_group("gmm");
        let name = |what: &str| BenchmarkId::new(what, &size);
        group.bench_function(name("plain objective"), |b| {
            b.iter(|| plain::objective(alphas, means, icf, points, i.gamma, i.m));
        });
        group.bench_function(name("plain gradient"), |b| {
            b.iter(|| plain::gradient(alphas, means, icf, points, i.gamma, i.m));
        });
        let one = Cpu::with_threads(1).checks(false);
        let devices = [("1 thread", one.clone()), ("all threads", Cpu::new().checks(false))];
        for (what, device) in
            devices.clone().into_iter().chain([("1 thread, checked", one.clone().checks(true))])
        {
            let mut loss = 0.0;
            group.bench_function(name(&format!("objective, {what}")), |b| {
                b.iter(|| objective::run(&device, &mut loss, alphas, means, icf, points, i.gamma, i.m));
            });
        }
        let mut loss = 0.0;
        group.bench_function(name("inverse, 1 thread"), |b| {
            b.iter(|| objective::run_inverse(&one, &mut loss, alphas, means, icf, points, i.gamma, i.m));
        });
        for (what, device) in devices {
            group.bench_function(name(&format!("gradient, {what}")), |b| {
                b.iter(|| objective::gradient(&device, alphas, means, icf, points, i.gamma, i.m));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, gmm);
criterion_main!(benches);
