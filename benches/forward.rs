//! What reversibility costs a forward run: the small programs, with checks off and on one thread,
//! beside their plain twins. The mixture, bundle adjustment and the Bessel series have benchmarks of
//! their own.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use ndarray::Array2;
use rev::kernels::*;
use rev::prelude::*;

/// Elements of the arrays.
const N: usize = 1000;

/// The twin and the program side by side. What is timed is what a caller has behind `?`: the value.
fn pair<A, B: Default>(
    c: &mut Criterion,
    name: &str,
    mut twin: impl FnMut() -> A,
    mut program: impl FnMut() -> Result<B, Error>,
) {
    if let Err(e) = program() {
        eprintln!("{name} isn't timed: {e}");
        return;
    }
    let mut group = c.benchmark_group(name);
    group.bench_function("plain", |b| b.iter(&mut twin));
    group.bench_function("forward", |b| b.iter(|| program().unwrap_or_default()));
    group.finish();
}

fn forward(c: &mut Criterion) {
    let d = Cpu::with_threads(1).checks(false);
    let x: Vec<f64> = (0..N).map(|i| (i as f64 * 0.37).sin()).collect();
    pair(
        c,
        "norm",
        || norm::plain::norm(black_box(&x)),
        || {
            let mut out = 0.0;
            norm::norm::run(&d, &mut out, black_box(&x)).map(|()| out)
        },
    );
    pair(
        c,
        "log_sum_exp",
        || gmm::plain::log_sum_exp(black_box(&x)),
        || {
            let mut out = 0.0;
            log_sum_exp::log_sum_exp::run(&d, &mut out, black_box(&x)).map(|()| out)
        },
    );
    pair(
        c,
        "exponential",
        || exponential::plain::exponential(black_box(1.6), 1e-12),
        || {
            let mut out = 0.0;
            exponential::exponential::run(&d, &mut out, black_box(1.6), 1e-12).map(|()| out)
        },
    );
    pair(
        c,
        "multiplier",
        || multiplier::plain::multiplier(black_box(2.0), black_box(3.0), 5.0),
        || {
            let mut out = black_box(2.0);
            multiplier::multiplier::run(&d, &mut out, black_box(3.0), 5.0).map(|()| out)
        },
    );
    let (w, mut y) = (Array2::from_elem((N, N), 0.5), vec![0.0; N]);
    let mut z = y.clone();
    pair(
        c,
        "affine",
        || affine::plain::affine(&mut y, w.view(), &x, &x),
        || affine::affine::run(&d, &mut z, w.view(), &x, &x),
    );
    let (r, v) = ([0.3, -0.2, 0.9], [1.0, 2.0, 3.0]);
    pair(
        c,
        "rotate",
        || rotation::plain::rotate(black_box(&r), black_box(&v)),
        || {
            let mut out = [0.0; 3];
            rotation::rotate::run(&d, &mut out, black_box(&r), black_box(&v)).map(|()| out)
        },
    );
    let point = Complex::new(1.5, -0.7);
    pair(
        c,
        "complex_log",
        || complex_log::plain::complex_log(black_box(point)),
        || {
            let mut out = Complex::new(0.0, 0.0);
            complex_log::complex_log::run(&d, &mut out, black_box(point)).map(|()| out)
        },
    );
    let start = || (black_box(1.0f64), black_box(0.0));
    pair(
        c,
        "leapfrog",
        || {
            let (mut x, mut v) = start();
            leapfrog::plain::leapfrog(&mut x, &mut v, 0.01, N);
            x
        },
        || {
            let (mut x, mut v) = start();
            leapfrog::leapfrog::run(&d, &mut x, &mut v, 0.01, N).map(|()| x)
        },
    );
    pair(
        c,
        "fibonacci",
        || fibonacci::plain::fibonacci(black_box(15)),
        || {
            let mut out = 0;
            fibonacci::fibonacci::run(&d, &mut out, black_box(15)).map(|()| out)
        },
    );
    pair(
        c,
        "by_odd_steps",
        || fibonacci::plain::by_odd_steps(black_box(15)),
        || {
            let mut out = 0;
            fibonacci::by_odd_steps::run(&d, &mut out, black_box(15)).map(|()| out)
        },
    );
    let i = bal::Instance::random(16, 500, 2000, 0);
    pair(c, "bal", || bal::plain::residuals(&i), || bal::values(&d, &i));
}

criterion_group!(benches, forward);
criterion_main!(benches);
