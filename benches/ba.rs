//! Bundle adjustment with random cameras and points: the reversible programs beside their plain twin.

use std::hint::black_box;
use std::ops::Range;

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use rev::prelude::*;
use rev_kernels::ba::{self, plain, Blocks, Instance};

/// Cameras, points, observations: those of ADBench's first instances.
const SIZES: [[usize; 3]; 2] = [[49, 7776, 31_843], [161, 48_126, 182_072]];

/// Observations whose Jacobian blocks are held at a time.
const CHUNK: usize = 1 << 9;

/// What is done with Jacobian blocks.
#[allow(clippy::unnecessary_wraps)]
fn seen(_: Range<usize>, blocks: &Blocks) -> Result<(), Error> {
    black_box(blocks);
    Ok(())
}

fn ba(criterion: &mut Criterion) {
    for [n, m, p] in SIZES {
        let i = Instance::random(n, m, p, 0);
        let size = format!("n{n}_m{m}_p{p}");
        let mut group = criterion.benchmark_group("ba");
        let name = |what: &str| BenchmarkId::new(what, &size);
        group.bench_function(name("plain residuals"), |b| b.iter(|| plain::residuals(&i)));
        group.bench_function(name("plain gradient"), |b| b.iter(|| plain::gradient(&i)));
        group.bench_function(name("plain Jacobian"), |b| {
            let block = |j: usize| {
                let (camera, point) = (&i.cameras[i.camera_of[j]], &i.points[i.point_of[j]]);
                plain::residual_jacobian(camera, point, i.weights[j], &i.features[j])
            };
            let mut blocks = Vec::with_capacity(CHUNK);
            b.iter(|| {
                for start in (0..p).step_by(CHUNK) {
                    blocks.clear();
                    blocks.extend((start..p.min(start + CHUNK)).map(block));
                    black_box(&mut blocks);
                }
            });
        });
        let one = Cpu::with_threads(1).checks(false);
        let devices = [("1 thread", one.clone()), ("all threads", Cpu::new().checks(false))];
        for (what, device) in devices.clone().into_iter().chain([("1 thread, checked", one.checks(true))]) {
            group.bench_function(name(&format!("errors, {what}")), |b| b.iter(|| ba::values(&device, &i)));
        }
        for (what, device) in devices {
            let mut blocks = Vec::new();
            group.bench_function(name(&format!("Jacobian, {what}")), |b| {
                b.iter(|| ba::each_jacobian(&device, &i, CHUNK, &mut blocks, seen));
            });
            group
                .bench_function(name(&format!("gradient, {what}")), |b| b.iter(|| ba::gradient(&device, &i)));
        }
        group.finish();
    }
}

criterion_group!(benches, ba);
criterion_main!(benches);
