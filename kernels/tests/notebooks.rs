//! Small programs of the papers' notebooks and documentation, with the numbers that stand there.
#![allow(clippy::unwrap_used)]

#[path = "support/hessian.rs"]
mod support;

use approx::assert_abs_diff_eq;
use ndarray::{Array3, ArrayView3};
use rev_core::coordinates;
use rev_core::interp::Interpreter;
use rev_core::value::{Data, DynArg};
use rev_cpu::prelude::*;
use rev_cuda::Emulator;
use rev_kernels::{bessel, complex_log, exponential, fibonacci, log_sum_exp};
use rev_numbers::Log;
use support::hessian;

fn close(got: f64, expected: f64, tolerance: f64) {
    approx::assert_abs_diff_eq!(got, expected, epsilon = tolerance);
}

/// The CPU, with and without checks, the interpreter and the emulated GPU.
fn devices() -> [Box<dyn Device>; 4] {
    let emulator = Emulator::new().checks(true);
    [
        Box::new(Cpu::new()),
        Box::new(Cpu::new().checks(false)),
        Box::new(Interpreter::new()),
        Box::new(emulator),
    ]
}

// sums and products

#[reversible]
fn squared_distance<T: Real>(d: &mut T, x: &[T], y: &[T]) {
    for i in 0..x.len() {
        *d += (x[i] - y[i]).powi(2);
    }
}

/// `y += x¹²` by five products.
#[reversible]
fn power12<T: Ring>(y: &mut T, x: T) {
    let mut second = T::zero();
    let mut third = T::zero();
    let mut sixth = T::zero();
    second += x * x;
    third += second * x;
    sixth += third * third;
    *y += sixth * sixth;
}

#[reversible]
fn nested<T: Real>(z: &mut T, x: T, y: T) {
    *z += (x + 2.0 * y).sin();
}

#[reversible]
fn twice_the_exponential<T: Real>(y: &mut T, x: T) {
    let mut e = T::zero();
    #[compute]
    {
        e += x.exp();
    }
    *y += 2.0 * e;
}

#[test]
fn expressions() {
    for device in devices() {
        let d = &*device;
        let g = squared_distance::gradient(d, &[1.0, 0.0], &[0.0, 1.0]).unwrap();
        assert_eq!((g.value, g.x, g.y), (2.0, vec![2.0, -2.0], vec![-2.0, 2.0]));
        let mut y = 0;
        power12::run(d, &mut y, 2i64).unwrap();
        assert_eq!(y, 4096);
        power12::run_inverse(d, &mut y, 2).unwrap();
        assert_eq!(y, 0);
        let g = power12::gradient(d, 2.0f64).unwrap();
        assert_eq!((g.value, g.x), (4096.0, 12.0 * 2048.0));
        let mut z = 3.0;
        nested::run(d, &mut z, 1.0, 2.0).unwrap();
        close(z, 2.041_075_725_336_861_4, 1e-15);
        let mut y = 0.0;
        twice_the_exponential::run(d, &mut y, 3.0).unwrap();
        close(y, 2.0 * 3f64.exp(), 1e-14);
        twice_the_exponential::run_inverse(d, &mut y, 3.0).unwrap();
        assert_eq!(y, 0.0);
    }
}

// parts

#[reversible]
fn add_complex<T: Real>(z: &mut Complex<T>, x: Complex<T>) {
    z.re += x.re;
    z.im += x.im;
}

/// `(c, d) += (a, b)`, by complex numbers that the arguments are moved into, and out of them again.
#[reversible]
fn add_four<T: Real>(a: &mut T, b: &mut T, c: &mut T, d: &mut T) {
    let mut x = Complex::new(T::zero(), T::zero());
    let mut z = Complex::new(T::zero(), T::zero());
    {
        #[compute]
        {
            swap(x.re, a);
            swap(x.im, b);
            swap(z.re, c);
            swap(z.im, d);
        }
        add_complex(&mut z, x);
    }
    release(x);
    release(z);
}

#[reversible]
fn axpy_of_tuples<T: Real>(y: &mut (T, T, T), a: T, x: (T, T, T)) {
    y.0 += a * x.0;
    y.1 += a * x.1;
    y.2 += a * x.2;
}

#[reversible]
fn apply<T: Real>(y: &mut T, x: &T, f: impl Reversible<(&mut T, &T)>) {
    f(&mut y, &x);
}

#[reversible]
fn add_exponential<T: Real>(y: &mut T, x: &T) {
    *y += x.exp();
}

#[reversible]
fn area(n: &mut usize, x: ArrayView3<f64>) {
    *n += x.dim(0) * x.dim(1);
}

#[test]
fn arguments() {
    let mut z = Complex::new(3.0, 4.0);
    add_complex(&mut z, Complex::new(1.0, 2.0)).unwrap();
    assert_eq!(z, Complex::new(4.0, 6.0));
    for device in devices() {
        let d = &*device;
        let (mut a, mut b, mut c, mut e) = (1.0, 2.0, 3.0, 4.0);
        add_four::run(d, &mut a, &mut b, &mut c, &mut e).unwrap();
        assert_eq!([a, b, c, e], [1.0, 2.0, 4.0, 6.0]);
        add_four::run_inverse(d, &mut a, &mut b, &mut c, &mut e).unwrap();
        assert_eq!([a, b, c, e], [1.0, 2.0, 3.0, 4.0]);
    }
    let mut y = (0.0, 0.0, 0.0);
    axpy_of_tuples(&mut y, 2.0, (1.0, 2.0, 3.0)).unwrap();
    assert_eq!(y, (2.0, 4.0, 6.0));
    axpy_of_tuples::inverse(&mut y, 2.0, (1.0, 2.0, 3.0)).unwrap();
    assert_eq!(y, (0.0, 0.0, 0.0));
    // a function that is an argument, and lengths, are never written back
    let mut y = 0.0;
    apply(&mut y, &3.0, add_exponential {}).unwrap();
    assert_eq!(y, 3f64.exp());
    let mut n = 0;
    area(&mut n, Array3::zeros((3, 4, 1)).view()).unwrap();
    assert_eq!(n, 12);
}

/// How many numbers that carry derivatives values hold: a complex number two, an integer or a truth value none.
#[test]
fn coordinates_of_values() {
    let count = |data: &Data| coordinates::of(data).len();
    assert_eq!(count(&(0.5, 3usize, true, -2i64).load()), 1);
    assert_eq!(count(&vec![[1f32; 2]; 3].load()), 6);
    assert_eq!(count(&Fixed43::from_num(1.5).load()), 1);
    assert_eq!(count(&[Complex::new(1.0, 2.0); 5].load()), 10);
    assert_eq!(count(&vec![1u8, 2].load()), 0);
}

#[reversible]
fn exchange(stack: &mut Stack<f64>, x: &mut f64, y: &mut f64) {
    push(stack, x);
    pop(stack, x);
    push(stack, y);
}

#[test]
fn a_stack_that_is_exchanged() {
    let (mut stack, mut x, mut y) = (Stack::new(), 2.0, 3.0);
    exchange(&mut stack, &mut x, &mut y).unwrap();
    assert_eq!((x, y, stack.as_slice()), (2.0, 0.0, &[3.0][..]));
    exchange::inverse(&mut stack, &mut x, &mut y).unwrap();
    assert_eq!((x, y, stack.len()), (2.0, 3.0, 0));
}

// branches and loops

#[reversible]
fn destroys_its_condition(x: &mut f64) {
    #[post(*x > 1.0)]
    if *x > 1.0 {
        *x -= 1.0;
    }
}

#[reversible]
fn keeps_its_condition(x: &mut f64, kept: &mut bool) {
    *kept ^= *x > 1.0;
    #[post(*kept)]
    if *x > 1.0 {
        *x += 1.0;
    }
}

#[reversible]
fn kept_by_the_language(x: &mut f64, kept: &mut bool) {
    #[keep(kept)]
    if *x > 1.0 {
        *x -= 1.0;
    }
}

#[reversible]
fn from_until(x: &mut i64, i: &mut i64) {
    #[post(*i != 0)]
    while *i < 10 {
        inc(x);
        inc(i);
    }
}

#[test]
fn conditions() {
    for checked in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let error = destroys_its_condition::run(checked, &mut 1.2).unwrap_err().to_string();
        assert!(error.contains("x > 1.0"), "{error}");
        let (mut x, mut kept) = (1.2, false);
        keeps_its_condition::run(checked, &mut x, &mut kept).unwrap();
        assert_eq!((x, kept), (2.2, true));
        keeps_its_condition::run_inverse(checked, &mut x, &mut kept).unwrap();
        assert!(!kept);
        assert_abs_diff_eq!(x, 1.2, epsilon = 1e-15);
        kept_by_the_language::run(checked, &mut x, &mut kept).unwrap();
        assert!(kept);
        assert_abs_diff_eq!(x, 0.2, epsilon = 1e-15);
        kept_by_the_language::run_inverse(checked, &mut x, &mut kept).unwrap();
        assert!(!kept);
        assert_abs_diff_eq!(x, 1.2, epsilon = 1e-15);
        let (mut x, mut i) = (1, 0);
        from_until::run(checked, &mut x, &mut i).unwrap();
        assert_eq!((x, i), (11, 10));
        from_until::run_inverse(checked, &mut x, &mut i).unwrap();
        assert_eq!((x, i), (1, 0));
        let mut f = 0;
        fibonacci::fibonacci::run(checked, &mut f, 6).unwrap();
        assert_eq!(f, 8);
    }
}

// what numbers lose

#[reversible]
fn there_and_back<T: Real>(x: &mut T, y: T) {
    *x += y;
    *x -= y;
}

#[test]
fn a_small_number_beside_a_large_one() {
    let mut x = 1e-20;
    there_and_back(&mut x, 1e20).unwrap();
    assert_eq!(x, 0.0);
    let (mut x, y) = (Fixed43::from_bits(1), Fixed43::from_num(1e5));
    there_and_back(&mut x, y).unwrap();
    assert_eq!(x, Fixed43::from_bits(1));
    // sums of fixed-point numbers are those of integers
    let mut x = Fixed43::from_num(0.5);
    x += Fixed43::from_num(0.6);
    assert_eq!(x, Fixed43::from_num(1.1));
}

#[reversible]
fn binary_logarithm<T: Real>(y: &mut T, x: T) {
    *y += x.log2();
}

/// `y += xⁿ` and `y += eˣ` by products and quotients of a logarithmic number.
#[reversible]
fn power_by_products<T: Real>(y: &mut T, x: T, n: usize) {
    let mut p = Log::<T>::zero();
    for _ in 0..n {
        p *= x;
    }
    *y += p.repr.exp();
}

#[reversible]
fn exponential_by_products<T: Real>(y: &mut T, x: T, terms: usize) {
    let mut term = Log::<T>::zero();
    *y += 1.0;
    for n in 1..terms {
        term *= x / T::from_usize(n);
        *y += term.repr.exp();
    }
}

#[test]
fn logarithms() {
    for device in devices() {
        let d = &*device;
        let mut y = Fixed43::ZERO;
        binary_logarithm::run(d, &mut y, Fixed43::from_num(1.24f64.exp2())).unwrap();
        close(y.to_num(), 1.24, 1e-12);
        let mut y = 0.0;
        power_by_products::run(d, &mut y, 3.0, 3).unwrap();
        close(y, 27.0, 1e-13);
        let g = exponential_by_products::gradient(d, 3.5, 40).unwrap();
        close(g.value, 3.5f64.exp(), 1e-13 * g.value);
        close(g.x, 3.5f64.exp(), 1e-13 * g.value);
    }
}

// derivatives

/// `x³`, with a derivative of its own.
#[pure(d(x) = 3.0 * x * x)]
fn cube<T: Real>(x: T) -> T {
    x * x * x
}

#[reversible(inverse_adjoint)]
fn add_cube<T: Real>(y: &mut T, x: T) {
    *y += cube(x);
}

#[reversible]
fn subtract_cube<T: Real>(y: &mut T, x: T) {
    add_cube::inverse(&mut y, x);
}

#[test]
fn a_function_of_one_s_own() {
    for device in devices() {
        let d = &*device;
        assert!(add_cube::check_inverse(d, &0.5, 3.0).unwrap().passed());
        let (forward, backward) = (
            add_cube::check_gradient(d, &0.5, 3.0).unwrap(),
            subtract_cube::check_gradient(d, &0.5, 3.0).unwrap(),
        );
        assert!(forward.passed() && backward.passed(), "{forward} {backward}");
        let (up, down): (f64, f64) =
            (add_cube::gradient(d, 3.0).unwrap().x, subtract_cube::gradient(d, 3.0).unwrap().x);
        assert_eq!((up, down), (27.0, -27.0));
    }
}

#[reversible]
fn r_axpy<T: Real>(a: T, x: &[T], y: &mut [T]) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

#[reversible(loss = out)]
fn r_loss<T: Real>(out: &mut T, a: T, x: &[T], y: &mut [T], z: &[T]) {
    r_axpy(a, &x, &mut y);
    for i in 0..z.len() {
        *out += z[i] * y[i];
    }
}

#[test]
fn identities_of_a_bilinear_loss() {
    let (a, x, y, z) = (3.0, [1.0, -2.0, 4.0], [0.5, 8.0, -1.0], [2.0, 3.0, 5.0]);
    for device in devices() {
        let g = r_loss::gradient(&*device, a, &x, &y, &z).unwrap();
        assert_eq!(g.a, 2.0 - 6.0 + 20.0); // x·z
        assert_eq!(g.z, [3.5, 2.0, 11.0]); // a x + y
        assert_eq!(g.x, [6.0, 9.0, 15.0]); // a z
        assert_eq!(g.y, z);
    }
}

#[reversible]
fn shared<T: Real>(y: &mut [T], x: T, z: &[T]) {
    for i in par(0..y.len()) {
        y[i] += x * z[i] + z[i].exp();
    }
}

#[test]
fn one_number_that_all_threads_read() {
    let z = [1.0, 2.0, 3.0];
    for threads in [1, 2, 3, 8] {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        let v = shared::vjp(&cpu, &[1.0; 3], &[0.0; 3], 2.0, &z).unwrap();
        assert_eq!(v.x_bar, 6.0);
        for (i, z) in z.iter().enumerate() {
            close(v.y[i], 2.0 * z + z.exp(), 1e-14);
            close(v.z_bar[i], 2.0 + z.exp(), 1e-14);
        }
    }
}

#[test]
fn bessel_functions_and_logarithms() {
    // J0' = -J1
    let g = bessel::bessel_j::gradient(&Cpu::new(), 0, 2.1, 1e-12).unwrap();
    close(g.z, -0.568_292_135_757_038_5, 1e-10);
    let v = bessel::bessel_j::vjp(&Cpu::new(), 1.0, &0.0, 0, 2.1, 1e-12).unwrap();
    assert_eq!((v.z_bar, v.out_bar), (g.z, 1.0));
    for x in [Complex::new(3.0, 2.0), Complex::new(1.0, -1.5), Complex::new(-0.5, 0.25)] {
        let mut y = Complex::new(0.0, 0.0);
        complex_log::complex_log(&mut y, x).unwrap();
        assert_abs_diff_eq!((y - x.ln()).norm(), 0.0, epsilon = 1e-15);
    }
    for n in [10, 100] {
        let x: Vec<f64> = (0..n).map(|i| 3.0 * (0.7 * f64::from(i)).sin()).collect();
        let g = log_sum_exp::log_sum_exp::gradient(&Cpu::new(), &x).unwrap();
        close(g.value, x.iter().map(|x| x.exp()).sum::<f64>().ln(), 1e-13);
        close(g.x.iter().sum(), 1.0, 1e-14);
        assert!(log_sum_exp::log_sum_exp::check_inverse(&Cpu::new(), &0.5, &x).unwrap().passed());
    }
}

// second derivatives

#[reversible]
fn power<T: Real>(a: &mut T, b: T, c: T) {
    *a += b.powf(c);
}

#[reversible]
fn quotient<T: Real>(a: &mut T, b: T, c: T) {
    *a += b / c;
}

#[reversible(loss = out)]
fn rotated<T: Real>(out: &mut T, a: T, b: T, angle: T) {
    let mut x = T::zero();
    let mut y = T::zero();
    x += a;
    y += b;
    #[compute]
    {
        rot(x, y, angle);
    }
    *out += x;
}

fn same(found: &[Vec<f64>], expected: &[&[f64]]) {
    for (row, expected) in found.iter().zip(expected) {
        row.iter().zip(*expected).for_each(|(f, e)| close(*f, *e, 1e-12 * e.abs().max(1.0)));
    }
}

#[test]
fn hessians_of_instructions() {
    let (b, c) = (1.7f64, 2.3);
    let mixed = b.powf(c - 1.0) * (1.0 + c * b.ln());
    let expected = [[c * (c - 1.0) * b.powf(c - 2.0), mixed], [mixed, b.powf(c) * b.ln().powi(2)]];
    same(&hessian!(power, b, c), &[&expected[0], &expected[1]]);
    let mixed = -1.0 / (c * c);
    same(&hessian!(quotient, b, c), &[&[0.0, mixed], &[mixed, 2.0 * b / c.powi(3)]]);
    let (a, t) = (0.6, 0.9f64);
    let (s, k) = t.sin_cos();
    let expected = [[0.0, 0.0, -s], [0.0, 0.0, -k], [-s, -k, b * s - a * k]];
    same(&hessian!(rotated, a, b, t), &[&expected[0], &expected[1], &expected[2]]);
}

#[test]
fn hessians_of_series() {
    let close = |found: f64, expected: f64| close(found, expected, 1e-9);
    // the loss's own second derivative; there is none by the tolerance
    let h = hessian!(exponential::exponential, 1.6, 1e-16);
    close(h[0][0], 4.953_032_424_395_115);
    assert!(h[0][1] == 0.0 && h[1][1] == 0.0);
    let g = exponential::exponential::gradient(&Cpu::new(), 1.6, 1e-16).unwrap();
    close(g.x, 4.953_032_424_426_055_5);
    let h = hessian!(bessel::bessel_j, 2usize, 1.0, 1e-16);
    close(h[0][0], 0.134_466_838_914_568_9);
    let g = bessel::bessel_j::gradient(&Cpu::new(), 2, 1.0, 1e-16).unwrap();
    close(g.z, 0.210_243_615_859_342_68);
}

/// Of `ln Σ e^x`: `diag(p) - p pᵀ` with `p = e^x / Σ e^x`.
#[test]
fn the_hessian_of_log_sum_exp() {
    let x: Vec<f64> = (0..6).map(|i| 300.0 + 2.0 * (0.7 * f64::from(i)).sin()).collect();
    let powers: Vec<f64> = x.iter().map(|x| (x - 300.0).exp()).collect();
    let p: Vec<f64> = powers.iter().map(|e| e / powers.iter().sum::<f64>()).collect();
    let h = hessian!(log_sum_exp::log_sum_exp, x);
    assert_eq!(h.len(), 6);
    for (i, j) in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
        close(h[i][j], if i == j { p[i] - p[i] * p[i] } else { -p[i] * p[j] }, 1e-13);
    }
}

// devices

#[reversible]
fn traces<T: Field>(y: &mut [T], x: ArrayView3<T>) {
    for k in par(0..y.len()) {
        for i in 0..x.dim(0) {
            y[k] += x[[i, i, k]];
        }
    }
}

/// The traces of many complex matrices in single precision: derivatives are on the diagonals.
#[test]
fn traces_of_many_matrices() {
    let x = Array3::from_shape_fn((3, 3, 40), |(i, j, k)| Complex::new((9 * i + 3 * j) as f32, k as f32));
    let (one, zero) = (Complex::new(1.0f32, 0.0), Complex::new(0.0f32, 0.0));
    for device in devices() {
        let v = traces::vjp(&*device, &[one; 40], &[zero; 40], x.view()).unwrap();
        for k in 0..40 {
            assert_eq!(v.y[k], Complex::new(36.0, 3.0 * k as f32));
        }
        v.x_bar.indexed_iter().for_each(|((i, j, _), bar)| assert_eq!(*bar, if i == j { one } else { zero }));
    }
}

/// A step of diffusion on a ring.
#[reversible]
fn diffuse(new: &mut [f64], old: &[f64], rate: f64) {
    let n = old.len();
    for i in par(0..n) {
        new[i] += old[i] + rate * (old[(i + n - 1) % n] - 2.0 * old[i] + old[(i + 1) % n]);
    }
}

/// 100 cells, 100 steps, four segments: the derivatives of the middle cell by Bennett's scheme are those that storing all states gives, at fewer states
/// and less than twice as many calls as the scheme that takes its result back.
#[test]
fn diffusion_by_bennett_s_scheme() {
    use rev_checkpoint::{from_old, no_loss, Run};
    use rev_schedule::{Action, Bennett, Counts, Everything, Top};
    const N: usize = 100;
    let (steps, cpu) = (100, Cpu::new());
    let rate = 0.04 * 0.01 / (std::f64::consts::PI / N as f64).powi(2);
    let bump: Vec<f64> = (0..N).map(|i| (-(i as f64 - 30.0).powi(2) / 50.0).exp()).collect();
    let total: f64 = bump.iter().sum();
    let first: Vec<f64> = bump.iter().map(|x| x / total).collect();
    let gradient = |schedule: Vec<Action>| {
        let mut step = from_old(
            vec![0.0; N],
            |_, new: &mut Vec<f64>, old: &Vec<f64>| Ok(diffuse::run(&cpu, new, old, rate)?),
            no_loss,
            |_, new: &mut Vec<f64>, old: &Vec<f64>, bar: &mut Vec<Batch<f64, 1>>| {
                let (mut old_bar, mut rate_bar) = (vec![Batch([0.0]); N], Batch([0.0]));
                diffuse::pullback(&cpu, new, bar, old, &mut old_bar, rate, &mut rate_bar)?;
                *bar = old_bar;
                Ok(())
            },
        );
        let mut bar = vec![Batch([0.0]); N];
        bar[N / 2].0[0] = 1.0;
        let report = Run::new().gradient(schedule, steps, &mut step, first.clone(), &mut bar).unwrap();
        (bar.iter().map(|b| b.0[0]).collect::<Vec<_>>(), report.counts.peak_states)
    };
    let bennett = Bennett::new(4).unwrap();
    let (stored, all) = gradient(Everything::new(steps).collect());
    let (found, few) = gradient(bennett.gradient(steps, Top::Kept).collect());
    assert_eq!(found, stored);
    assert!(few < all, "{few} {all}");
    let calls = |top| Counts::of(bennett.program(steps, top)).calls();
    assert_eq!((calls(Top::Kept), calls(Top::TakenBack)), (484, 847));
    assert!(calls(Top::TakenBack) < 2 * calls(Top::Kept));
    let last = |at: usize, h: f64| {
        let mut x = first.clone();
        x[at] += h;
        for _ in 0..steps {
            let mut next = vec![0.0; N];
            diffuse(&mut next, &x, rate).unwrap();
            x = next;
        }
        x
    };
    close(last(0, 0.0).iter().sum(), 1.0, 1e-14);
    for at in [40, N / 2, 55] {
        close(found[at], (last(at, 1e-3)[N / 2] - last(at, -1e-3)[N / 2]) / 2e-3, 1e-10);
    }
}
