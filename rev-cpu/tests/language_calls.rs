//! What may be passed to a called function: arrays of one kind to parameters of another, and
//! references passed on.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn devices() -> [Box<dyn Device>; 2] {
    [Box::new(Cpu::new()), Box::new(Interpreter::new())]
}

#[reversible]
fn layer<T: Real>(out: &mut ArrayViewMut1<T>, w: ArrayView2<T>, x: ArrayView1<T>) {
    for i in par(0..w.nrows()) {
        for j in 0..w.ncols() {
            out[i] += w[[i, j]] * x[j];
        }
    }
}

#[reversible]
fn add<T: Real>(y: &mut [T], x: &[T]) {
    for i in 0..y.len() {
        y[i] += x[i] * x[i];
    }
}

/// Vectors and slices as views.
#[reversible]
fn network<T: Real>(loss: &mut T, w: ArrayView2<T>, x: &[T]) {
    let mut h: Array1<T> = zeros(w.nrows());
    layer(&mut h, w, x);
    let mut o = vec![T::zero(); w.nrows()];
    layer(&mut o, w, h);
    for i in 0..w.nrows() {
        *loss += o[i];
    }
}

/// Fixed-size arrays as slices and as views.
#[reversible]
fn fixed<T: Real, const N: usize>(y: &mut [T; N], x: &[T; N], w: ArrayView2<T>) {
    add(y, x);
    layer(y, w, x);
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Pair<T> {
    a: T,
    b: T,
}

#[reversible]
fn turn<T: Real>(pair: &mut Pair<T>, all: &mut [T]) {
    pair.a += pair.b;
    all[0] += pair.a;
}

/// References passed on by name.
#[reversible]
fn twice<T: Real>(pair: &mut Pair<T>, all: &mut [T]) {
    turn(pair, all);
    turn(pair, all);
}

#[test]
fn vectors_and_slices_as_views() {
    let w = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    for device in devices() {
        let mut loss = 0.0;
        network::run(&*device, &mut loss, w.view(), &[1.0, -1.0]).unwrap();
        assert_eq!(loss, -10.0); // h = (-1, -1), o = (-3, -7)
        let report = network::check_gradient(&*device, &0.0, w.view(), &[1.0, -1.0]).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn fixed_arrays_as_slices_and_views() {
    let w = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    for device in devices() {
        let mut y = [0.5, 0.25];
        fixed::run(&*device, &mut y, &[2.0, 3.0], w.view()).unwrap();
        assert_eq!(y, [0.5 + 4.0 + 8.0, 0.25 + 9.0 + 18.0]);
        fixed::run_inverse(&*device, &mut y, &[2.0, 3.0], w.view()).unwrap();
        assert_eq!(y, [0.5, 0.25]);
        let report = fixed::check_gradient(&*device, &[0.5, 0.25], &[2.0, 3.0], w.view()).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn references_are_passed_on_by_name() {
    for device in devices() {
        let (mut pair, mut all) = (Pair { a: 1.0, b: 2.0 }, [10.0]);
        twice::run(&*device, &mut pair, &mut all).unwrap();
        assert_eq!((pair.a, all), (5.0, [18.0]));
        twice::run_inverse(&*device, &mut pair, &mut all).unwrap();
        assert_eq!((pair.a, all), (1.0, [10.0]));
    }
}

#[reversible]
fn product<T: Real>(y: &mut T, a: &T, b: &T) {
    *y += *a * b.sin();
}

#[reversible]
fn products<T: Real>(y: &mut T, a: ArrayView1<T>, b: ArrayView1<T>) {
    for j in par(0..a.len()) {
        *y += a[j] * b[j].sin();
    }
}

/// Calls that read two parts of a variable: apart, surely the same, and only sometimes.
#[reversible]
fn of_parts<T: Real>(y: &mut [T], x: ArrayView2<T>, p: &[Pair<T>]) {
    for i in 1..x.nrows() {
        product(&mut y[0], &x[[i - 1, 0]], &x[[i, 0]]);
        product(&mut y[0], &x[[i, 1]], &x[[i - i % 2, 1]]);
        product(&mut y[0], &x[[i, 2]], &x[[i, 2]]);
        products(&mut y[0], &x.row(i - 1), &x.row(i));
        products(&mut y[0], &x.row(i), &x.row(i));
        products(&mut y[0], x.slice(s![i, ..2]), x.slice(s![i, 2..4]));
        products(&mut y[0], x.slice(s![i, ..3]), x.slice(s![i, 1..4]));
        product(&mut y[0], &p[i].a, &p[i].b);
    }
    for i in par(1..y.len()) {
        product(&mut y[i], &x[[i - 1, 0]], &x[[i, 0]]);
        products(&mut y[i], &x.row(i - 1), &x.row(i));
        product(&mut y[i], &p[i].a, &p[i - 1].b);
    }
}

#[test]
fn calls_may_read_two_parts_of_a_variable() {
    let x = ndarray::Array2::from_shape_fn((40, 4), |(i, j)| (0.7 * (4 * i + j) as f64).sin());
    let p: Vec<Pair<f64>> = (0..40).map(|i| Pair { a: 0.1 * i as f64, b: (0.3 * i as f64).cos() }).collect();
    let (y, seed) = (vec![0.0; 40], (0..40).map(|i| 1.0 + 0.1 * i as f64).collect::<Vec<f64>>());
    let mut found = devices().map(|device| {
        let report = of_parts::check_gradient(&*device, &y, x.view(), &p).unwrap();
        assert!(report.passed(), "{report}");
        let g = of_parts::vjp(&*device, &seed, &y, x.view(), &p).unwrap();
        (g.y, g.x_bar, format!("{:?}", g.p_bar))
    });
    // sums of threads in their order
    let run = |device: &dyn Device| of_parts::vjp(device, &seed, &y, x.view(), &p).unwrap();
    let ordered = [run(&Cpu::new().deterministic(true)), run(&Interpreter::new())];
    assert_eq!(ordered[0].x_bar, ordered[1].x_bar);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
    let [cpu, interpreter] = &mut found;
    assert!(cpu.1.iter().zip(&interpreter.1).all(|(a, b)| close(*a, *b)), "{cpu:?} {interpreter:?}");
    // by hand: the derivative of x[0, 0] sin(x[1, 0]), in the loop and in both loops over rows, and y's own of rows
    let by_hand = seed[0] * 2.0 * x[[1, 0]].sin() + seed[1] * 2.0 * x[[1, 0]].sin();
    assert!(close(cpu.1[[0, 0]], by_hand), "{} {by_hand}", cpu.1[[0, 0]]);
}
