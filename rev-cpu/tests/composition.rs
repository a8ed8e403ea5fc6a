//! Statements and functions put together: calls, loops, branches, pure functions; values, inverses
//! and gradients on every device.

mod common;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use common::{devices, verify, verify_exact};
use ndarray::{Array1, ArrayViewMut1, ArrayViewMut2};
use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

// calls across modules

mod shapes {
    use rev_cpu::prelude::*;

    pub const HALF: f64 = 0.5;

    #[reversible(inverse_adjoint)]
    pub fn area<T: Real>(y: &mut T, a: T, b: T) {
        *y += a * b * T::from_f64(HALF);
    }

    pub mod deep {
        use rev_cpu::prelude::*;

        #[pure]
        pub fn cube<T: Real>(x: T) -> T {
            x * x * x
        }

        #[reversible(inverse_adjoint)]
        pub(crate) fn volume<T: Real>(y: &mut T, a: T) {
            let mut base = T::zero();
            super::area(&mut base, a, a);
            *y += base * cube(a) + T::from_f64(super::HALF) * self::cube(a);
        }
    }
}

use shapes::{area as face, deep};

#[reversible]
fn modules<T: Real>(y: &mut T, z: &mut T, x: &[T]) {
    for i in 0..x.len() {
        face::<T>(&mut *y, x[i], x[0]);
        crate::shapes::area(&mut *z, *y, deep::cube(x[i]));
        deep::volume(&mut *z, x[i]);
        shapes::area::inverse(&mut *y, x[i] + 1.0, x[0]);
    }
}

#[test]
fn calls_across_modules() {
    verify!(modules, &0.5, &-1.0, &[0.5, 1.5, -0.25]);
    let text = modules::ir().to_string();
    assert!(text.contains("area") && text.contains("cube"), "{text}");
    let (mut y, mut z) = (0.0, 0.0);
    modules(&mut y, &mut z, &[2.0]).unwrap();
    // y: 2 - 3; z: ½ 2 8 + (2 8 + ½ 8)
    assert_eq!((y, z), (-1.0, 28.0));
}

// recursion

#[reversible]
fn sum_tree<T: Real>(y: &mut T, x: &[T]) {
    if x.len() == 1 {
        *y += x[0] * x[0];
    } else if x.len() > 1 {
        let half = x.len() / 2;
        let mut left = T::zero();
        sum_tree(&mut left, &x[0..half]);
        *y += left;
        sum_tree(&mut *y, &x[half..]);
    }
}

#[reversible]
fn even_steps(k: &mut u64, n: u64) {
    if n > 0 {
        odd_steps(&mut *k, n - 1);
        *k += n;
    }
}

#[reversible]
fn odd_steps(k: &mut u64, n: u64) {
    if n > 0 {
        even_steps(&mut *k, n - 1);
        *k ^= n;
    }
}

#[test]
fn recursion_over_slices_and_between_functions() {
    let mut y = 0.0;
    sum_tree(&mut y, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(y, 55.0);
    verify!(sum_tree, &0.5, &[1.0, -2.0, 3.0]);
    verify!(sum_tree, &0.5, &[]);
    verify_exact!(even_steps, &5, 9);
}

// functions as arguments

#[reversible(inverse_adjoint)]
fn twice<T: Real>(y: &mut T, x: T, f: impl Reversible<(&mut T, T)>) {
    f(&mut *y, x);
    f(&mut *y, x * 2.0);
}

#[reversible(inverse_adjoint)]
fn between<T, F, G>(y: &mut [T], x: &[T], f: F, g: G)
where
    T: Real,
    F: Reversible<(&mut T, T)>,
    G: Reversible<(&mut [T], &[T], usize)>,
{
    g(&mut y[..], &x[..], 1);
    for i in 0..x.len() {
        let mut t = T::zero();
        f(&mut t, x[i]);
        y[i] += t * t;
    }
    g.inverse(&mut y[..], &x[..], 2);
    twice(&mut y[0], x[0], f);
}

#[reversible(inverse_adjoint)]
fn squared<T: Real>(y: &mut T, x: T) {
    *y += x * x;
}

#[reversible(inverse_adjoint)]
fn shifted<T: Real>(y: &mut [T], x: &[T], by: usize) {
    for i in by..y.len() {
        y[i] += x[i - by].sin();
    }
}

#[reversible]
fn chosen<T: Real>(y: &mut [T], x: &[T]) {
    between(&mut y[..], &x[..], squared, shifted);
    between::inverse(&mut y[..], &x[..], deep::volume, shifted);
}

#[test]
fn functions_as_arguments() {
    let (y, x) = ([0.5, 1.0, -1.0], [0.25, 0.75, 1.5]);
    for device in devices() {
        let mut z = y;
        chosen::run(&*device, &mut z, &x).unwrap();
        let mut w = y;
        for i in 0..3 {
            w[i] += x[i].powi(4);
        }
        let volume = |a: f64| 0.5 * a.powi(5) + 0.5 * a.powi(3);
        w[0] += 5.0 * x[0] * x[0] - volume(x[0]) - volume(2.0 * x[0]);
        for i in 0..3 {
            w[i] -= volume(x[i]).powi(2);
        }
        assert!(abs_diff_eq!(z[..], w[..], epsilon = 1e-12), "{z:?} {w:?}");
    }
    verify!(chosen, &y, &x);
    let g = twice::gradient(&Cpu::new(), 3.0, squared {}).unwrap();
    assert_eq!((g.value, g.x), (45.0, 30.0));
}

// parallel loops

#[reversible]
fn row<T: Real>(y: &mut [T], total: &mut T, x: &[T], scale: T) {
    for j in par(0..y.len()) {
        let s = x[j] * scale;
        y[j] += s * s;
        *total += s.sin();
    }
}

#[reversible]
fn nested<T: Real>(mut y: ArrayViewMut2<T>, totals: &mut [T], x: &[T], steps: usize) {
    for k in 0..steps {
        for i in par(0..y.nrows()) {
            let scale = x[i] + T::from_usize(k);
            for j in par(0..y.ncols()) {
                y[[i, j]] += scale * x[j];
            }
            for j in 0..y.ncols() {
                let mut square = T::zero();
                squared(&mut square, x[j]);
                totals[i] += square * scale;
            }
        }
    }
}

#[reversible]
fn rows<T: Real>(y: &mut [[T; 3]], totals: &mut [T], x: &[[T; 3]], scale: &[T]) {
    for i in par(0..y.len()) {
        row(&mut y[i][..], &mut totals[i], &x[i][..], scale[i / 2]);
    }
}

#[test]
fn parallel_loops_with_calls_and_loops_inside() {
    let (y, x) = (ndarray::Array2::from_elem((3, 3), 0.5), [0.5, -1.0, 2.0]);
    verify!(nested, y.view(), &[0.0; 3], &x, 2);
    let rows_of = |k: f64| [[k, 2.0, -0.5], [0.25, k, 1.0], [k, k, 3.0]];
    verify!(rows, &rows_of(0.5), &[0.0; 3], &rows_of(1.5), &[0.75, -0.25]);
}

/// Parts of elements, changed by instructions and updates, by two names of an element, and beside another one.
#[reversible]
fn parts<T: Real>(mut z: ArrayViewMut1<Complex<T>>, y: &mut [[T; 2]], angle: &[T]) {
    let n = angle.len();
    for i in par(0..n) {
        irot(z[i + n].re, z[i + n].im, angle[i]);
        hadamard(z[i], z[i + n]);
        scale_by(z[i].re, 2.0 + angle[i]);
        neg(z[2 * i - i].re);
        z[i].im += angle[i];
        swap(y[i][0], y[i][1]);
        y[i][1] += angle[i] * angle[i];
        if angle[i] > 0.0 {
            rot(y[i][0], y[i][1], angle[i]);
            neg(z[i].im);
            swap(z[i].re, z[i].im);
        }
        neg(y[i][0]);
    }
}

#[test]
fn parts_that_instructions_change() {
    for n in [1, 16, 37] {
        let z = Array1::from_shape_fn(2 * n, |k| Complex::new(0.5 + k as f64, 0.25 * k as f64));
        let y: Vec<[f64; 2]> = (0..n).map(|k| [0.125 * k as f64, 1.5]).collect();
        let angle: Vec<f64> = (0..n).map(|k| 0.25 + (k as f64).sin()).collect();
        verify!(parts, z.view(), &y, &angle);
    }
}

#[reversible]
fn through_indices<T: Real>(y: &mut [T], idx: &[usize], x: &[T]) {
    #[injective(idx)]
    for i in par(0..idx.len()) {
        y[idx[i]] += x[i] * x[i];
        neg(y[idx[i]]);
    }
}

#[test]
fn an_index_array_declared_injective() {
    let x = [1.0, 2.0, 3.0];
    let mut y = [0.5; 4];
    through_indices(&mut y, &[3, 0, 1], &x).unwrap();
    assert_eq!(y, [-4.5, -9.5, 0.5, -1.5]);
    verify!(through_indices, &[0.5; 4], &[3, 0, 1], &x);
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let error = through_indices::run(device, &mut y, &[3, 0, 3], &x).unwrap_err();
        let Cause::NotInjective { value, first: 0, second: 2, .. } = error.cause() else { panic!("{error}") };
        assert_eq!(value, "3");
        assert_eq!(y, [-4.5, -9.5, 0.5, -1.5]);
    }
}

// blocks

#[reversible]
fn blocks<T: Real>(y: &mut T, z: &mut T, x: T) {
    let mut s = T::zero();
    let mut r = T::zero();
    #[compute]
    {
        s += x * x;
        r += s.sqrt() * x;
        swap(s, r);
    }
    *y += s * r;
    #[inverse]
    {
        *z += *y * 2.0;
        squared(&mut *z, x);
        for i in 0..3 {
            *z -= T::from_usize(i) * x;
        }
    }
    #[unchecked]
    {
        let mut left = T::zero();
        left += x;
        *y -= left;
        release(left, x);
    }
    #[external]
    {
        assert!(x == x);
    }
}

#[test]
fn blocks_of_every_kind() {
    let (mut y, mut z) = (0.0, 10.0);
    blocks(&mut y, &mut z, 2.0).unwrap();
    assert_eq!((y, z), (4.0 * 4.0 - 2.0, 10.0 - 32.0 - 4.0 + 6.0));
    verify!(blocks, &0.5, &1.5, 2.0);
}

// branches, loops

#[reversible]
fn branches<T: Real>(y: &mut T, k: &mut i64, x: T) {
    #[post(*y > 10.0)]
    if *y > 0.0 {
        *y += x * x + 10.0;
    } else {
        *y -= x;
        #[post(*k > 5)]
        if *k > 2 {
            *k += 4;
        } else if x > 1.0 {
            *y -= 1.0;
        }
    }
    #[post(*k != 0)]
    while *k < 12 {
        *k += 3;
        *y += x * (*k as T);
    }
}

#[test]
fn branches_and_loops_with_postconditions() {
    for (y, x) in [(1.0, 0.5), (-1.0, 0.5), (-1.0, 2.0)] {
        verify!(branches, &y, &0, x);
    }
    verify!(branches, &1.0, &0, 3.0);
}

#[reversible]
fn ranges(seen: &mut [i64], at: &mut usize, a: i64, b: i64, k: usize) {
    for i in a..b {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..b).rev() {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..b).step_by(k) {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..b).rev().step_by(k) {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..b).step_by(k).rev() {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..=b).rev() {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..=b).step_by(k) {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..=b).rev().step_by(k) {
        note(&mut seen[..], &mut *at, i);
    }
    for i in (a..=b).step_by(k).rev() {
        note(&mut seen[..], &mut *at, i);
    }
}

#[reversible]
fn note(seen: &mut [i64], at: &mut usize, i: i64) {
    seen[*at] += i;
    *at += 1;
}

fn stepped(range: std::ops::Range<i64>, k: usize) -> Vec<i64> {
    range.step_by(k).collect()
}

#[test]
fn ranges_visit_what_rust_visits() {
    for (a, b) in [(0, 7), (-3, 3), (2, 2), (3, 2), (0, 8)] {
        for k in [1, 2, 3, 10] {
            let mut expected: Vec<i64> = Vec::new();
            expected.extend(a..b);
            expected.extend((a..b).rev());
            expected.extend((a..b).step_by(k));
            expected.extend((a..b).rev().step_by(k));
            expected.extend(stepped(a..b, k).into_iter().rev());
            expected.extend((a..=b).rev());
            expected.extend((a..=b).step_by(k));
            expected.extend((a..=b).rev().step_by(k));
            expected.extend(stepped(a..b + 1, k).into_iter().rev());
            for device in devices() {
                let (mut seen, mut at) = (vec![0; expected.len()], 0);
                ranges::run(&*device, &mut seen, &mut at, a, b, k).unwrap();
                assert_eq!(seen, expected, "{a}..{b} by {k} on {}", device.name());
                ranges::run_inverse(&*device, &mut seen, &mut at, a, b, k).unwrap();
                assert!(at == 0 && seen.iter().all(|s| *s == 0));
            }
        }
    }
}

// stacks

#[reversible]
fn history<T: Real>(x: &mut T, past: &mut Stack<T>, steps: usize) {
    for _ in 0..steps {
        let mut old = T::zero();
        old += *x;
        push(past, old);
        release(old);
        *x += 1.0;
    }
}

/// Overwrites, with what was there kept on a stack of the function's own.
#[reversible]
fn overwritten<T: Real>(y: &mut T, x: &mut [T]) {
    let mut old = Stack::<T>::new();
    #[compute]
    {
        for i in 1..x.len() {
            push(old, x[i]);
            x[i] += x[i - 1].sin();
        }
    }
    *y += x[x.len() - 1];
}

#[test]
fn stacks() {
    let (mut x, mut past) = (0.5, Stack::new());
    history(&mut x, &mut past, 3).unwrap();
    assert_eq!((x, past.len()), (3.5, 3));
    history::inverse(&mut x, &mut past, 3).unwrap();
    assert_eq!((x, past.len()), (0.5, 0));
    for device in devices() {
        let g = overwritten::gradient(&*device, &[0.5, 7.0, 8.0, 9.0]).unwrap();
        let (s, c) = (0.5f64.sin(), 0.5f64.cos());
        assert_abs_diff_eq!(g.value, s.sin().sin(), epsilon = 1e-14);
        assert_abs_diff_eq!(g.x[0], s.sin().cos() * s.cos() * c, epsilon = 1e-14);
        assert_eq!(g.x[1..], [0.0; 3]);
    }
}

// pure functions

#[pure]
fn smooth_abs<T: Real>(x: T, eps: T) -> T {
    let r = x * x + eps;
    if x > T::zero() {
        let s = r.sqrt();
        s + T::zero()
    } else {
        r.sqrt()
    }
}

#[pure]
fn quadratic<T: Real>(a: T, b: T, n: usize) -> (T, T) {
    let d = (b * b - a * T::from_usize(n)).sqrt();
    (d - b, -b - d)
}

#[pure(d(x) = T::zero() - (T::zero() - x).exp() * T::from_f64(2.0), d(k) = T::zero())]
fn decay<T: Real>(x: T, k: T) -> T {
    (T::zero() - x).exp() * T::from_f64(2.0) + k - k
}

#[reversible]
fn with_pure<T: Real>(y: &mut T, z: &mut (T, T), a: T, b: T) {
    *y += smooth_abs(a * b, T::from_f64(0.01)) + decay(a, b);
    (z.0, z.1) += quadratic(a, b, 2);
    let (p, q) = quadratic(b, a + 5.0, 1);
    *y -= p * q;
}

#[test]
fn pure_functions_with_derived_and_given_derivatives() {
    verify!(with_pure, &0.5, &(0.0, 1.0), 0.5, 2.0);
    verify!(with_pure, &0.5, &(0.0, 1.0), -0.5, 2.0);
    let (p, q) = quadratic(0.5, 2.0, 2);
    assert_abs_diff_eq!(p + q, -4.0f64, epsilon = 1e-14);
}

/// The given derivative is the one that is used.
#[pure(d(x) = T::from_f64(7.0))]
fn straight_through<T: Real>(x: T) -> T {
    x.round()
}

#[reversible]
fn rounded<T: Real>(y: &mut T, x: T) {
    *y += straight_through(x * 2.0);
}

#[test]
fn a_given_derivative_is_used() {
    for device in devices() {
        let g = rounded::gradient(&*device, 1.3).unwrap();
        assert_eq!((g.value, g.x), (3.0, 14.0));
    }
}

// expressions

#[reversible]
fn choices<T: Real>(y: &mut T, a: T, b: T, c: bool) {
    *y += if a > b && c || !(a != b) {
        a * a
    } else if c {
        b
    } else {
        -b
    };
    *y += select(a < b, a * 3.0, b * 5.0);
    *y += a.max(b) * 7.0 + a.min(b) * 11.0;
}

#[test]
fn choices_in_expressions() {
    for (a, b) in [(1.5, 0.5), (0.5, 1.5)] {
        for c in [false, true] {
            verify!(choices, &0.0, a, b, c);
        }
    }
    // at ties the first argument has the whole derivative
    for device in devices() {
        let g = choices::gradient(&*device, 2.0, 2.0, false).unwrap();
        assert_eq!((g.a, g.b), (4.0 + 7.0 + 11.0, 5.0));
    }
}

#[reversible]
fn every_function<T: Real>(y: &mut T, x: T, z: T) {
    *y += x.abs() + x.abs2() + x.sqrt() + x.exp() + x.ln() + x.log2() + x.ln_1p() + x.exp_m1();
    *y += x.sin() * x.cos() - x.tan() + x.sinh() * x.cosh() - x.tanh() + log1p(x) * expm1(x);
    *y += x.asin() + x.acos() * 2.0 + x.atan() + atan2(x, z) + x.powi(-3) + x.powf(z) + hypot(x, z);
    *y += x.recip() + x.mul_add(z, x) + ln_gamma(z) + T::from_f64(0.5).ln_gamma();
}

#[test]
fn every_function_of_the_table() {
    verify!(every_function, &0.0, 0.6, 1.7);
}

// derivatives where there is none

#[reversible]
fn edges<T: Real>(y: &mut T, a: T, r: T, p: T, q: T, s: T, e: T) {
    *y += a.abs() + r.sqrt() * 0.0 + atan2(p, q) + s.powf(e) + hypot(p, q);
}

#[reversible]
fn root<T: Real>(y: &mut T, x: T) {
    *y += x.sqrt();
}

#[test]
fn derivatives_where_there_is_none() {
    for device in devices() {
        let g = edges::gradient(&*device, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0).unwrap();
        assert_eq!(g.value, 0.0);
        assert_eq!([g.a, g.r, g.p, g.q, g.s, g.e], [0.0; 6], "{}", device.name());
        let g = edges::gradient(&*device, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0).unwrap();
        assert_eq!((g.s, g.e), (1.0, 0.0));
        let g = edges::gradient(&*device, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0).unwrap();
        assert_eq!((g.s, g.e), (0.0, 2.0f64.ln()));
        // where `1/s` is infinite
        for s in [f64::from_bits(1), 1e-310] {
            let g = edges::gradient(&*device, 0.0, 0.0, 0.0, 0.0, s, 0.0).unwrap();
            assert_eq!((g.s, g.e), (0.0, rev_core::scalar::rt::ln(s)), "{s}");
            assert_eq!(edges::gradient(&*device, 0.0, 0.0, 0.0, 0.0, s, 1.0).unwrap().s, 1.0);
        }
        assert_eq!(root::gradient(&*device, 0.0).unwrap().x, f64::INFINITY);
        assert_eq!(root::vjp(&*device, 0.0, &0.0, 0.0).unwrap().x_bar, 0.0);
    }
}
