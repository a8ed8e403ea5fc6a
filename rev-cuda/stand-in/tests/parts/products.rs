//! Products and sums of whole arrays on the emulator, from the PTX text: bit for bit the
//! interpreter's in the deterministic mode, forward, inverse and adjoint.

use approx::abs_diff_eq;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_cpu::prelude::*;
use rev_cuda::driver::Driver;
use rev_cuda::emulator::Emulator;
use rev_cuda::lower::{Library, LowerOptions};
use rev_cuda::{Cuda, Gpu};

use super::gpus;

#[reversible]
fn products<T: Field>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>, s: T) {
    c += matmul(a, b) - s * matmul(conj(b.t()), a.t());
    c -= matmul(lower(a), unit_upper(b));
    lower(c) += matmul(a, a.t());
    c += matmul(symmetric_upper(a), b);
}

#[reversible]
fn orientations<T: Real>(mut c: ArrayViewMut2<T>, mut a: ArrayViewMut2<T>, mut b: ArrayViewMut2<T>) {
    c += matmul(a, b.t()) - 0.5 * contract("ki,lk->li", b.t(), a);
    a += matmul(c, b);
    b -= matmul(c.t(), a);
}

#[reversible]
fn hermitian<T: Field>(mut c: ArrayViewMut2<T>, a: ArrayView2<T>, b: ArrayView2<T>) {
    c -= matmul(conj(a), b);
}

#[reversible]
fn vectors<T: Real>(y: &mut [T], r: &mut T, mut m: ArrayViewMut2<T>, a: ArrayView2<T>, x: &[T], s: T) {
    y += matvec(a, x) - s * matvec(a.t(), x);
    y += zipped(x, x) + row_sums(a) - column_sums(a) + s * x;
    m += s * s * outer(x, y);
    let d = dot(x, y);
    *r += d * sum(a) + trace(m);
}

#[reversible]
fn in_a_loop<T: Real>(y: &mut [T], total: &mut [T], a: ArrayView2<T>, x: &[T]) {
    for i in par(0..y.len()) {
        let mut t: Array1<T> = zeros(x.len());
        t += matvec(a, x);
        y[i] += dot(t, x) * x[i];
    }
    total += matvec(a, x);
}

fn matrix<T>(n: usize, m: usize, f: impl Fn(f64) -> T) -> Array2<T> {
    Array2::from_shape_fn((n, m), |(i, j)| f(((i * 7 + j * 5 + i * j) % 11) as f64 / 3.0 - 1.5))
}

/// What a computation gives on every GPU in a fixed order, which the interpreter gives as well.
fn same_bits<T: PartialEq>(run: impl Fn(&dyn Device) -> T) {
    let expected = run(&Interpreter::with_options(Options { deterministic: true, ..Options::default() }));
    for (name, gpu) in gpus(false, true) {
        assert!(run(&*gpu) == expected, "{name}");
    }
}

#[test]
fn matrices_have_the_interpreters_bits() {
    let n = 6;
    let real = |device: &dyn Device| {
        let (a, b, c) = (matrix(n, n, |x| x), matrix(n, n, |x| x * x - 1.0), matrix(n, n, |x| 0.5 * x));
        let seed = matrix(n, n, |x| x / 7.0);
        let mut out = c.clone();
        products::run(device, out.view_mut(), a.view(), b.view(), 0.75).unwrap();
        products::run_inverse(device, out.view_mut(), a.view(), b.view(), 0.75).unwrap();
        let v = products::vjp(device, seed.view(), c.view(), a.view(), b.view(), 0.75).unwrap();
        (out, v.c, v.a_bar, v.b_bar, v.s_bar)
    };
    same_bits(real);
    let complex = |device: &dyn Device| {
        let z = |k: f64| matrix(n, n, move |x| Complex::new(x, k - x * x));
        let v = products::vjp(
            device,
            z(1.0).view(),
            z(2.0).view(),
            z(3.0).view(),
            z(4.0).view(),
            Complex::new(0.5, 2.0),
        );
        let v = v.unwrap();
        (v.c, v.a_bar, v.b_bar, v.s_bar)
    };
    same_bits(complex);
}

#[test]
fn vectors_and_sums_have_the_interpreters_bits() {
    let n = 9;
    let run = |device: &dyn Device| {
        let (a, m) = (matrix(n, n, |x| x), matrix(n, n, |x| x / 3.0));
        let (x, y): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (1.0 / (i as f64 + 1.0), i as f64 / 7.0)).unzip();
        let v = vectors::vjp(device, &x, 1.5, m.view(), &y, &0.5, m.view(), a.view(), &x, 0.3).unwrap();
        let seed = vec![1.0, -2.0, 0.5];
        let w = in_a_loop::vjp(device, &seed, &y, &[0.0; 3], &y, a.view(), &x).unwrap();
        (v.y, v.r, v.m, v.a_bar, v.x_bar, v.s_bar, w.y, w.total, w.a_bar, w.x_bar)
    };
    same_bits(run);
}

#[test]
fn shapes_that_dont_fit_are_errors_that_name_the_arrays() {
    let (a, b, mut c) = (matrix(2, 3, |x| x), matrix(4, 2, |x| x), matrix(2, 2, |x| x));
    for (name, gpu) in gpus(false, true) {
        let error = products::run(&*gpu, c.view_mut(), a.view(), b.view(), 1.0).unwrap_err().to_string();
        for part in ["`a`", "`b`", "[2, 3]", "[4, 2]"] {
            assert!(error.contains(part), "{name}: {error} doesn't say {part}");
        }
    }
    assert_eq!(c, matrix(2, 2, |x| x));
}

/// The products that go to a library are those that loops give, up to rounding; without a library, or
/// in the deterministic mode, insisting on it is an error.
#[test]
fn a_library_is_asked_for_the_right_products() {
    let always = LowerOptions { library: Library::Always, ..LowerOptions::default() };
    let absent = refused(&Gpu::over(Emulator::new()).kernels(always));
    assert!(absent.contains("no library of matrix products"), "{absent}");
    with_library(&Gpu::over(Emulator::new().with_library()));
    match Cuda::new(0).and_then(|gpu| gpu.driver().has_products().map(|()| gpu)) {
        Ok(gpu) => with_library(&gpu),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
}

fn with_library<D: Driver>(gpu: &Gpu<D>) {
    let by = |library| gpu.clone().kernels(LowerOptions { library, ..LowerOptions::default() });
    let (with, without) = (by(Library::Always), by(Library::Never));
    let (a, b, c) = (matrix(4, 3, |x| x), matrix(5, 3, |x| x * x), matrix(4, 5, |x| 0.5 * x));
    let run = |device: &dyn Device| {
        let v =
            orientations::vjp(device, c.view(), a.view(), b.view(), c.view(), a.view(), b.view()).unwrap();
        let parts = [v.c, v.a, v.b, v.a_bar, v.b_bar, v.c_bar];
        parts.into_iter().flatten().collect::<Vec<f64>>()
    };
    let (one, other) = (run(&with), run(&without));
    assert!(
        one.iter().zip(&other).all(|(x, y)| abs_diff_eq!(x, y, epsilon = 1e-12 * (1.0 + y.abs()))),
        "{one:?}\n{other:?}"
    );
    let z = |n, m, k: f64| matrix(n, m, move |x| Complex::new(x, k - x * x));
    let (a, b, c) = (z(4, 3, 1.0), z(3, 5, 2.0), z(4, 5, 3.0));
    let run = |device: &dyn Device| {
        let v = hermitian::vjp(device, c.view(), c.view(), a.view(), b.view()).unwrap();
        [v.c, v.a_bar, v.b_bar].into_iter().flatten().collect::<Vec<_>>()
    };
    let (one, other) = (run(&with), run(&without));
    assert!(
        one.iter().zip(&other).all(|(x, y)| abs_diff_eq!((x - y).norm(), 0.0, epsilon = 1e-12)),
        "{one:?}\n{other:?}"
    );
    assert!(refused(&with.deterministic(true)).contains("deterministic"));
}

/// Why products can't be made.
fn refused(device: &dyn Device) -> String {
    let (mut a, mut b, mut c) = (matrix(4, 3, |x| x), matrix(5, 3, |x| x * x), matrix(4, 5, |x| 0.5 * x));
    orientations::run(device, c.view_mut(), a.view_mut(), b.view_mut()).unwrap_err().to_string()
}

/// A complex number of literals beside one of the program's.
#[reversible]
fn turned<T: Real>(y: &mut Complex<T>, x: Complex<T>) {
    *y += Complex::new(0.5, 0.3) * x;
}

#[test]
fn complex_numbers_of_literals_are_the_programs() {
    fn on(device: &dyn Device) -> (Complex<f32>, Complex<f32>, Complex<bf16>, Complex<f32>) {
        let v =
            turned::vjp(device, Complex::new(1.0f32, 0.0), &Complex::new(0.0, 0.0), Complex::new(1.0, 2.0));
        let v = v.unwrap();
        let z = |re, im| Complex::new(bf16::from_f32(re), bf16::from_f32(im));
        let w = turned::vjp(device, Complex::new(1.0f32, 0.0), &z(0.0, 0.0), z(1.0, 2.0)).unwrap();
        (v.y, v.x_bar, w.y, w.x_bar)
    }
    let found = on(&Cpu::new());
    assert_eq!(found.1, Complex::new(0.5, -0.3));
    same_bits(on);
}
