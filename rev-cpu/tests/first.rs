//! The first programs: values and inverses.

use approx::assert_abs_diff_eq;
use rev_cpu::prelude::*;

#[reversible]
fn multiply<T: Real>(y: &mut T, a: T, b: T) {
    *y += a * b;
}

#[reversible]
fn dot<T: Real>(y: &mut T, a: &[T], b: &[T]) {
    let mut s = T::zero();
    for i in 0..a.len() {
        s += a[i] * b[i];
    }
    *y += s;
}

#[test]
fn values_and_inverses() {
    let mut y = 2.0;
    multiply(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 17.0);
    multiply::inverse(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 2.0);
    dot(&mut y, &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!(y, 52.0);
}

#[test]
fn gradients() {
    let g = multiply::gradient(&Cpu::new(), 3.0, 5.0).unwrap();
    assert_eq!((g.value, g.a, g.b), (15.0, 5.0, 3.0));
    let g = dot::gradient(&Cpu::new(), &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!((g.value, g.a, g.b), (50.0, vec![10.0, 20.0], vec![1.0, 2.0]));
    let g = dot::gradient_wrt(&Cpu::new(), dot::B, &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!((g.a, g.b), (None, Some(vec![1.0, 2.0])));
    let v = dot::vjp(&Cpu::new(), 2.0, &1.0, &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!((v.y, v.y_bar, v.b_bar), (51.0, 2.0, vec![2.0, 4.0]));
    let v = dot::vjp_batch(&Cpu::new(), Batch([2.0, 0.5]), &1.0, &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!(v.b_bar, [Batch([2.0, 0.5]), Batch([4.0, 1.0])]);
}

#[test]
fn the_program_as_ir() {
    let module = dot::ir();
    assert_eq!(module.entry, "first::dot");
    assert_eq!(module.entry().unwrap().params.len(), 3);
}

#[pure]
fn square_of<T: Real>(x: T) -> T {
    x * x
}

#[pure]
fn polar<T: Real>(r: T, phi: T) -> (T, T) {
    let s = phi.sin();
    (r * phi.cos(), r * s)
}

#[reversible]
fn norm2<T: Real>(y: &mut T, r: T, phi: T) {
    let (a, b) = polar(r, phi);
    *y += square_of(a) + square_of(b) * 3.0;
}

#[test]
fn pure_functions() {
    assert_eq!(square_of(3.0), 9.0);
    let (r, phi) = (2.0f64, 0.3f64);
    let g = norm2::gradient(&Cpu::new(), r, phi).unwrap();
    let (s, c) = phi.sin_cos();
    assert_abs_diff_eq!(g.value, r * r * (c * c + 3.0 * s * s), epsilon = 1e-14);
    assert_abs_diff_eq!(g.r, 2.0 * r * (c * c + 3.0 * s * s), epsilon = 1e-14);
    assert_abs_diff_eq!(g.phi, r * r * 4.0 * s * c, epsilon = 1e-14);
}

#[reversible]
fn settle(x: &mut [f64], y: &mut f64, k: f64) {
    for i in par(0..x.len()) {
        scale_by(x[i], 0.5);
        x[i] += k.sin();
        *y += x[i] * x[i] * k;
    }
}

/// The pullback has the adjoint's shadows, and doesn't restore the state.
#[test]
fn a_pullback_is_an_adjoint_that_forgets() {
    let start: Vec<f64> = (0..70).map(|i| f64::from(i) - 20.5).collect();
    let (mut after, mut y, k) = (start.clone(), 0.25, 1.25);
    settle(&mut after, &mut y, k).unwrap();
    for checks in [false, true] {
        let device = Cpu::with_threads(1).checks(checks);
        let shadows = || (vec![Batch([0.5, 0.0]); 70], Batch([0.0, 2.0]), Batch([1.0, 0.0]));
        let [mut adjoint, mut pullback] = [shadows(), shadows()];
        let (mut x, mut y_before) = (after.clone(), y);
        let (x_bar, y_bar, k_bar) = (&mut adjoint.0, &mut adjoint.1, &mut adjoint.2);
        settle::adjoint(&device, &mut x, x_bar, &mut y_before, y_bar, k, k_bar).unwrap();
        assert_abs_diff_eq!(x[..], start[..], epsilon = 1e-14);
        assert_abs_diff_eq!(y_before, 0.25, epsilon = 1e-9);
        let (x_bar, y_bar, k_bar) = (&mut pullback.0, &mut pullback.1, &mut pullback.2);
        settle::pullback(&device, &mut after.clone(), x_bar, &mut y.clone(), y_bar, k, k_bar).unwrap();
        assert_eq!(pullback, adjoint);
    }
}
