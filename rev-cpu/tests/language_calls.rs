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
