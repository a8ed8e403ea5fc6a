//! Products of matrices through the language beside the library's own product: one product, the two
//! of its adjoint, triangles, and the gradient of a dense layer beside the one by hand.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion, Throughput};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};
use rev::prelude::*;
use rev_kernels::dense::{dense, plain};

/// The side of the matrices.
const SIDE: usize = 512;

#[reversible]
fn product(mut c: ArrayViewMut2<f64>, a: ArrayView2<f64>, b: ArrayView2<f64>) {
    c += matmul(a, b);
}

/// What the adjoint of [`product`] does to the shadows.
#[reversible]
fn adjoint_pair(
    mut a_bar: ArrayViewMut2<f64>,
    mut b_bar: ArrayViewMut2<f64>,
    c_bar: ArrayView2<f64>,
    a: ArrayView2<f64>,
    b: ArrayView2<f64>,
) {
    a_bar += matmul(c_bar, b.t());
    b_bar += matmul(a.t(), c_bar);
}

#[reversible]
fn triangle(mut c: ArrayViewMut2<f64>, a: ArrayView2<f64>, b: ArrayView2<f64>) {
    c += matmul(lower(a), b);
}

#[reversible]
fn symmetric_update(mut c: ArrayViewMut2<f64>, a: ArrayView2<f64>) {
    lower(c) += matmul(a, a.t());
}

fn matrix(n: usize, m: usize, seed: f64) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| (seed + 1.7 * i as f64 - 0.9 * j as f64).sin())
}

fn library(c: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>) {
    ndarray::linalg::general_mat_mul(1.0, a, b, 1.0, c);
}

fn products(criterion: &mut Criterion) {
    let (a, b, mut c) = (matrix(SIDE, SIDE, 0.1), matrix(SIDE, SIDE, 0.2), matrix(SIDE, SIDE, 0.3));
    let (mut a_bar, mut b_bar) = (Array2::zeros((SIDE, SIDE)), Array2::zeros((SIDE, SIDE)));
    let seed = matrix(SIDE, SIDE, 0.4);
    let mut group = criterion.benchmark_group(format!("products of {SIDE} x {SIDE}"));
    group.throughput(Throughput::Elements(2 * (SIDE * SIDE * SIDE) as u64));
    group.bench_function("library", |bench| bench.iter(|| library(&mut c, black_box(&a), &b)));
    let one = Cpu::with_threads(1).checks(false);
    for (what, device) in [("1 thread", one), ("all threads", Cpu::new().checks(false))] {
        group.bench_function(format!("product, {what}"), |bench| {
            bench.iter(|| product::run(&device, c.view_mut(), black_box(a.view()), b.view()));
        });
        group.bench_function(format!("adjoint pair, {what}"), |bench| {
            bench.iter(|| {
                let seed = black_box(seed.view());
                adjoint_pair::run(&device, a_bar.view_mut(), b_bar.view_mut(), seed, a.view(), b.view())
            });
        });
        group.bench_function(format!("vjp, {what}"), |bench| {
            bench.iter(|| product::vjp(&device, black_box(seed.view()), c.view(), a.view(), b.view()));
        });
        group.bench_function(format!("lower(a) b, {what}"), |bench| {
            bench.iter(|| triangle::run(&device, c.view_mut(), black_box(a.view()), b.view()));
        });
        group.bench_function(format!("lower(c) += a aT, {what}"), |bench| {
            bench.iter(|| symmetric_update::run(&device, c.view_mut(), black_box(a.view())));
        });
    }
    group.finish();
}

fn layer(criterion: &mut Criterion) {
    let (n, p, q, m) = (256, 128, 128, 16);
    let (w, v, x, y) = (matrix(p, q, 0.1), matrix(q, m, 0.2), matrix(n, p, 0.3), matrix(n, m, 0.4));
    let b = Array1::linspace(-0.5, 0.5, q);
    let flat = b.to_vec();
    let mut group = criterion.benchmark_group("gradient of a dense layer");
    group.bench_function("by hand on ndarray", |bench| {
        bench.iter(|| plain::gradient(black_box(w.view()), b.view(), v.view(), x.view(), y.view()));
    });
    let device = Cpu::with_threads(1).checks(false);
    group.bench_function("gradient", |bench| {
        bench.iter(|| dense::gradient(&device, black_box(w.view()), &flat, v.view(), x.view(), y.view()));
    });
    group.finish();
}

criterion_group!(benches, products, layer);
criterion_main!(benches);
