//! Where NiLang, the language this one started from, is wrong or silent: each defect with what
//! happens here. D10 to D18 of its list that aren't below can't be written: iterators over values
//! (D10) and unmarked external code (D14) are compile errors, stacks are values of their own and
//! never shared between threads (D13), instructions pass through the same checks as every statement
//! (D16), arrays are never aliased by an allocation because Rust moves or borrows them (D17), and a
//! wrong number of arguments doesn't compile (D18, `rev-cpu/tests/ui/fail/r0410_argument_count.rs`).

mod common;

use approx::abs_diff_eq;
use common::{devices, verify};
use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_core::tolerance::{Options, Tolerance, Tolerances};
use rev_cpu::prelude::*;

/// D1. An ancilla can't start at a value that has a derivative (`r0202_ancilla_starts_active.rs`);
/// started at zero and accumulated, both gradients are right.
#[reversible]
fn copied<T: Real>(y: &mut T, x: T) {
    let mut a = T::zero();
    a += x;
    *y += a;
}

#[test]
fn d01_a_copy_carries_the_gradient() {
    for device in devices() {
        let v = copied::vjp(&*device, 1.0, &0.5, 3.0).unwrap();
        assert_eq!((v.y_bar, v.x_bar), (1.0, 1.0));
    }
}

/// D2, D3. What is left in an ancilla: NaN never passes, and small is relative to what it held.
#[reversible]
fn leaves<T: Real>(scale: T, rest: T) {
    let mut a = T::zero();
    a += scale;
    a -= scale;
    a += rest;
    release(a);
}

#[reversible]
fn leaves_integer(rest: i64) {
    let mut a = 5;
    a += rest;
    release(a);
}

#[test]
fn d02_nan_and_infinity_do_not_pass_a_release() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        for rest in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = leaves::run(device, 1.0, rest).unwrap_err();
            assert!(matches!(error.cause(), Cause::Release { .. }), "{error}");
        }
    }
}

#[test]
fn d03_a_tolerance_is_relative_per_type_and_the_callers() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        assert!(leaves::run(device, 1e-3, 1e-9).is_err(), "a millionth of what it held");
        leaves::run(device, 1e10, 1.0).unwrap();
        assert!(leaves_integer::run(device, 1).is_err());
        leaves_integer::run(device, 0).unwrap();
    }
    let tolerances = Tolerances { f64: Tolerance { absolute: 0.0, relative: 1e-3 }, ..Default::default() };
    leaves::run(&Cpu::new().tolerances(tolerances), 1.0, 1e-4).unwrap();
    let options = Options { tolerances, ..Options::default() };
    leaves::run(&Interpreter::with_options(options), 1.0, 1e-4).unwrap();
}

/// D4. The shape of an array that is released is the one it started with: its length can't change,
/// and a stack doesn't hold arrays of run-time shape. Its elements are compared one by one.
#[reversible]
fn elements(n: usize, at: usize) {
    let mut a: Vec<f64> = vec![0.5; n];
    a[at] += 1.0;
    release(a, vec![0.5; n]);
}

#[test]
fn d04_a_release_compares_every_element() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let error = elements::run(device, 3, 2).unwrap_err();
        let Cause::Release { place, expected, found, .. } = error.cause() else { panic!("{error}") };
        assert_eq!((&**place, &**expected, &**found), ("a[2]", "0.5", "1.5"));
    }
}

/// D5. Elements that are the same only at run time; those that surely are don't compile
/// (`r0101_reads_what_it_writes.rs`, `r0102_same_place.rs`), like D6 (`x ^= x`), D7
/// (`r0210_shadowed_ancilla.rs`) and D8 (`r0208_unbalanced_release.rs`).
#[reversible]
fn exchange(a: &mut [i64], i: usize, j: usize) {
    swap(a[i], a[j]);
    a[i] ^= a[j];
}

#[test]
fn d05_d06_elements_that_are_the_same() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let mut a = [1, 2];
        exchange::run(device, &mut a, 0, 1).unwrap();
        assert_eq!(a, [3, 1]);
        let error = exchange::run(device, &mut a, 1, 1).unwrap_err();
        assert!(matches!(error.cause(), Cause::Alias { .. }), "{error}");
        assert_eq!(a, [3, 1]);
    }
}

/// D9. A step that doesn't divide the range.
#[reversible]
fn stepped<T: Real>(y: &mut T, x: &[T]) {
    for i in (1..=4).step_by(2) {
        *y += x[i] * *&x[i - 1];
        neg(*y);
    }
}

#[test]
fn d09_a_stepped_loop_goes_back_the_way_it_came() {
    verify!(stepped, &0.5, &[1.0, 2.0, 3.0, 4.0, 5.0]);
    let mut y = 0.5;
    stepped(&mut y, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(y, 0.5 + 2.0 - 12.0);
}

/// D11. Integers have no gradient: as the loss they don't compile (`r0415_gradient_of_integer.rs`),
/// as arguments their gradient is `()`, not zero.
#[reversible]
fn counted<T: Real>(y: &mut T, n: &[i64], x: T) {
    *y += x * (n[0] as T);
}

#[test]
fn d11_integers_have_no_gradient() {
    let g = counted::gradient(&Cpu::new(), &[3], 2.0).unwrap();
    assert_eq!((g.n, g.x), ((), 3.0));
}

/// D12. The adjoint brings the values back too, where NiLang's for `^`, logdet and Bessel don't.
#[reversible]
fn powers<T: Real>(y: &mut T, z: &mut [T], x: T, p: T) {
    *y += x.powf(p) + x.powi(3);
    z[0] += *y * x.ln();
    rot(z[0], z[1], p);
    inv(z[1]);
}

#[test]
fn d12_an_adjoint_restores_the_values() {
    for device in devices() {
        let start = (0.5, [1.5, -0.75]);
        let (mut y, mut z) = start;
        powers::run(&*device, &mut y, &mut z, 1.3, 2.5).unwrap();
        let (mut y_bar, mut z_bar) = (Batch([1.0]), [Batch([0.5]), Batch([2.0])]);
        let (mut x_bar, mut p_bar) = (Batch([0.0]), Batch([0.0]));
        powers::adjoint::<f64, 1>(
            &*device, &mut y, &mut y_bar, &mut z, &mut z_bar, 1.3, &mut x_bar, 2.5, &mut p_bar,
        )
        .unwrap();
        assert!(abs_diff_eq!(y, start.0, epsilon = 1e-12), "{y} on {}", device.name());
        assert!(abs_diff_eq!(z[..], start.1[..], epsilon = 1e-12), "{z:?} on {}", device.name());
        assert_ne!(x_bar.get(), 0.0);
    }
    verify!(powers, &0.5, &[1.5, -0.75], 1.3, 2.5);
}

/// D13. Stacks inside a parallel loop would be private; the language refuses those from outside
/// (`r0504_parallel_stack.rs`).
///
/// D15. A scalar read by every iteration of a parallel loop has its gradient; racing writes don't
/// compile (`r0501_racing_writes.rs`).
#[reversible]
fn scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a * x[i];
    }
}

#[test]
fn d15_a_scalar_in_a_parallel_loop_has_a_gradient() {
    for device in devices() {
        let v = scaled::vjp(&*device, &[1.0, 2.0, 4.0], &[0.0; 3], 7.0, &[1.0, 10.0, 100.0]).unwrap();
        assert_eq!(v.a_bar, 421.0);
    }
}
