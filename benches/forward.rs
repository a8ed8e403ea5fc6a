//! What reversibility costs a forward run: the small programs, with checks off and on one thread,
//! beside their plain twins. The mixture, bundle adjustment and the Bessel series have benchmarks of
//! their own.

use std::hint::black_box;

use criterion::{criterion_group, criterion_main, Criterion};
use ndarray::Array2;
use rev::prelude::*;
use rev_kernels::*;

/// Elements of the arrays.
const N: usize = 1000;

/// Qubits of the state: 4096 amplitudes, 64 KiB.
const QUBITS: usize = 12;

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
    let matrix = |n: usize, m: usize| Array2::from_shape_fn((n, m), |(i, j)| ((7 * i + 3 * j) as f64).sin());
    let [w, v, x, y] = [matrix(64, 32), matrix(32, 8), matrix(200, 64), matrix(200, 8)];
    let b = ndarray::Array1::from_elem(32, 0.1);
    pair(
        c,
        "dense",
        || dense::plain::value(w.view(), b.view(), v.view(), x.view(), y.view()),
        || {
            let mut loss = 0.0;
            let (w, v, x, y) = (w.view(), v.view(), x.view(), y.view());
            dense::dense::run(&d, &mut loss, w, b.as_slice().unwrap_or_default(), v, x, y).map(|()| loss)
        },
    );
    quantum_gates(c, &d);
}

/// Gates on a state, each again and again.
fn quantum_gates(c: &mut Criterion, d: &Cpu) {
    use gates::plain;
    let (angle, [low, high]) = (black_box(0.3f64), black_box([3, 7]));
    let mut states = [gates::product_state(QUBITS, 0), gates::product_state(QUBITS, 0)];
    let [plain_state, state] = &mut states;
    pair(
        c,
        "rx",
        || plain::apply(plain_state, &plain::rx(angle), low),
        || gates::rx::run(d, state, angle, low),
    );
    pair(
        c,
        "ry",
        || plain::apply(plain_state, &plain::ry(angle), low),
        || gates::ry::run(d, state, angle, low),
    );
    pair(
        c,
        "rz",
        || plain::apply(plain_state, &plain::rz(angle), low),
        || gates::rz::run(d, state, angle, low),
    );
    pair(
        c,
        "swap_qubits",
        || plain::swap_qubits(plain_state, low, high),
        || gates::swap_qubits::run(d, state, low, high),
    );
    pair(
        c,
        "measure",
        || plain::measure(plain_state, low),
        || {
            let mut value = 0.0;
            gates::measure::run(d, &mut value, state, low).map(|()| value)
        },
    );
}

criterion_group!(benches, forward);
criterion_main!(benches);
