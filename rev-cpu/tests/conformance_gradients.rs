//! The conformance list's derivatives: on the CPU and on the interpreter, against closed forms,
//! finite differences and the dot-product identity.

#![allow(clippy::unwrap_used)]

use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array2, ArrayView2};
use rev_core::interp::Interpreter;
use rev_core::verify::GradientReport;
use rev_cpu::prelude::*;

fn devices() -> [Box<dyn Device>; 3] {
    [Box::new(Cpu::new()), Box::new(Cpu::new().checks(false)), Box::new(Interpreter::new())]
}

fn assert_right(device: &dyn Device, report: Result<GradientReport, Error>) {
    let report = report.unwrap();
    assert!(report.passed(), "on {}:\n{report}", device.name());
}

// 1, 2
#[reversible]
fn product<T: Real>(y: &mut T, a: T, b: T) {
    *y += a * b;
}

#[reversible]
fn square<T: Real>(y: &mut T, x: T) {
    *y += x * x;
}

#[test]
fn items_01_and_02_products() {
    for device in devices() {
        let g = product::gradient(&*device, 3.0, 5.0).unwrap();
        assert_eq!((g.value, g.a, g.b), (15.0, 5.0, 3.0));
        let g = square::gradient(&*device, 7.0).unwrap();
        assert_eq!((g.value, g.x), (49.0, 14.0));
        let v = product::vjp(&*device, 10.0, &2.0, 3.0, 5.0).unwrap();
        assert_eq!((v.y, v.y_bar, v.a_bar, v.b_bar), (17.0, 10.0, 50.0, 30.0));
        assert!(product::check_inverse(&*device, &2.0, 3.0, 5.0).unwrap().is_exact());
    }
}

// 3
#[reversible]
fn pair<T: Real>(y: &mut T, x: &[T], i: usize, j: usize) {
    *y += x[i] * x[j];
}

#[test]
fn item_03_equal_indices_at_run_time() {
    for device in devices() {
        let g = pair::gradient(&*device, &[2.0, 7.0], 0, 1).unwrap();
        assert_eq!(g.x, [7.0, 2.0]);
        let g = pair::gradient(&*device, &[2.0, 7.0], 1, 1).unwrap();
        assert_eq!(g.x, [0.0, 14.0]);
        assert_eq!((g.i, g.j), ((), ()));
        let chosen = pair::gradient_wrt(&*device, pair::X, &[2.0, 7.0], 1, 1).unwrap();
        assert_eq!((chosen.x, chosen.i), (Some(vec![0.0, 14.0]), None));
    }
}

// 7
#[reversible]
fn through_a_binding<T: Real>(z: &mut T, y: T) {
    let t = y + 1.0;
    *z += t;
}

#[test]
fn item_07_a_binding_carries_its_derivative() {
    for device in devices() {
        let g = through_a_binding::gradient(&*device, 4.0).unwrap();
        assert_eq!((g.value, g.y), (5.0, 1.0));
    }
}

// 8
#[reversible]
fn running_sum<T: Real>(y: &mut [T], x: &[T]) {
    let mut s = T::zero();
    for i in 0..x.len() {
        s += x[i] * x[i];
        y[i] += s;
    }
}

#[test]
fn item_08_a_running_sum() {
    for device in devices() {
        let x = [1.0, -2.0, 3.0];
        let v = running_sum::vjp(&*device, &[1.0, 10.0, 100.0], &[0.5; 3], &x).unwrap();
        assert_eq!(v.y, [1.5, 5.5, 14.5]);
        assert_eq!(v.x_bar, [222.0, -440.0, 600.0]);
        assert_right(&*device, running_sum::check_gradient(&*device, &[0.5; 3], &x));
    }
}

// 12
#[reversible]
fn axpy<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += a * x[i];
    }
}

#[test]
fn item_12_a_scalar_read_by_many_iterations() {
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i % 7)).collect();
    let seed: Vec<f64> = (0..n).map(|i| f64::from(i % 3)).collect();
    let expected: f64 = x.iter().zip(&seed).map(|(x, s)| x * s).sum();
    let y = vec![0.0; n as usize];
    for threads in [1, 2, 8] {
        for deterministic in [false, true] {
            let cpu = Cpu::with_threads(threads).deterministic(deterministic);
            let v = axpy::vjp(&cpu, &seed, &y, 2.0, &x).unwrap();
            // sums of integers below 2^53 are exact in any order
            assert_eq!(v.a_bar, expected);
            assert!(v.x_bar.iter().zip(&seed).all(|(x, s)| *x == 2.0 * s));
        }
    }
}

// 13
#[reversible]
fn gather<T: Real>(x: &mut [T], idx: &[usize], y: &[T]) {
    for i in par(0..x.len()) {
        x[i] += y[idx[i]] * y[idx[i]];
    }
}

#[test]
fn item_13_a_gather_scatters_its_gradient() {
    for device in devices() {
        let v = gather::vjp(&*device, &[1.0, 2.0, 4.0], &[0.0; 3], &[1, 1, 0], &[3.0, 5.0]).unwrap();
        assert_eq!(v.y_bar, [24.0, 30.0]);
        assert_right(&*device, gather::check_gradient(&*device, &[0.0; 3], &[1, 1, 0], &[3.0, 5.0]));
    }
}

// 17
#[reversible]
fn power<T: Real>(y: &mut T, x: T, n: usize) {
    if n == 0 {
        *y += 1.0;
    } else {
        let mut inner = T::zero();
        power(&mut inner, x, n - 1);
        *y += inner * x;
    }
}

#[test]
fn item_17_the_gradient_of_a_recursive_function() {
    for device in devices() {
        let g = power::gradient(&*device, 1.5, 5).unwrap();
        assert_eq!((g.value, g.x), (7.59375, 25.3125));
    }
}

// 18
/// The mean of squares, each square moved to a stack before its ancilla is used again.
#[reversible]
fn stacked<T: Real>(y: &mut T, x: &[T]) {
    let mut squares = Stack::<T>::new();
    let mut square = T::zero();
    #[compute]
    {
        for i in 0..x.len() {
            square += x[i] * x[i];
            push(squares, square);
        }
    }
    let mut top = T::zero();
    #[compute]
    {
        pop(squares, top);
    }
    *y += top * x[0];
}

#[test]
fn item_18_a_gradient_through_a_stack() {
    for device in devices() {
        let g = stacked::gradient(&*device, &[2.0, 3.0]).unwrap();
        assert_eq!((g.value, g.x), (18.0, vec![9.0, 12.0]));
    }
}

// instructions, complex numbers and structs
#[reversible]
fn instructions<T: Real>(a: &mut T, b: &mut T, c: &mut T, angle: T) {
    rot(*a, *b, angle);
    swap(*b, *c);
    neg(*a);
    hadamard(*a, *b);
    inv(*c);
    mul_int(*a, 3);
}

#[reversible]
fn complex<T: Real>(y: &mut T, w: &mut Complex<T>, z: Complex<T>) {
    let s = z * z + Complex::new(1.0, 2.0);
    *w += s.exp() * z.conj();
    *y += s.abs2() + z.norm() + z.re * z.im;
}

#[derive(Reversible, Clone, Copy, Debug, PartialEq)]
struct Camera<T> {
    center: [T; 3],
    focal: T,
    id: usize,
}

#[reversible]
fn view<T: Real>(image: &mut [T], cameras: &[Camera<T>], which: &[usize], points: ArrayView2<T>) {
    for i in par(0..which.len()) {
        let mut d2 = T::zero();
        for k in 0..3 {
            let d = points[[i, k]] - cameras[which[i]].center[k];
            d2 += d * d;
        }
        image[i] += cameras[which[i]].focal * d2.sqrt();
    }
}

#[test]
fn instructions_complex_numbers_and_structs() {
    for device in devices() {
        assert_right(&*device, instructions::check_gradient(&*device, &0.3, &0.9, &1.7, 0.4));
        let back = instructions::check_inverse(&*device, &0.3, &0.9, &1.7, 0.4).unwrap();
        assert!(back.passed(), "{back}");
        let z = Complex::new(0.3, -0.8);
        assert_right(&*device, complex::check_gradient(&*device, &0.0, &Complex::new(0.1, 0.2), z));
        let cameras = [
            Camera { center: [0.1, 0.2, 0.3], focal: 2.0, id: 0 },
            Camera { center: [-1.0, 0.5, 2.0], focal: 1.5, id: 1 },
        ];
        let points = Array2::from_shape_fn((5, 3), |(i, k)| (i * 3 + k) as f64 * 0.37 + 1.0);
        let which = [0, 1, 1, 0, 1];
        let report = view::check_gradient(&*device, &[0.0; 5], &cameras, &which, points.view());
        assert_right(&*device, report);
    }
}

// several seeds in one sweep
#[reversible]
fn polar<T: Real>(out: &mut [T], r: T, angle: T) {
    out[0] += r * angle.cos();
    out[1] += r * angle.sin();
}

#[test]
fn both_rows_of_a_jacobian_in_one_sweep() {
    let seeds = [Batch([1.0, 0.0]), Batch([0.0, 1.0])];
    let v = polar::vjp_batch::<f64, 2>(&Cpu::new(), &seeds, &[0.0; 2], 2.0, 0.5).unwrap();
    let (s, c) = 0.5f64.sin_cos();
    assert_eq!(v.r_bar.0, [c, s]);
    assert_eq!(v.angle_bar.0, [-2.0 * s, 2.0 * c]);
}

// 19, 20
#[reversible]
fn composed<T: Real>(y: &mut T, x: T, z: T) {
    let s = x.sin();
    let mut a = T::zero();
    a += s * x * x / z;
    *y += a * a + x.powi(3);
}

/// The program `module` run by the interpreter on scalars.
fn interpret(module: &rev_core::ir::Module, args: &mut [f64]) {
    let mut slots: Vec<&mut dyn rev_core::value::DynArg> = args.iter_mut().map(|a| a as _).collect();
    match Interpreter::new().backend() {
        rev_core::device::Backend::Dynamic(d) => {
            d.execute(module, rev_core::ir::Direction::FORWARD, &mut slots).unwrap();
        }
        rev_core::device::Backend::Native(_) => unreachable!(),
    }
}

#[test]
fn item_19_the_inverse_of_the_adjoint_takes_gradients_back() {
    let adjoint = composed::ir().adjoint();
    let (x, z) = (0.7, 1.3);
    let mut y = 0.0;
    composed(&mut y, x, z).unwrap();
    let mut state = [y, 1.0, x, 0.0, z, 0.0];
    interpret(&adjoint, &mut state);
    let g = composed::gradient(&Cpu::new(), x, z).unwrap();
    for (found, expected) in [(state[3], g.x), (state[5], g.z)] {
        assert_abs_diff_eq!(found, expected, epsilon = 1e-14);
    }
    interpret(&adjoint.inverse(), &mut state);
    for (found, expected) in state.into_iter().zip([y, 1.0, x, 0.0, z, 0.0]) {
        assert_abs_diff_eq!(found, expected, epsilon = 1e-14);
    }
}

#[test]
fn item_20_the_adjoint_of_the_adjoint_gives_second_derivatives() {
    // of the gradient's component by x, by x and z: differences of the first adjoint
    let gradient = |x: f64, z: f64| composed::gradient(&Cpu::new(), x, z).unwrap();
    let (x, z, h) = (0.7, 1.3, 1e-5);
    let xx = (gradient(x + h, z).x - gradient(x - h, z).x) / (2.0 * h);
    let xz = (gradient(x, z + h).x - gradient(x, z - h).x) / (2.0 * h);
    let second = composed::ir().adjoint().adjoint();
    let mut y = 0.0;
    composed(&mut y, x, z).unwrap();
    let mut first = [y, 1.0, x, 0.0, z, 0.0];
    interpret(&composed::ir().adjoint(), &mut first);
    // parameters y, y', y_bar, y_bar', x, x', x_bar, x_bar', ...: the seed is on x_bar
    let mut state: Vec<f64> = first.iter().flat_map(|v| [*v, 0.0]).collect();
    state[7] = 1.0;
    interpret(&second, &mut state);
    assert_relative_eq!(state[5], xx, epsilon = 1e-7, max_relative = 1e-7);
    assert_relative_eq!(state[9], xz, epsilon = 1e-7, max_relative = 1e-7);
}
