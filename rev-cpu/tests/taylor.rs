//! Derivatives of higher order along a direction, compiled: against closed forms, against the interpreter, and in place.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn close(found: &[f64], expected: &[f64]) {
    approx::assert_relative_eq!(found, expected, epsilon = 1e-12, max_relative = 1e-12);
}

#[reversible(taylor = 6)]
fn wave<T: Real>(y: &mut T, z: &mut T, x: T, n: i64) {
    *y += x.exp() * x.sin();
    if n > 0 {
        *z += (T::one() + x).recip();
    } else {
        *z += x.sqrt();
    }
}

/// Derivatives of `eˣ sin x`: `√2^k eˣ sin(x + k π/4)`.
#[test]
fn closed_forms() {
    let (cpu, x) = (Cpu::new(), 0.7_f64);
    let d = wave::directional(&cpu, &0.0, &0.0, 1.0, &0.0, &0.0, x, 1).unwrap();
    let of_k =
        |k: i32| 2f64.sqrt().powi(k) * x.exp() * (x + f64::from(k) * std::f64::consts::FRAC_PI_4).sin();
    close(&d.y, &(0..=6).map(of_k).collect::<Vec<_>>());
    let mut of_k = vec![1.0 / (1.0 + x)];
    (1..=6).for_each(|k| of_k.push(-of_k[k - 1] * k as f64 / (1.0 + x)));
    close(&d.z, &of_k);
    let d = wave::directional(&cpu, &0.0, &0.0, 2.0, &0.0, &0.0, x, 0).unwrap();
    let mut of_k = vec![x.sqrt()];
    (1..=6).for_each(|k| of_k.push(of_k[k - 1] * 2.0 * (1.5 - k as f64) / x));
    close(&d.z, &of_k);
    // in place: a curve that isn't a line
    let mut y = [0.0; 7];
    let [y0, y1, y2, y3, y4, y5, y6] = &mut y;
    let mut z = [0.0; 7];
    let [z0, z1, z2, z3, z4, z5, z6] = &mut z;
    let curve = |t: f64| 0.7 + t - t * t;
    wave::taylor(
        &cpu,
        y0,
        y1,
        y2,
        y3,
        y4,
        y5,
        y6,
        z0,
        z1,
        z2,
        z3,
        z4,
        z5,
        z6,
        curve(0.0),
        1.0,
        -1.0,
        0.0,
        0.0,
        0.0,
        0.0,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
    )
    .unwrap();
    let t = 1e-2;
    let series: f64 = y.iter().rev().fold(0.0, |sum, c| sum * t + c);
    assert_abs_diff_eq!(series, curve(t).exp() * curve(t).sin(), epsilon = 1e-13);
}

fn factorial(k: usize) -> f64 {
    (1..=k).map(|j| j as f64).product()
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Layer<T> {
    weight: [T; 2],
    bias: T,
    steps: i64,
}

#[reversible(taylor = 3)]
fn axpy<T: Real>(y: &mut T, a: T, x: T) {
    *y += a * x;
}

#[reversible(taylor = 3)]
fn apply<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T, T)>, a: T, x: T) {
    f(&mut y, a, x);
    f(&mut y, x, x);
}

#[reversible(taylor = 3)]
fn power<T: Real>(y: &mut T, x: T, n: u32) {
    if n == 0 {
        *y += T::one();
    } else {
        let mut half = T::zero();
        power(&mut half, x, n - 1);
        *y += half * x;
    }
}

/// A struct, a loop in lanes, choices, functions as arguments, recursion, factors, a rotation, complex numbers and a product
/// of arrays.
#[reversible(taylor = 3, constant(data))]
fn everything<T: Real>(
    loss: &mut T,
    scaled: &mut T,
    layer: &Layer<T>,
    z: Complex<T>,
    x: &[T],
    index: &[usize],
    data: &[T],
) {
    let n = x.len();
    let mut hidden = vec![T::zero(); n];
    for i in par(0..n) {
        let k = index[i];
        hidden[i] += (layer.weight[0] * x[k] + layer.bias).tanh() * data[i];
        hidden[i] += T::from_f64(layer.steps as f64).sqrt() * x[i].abs().sqrt();
        hidden[i] += if k > 0 { x[k - 1] / (x[i] * x[i] + T::one()) } else { x[i].powf(layer.weight[1]) };
    }
    let mut sum = T::zero();
    for i in 0..n {
        axpy(&mut sum, hidden[i], x[i]);
        apply(&mut sum, axpy, data[i], hidden[i]);
        power(&mut sum, x[i], 3);
        if hidden[i] > T::one() {
            sum += hidden[i] * layer.weight[1];
        } else {
            sum -= hidden[i].max(x[i]).ln_1p();
        }
    }
    let mut turned = T::zero();
    turned += sum * T::from_f64(0.001);
    let mut other = T::zero();
    other += layer.bias + (z * z.exp()).re * z.norm_sqr();
    rot(turned, other, x[0] * layer.bias);
    *loss += turned * other;
    scale_by(*scaled, x[1].cos());
}

type Curve = (Layer<f64>, Complex<f64>, Vec<f64>);

/// A straight line in the arguments.
fn line(h: f64) -> Curve {
    let layer = Layer { weight: [0.7 + 0.3 * h, 1.4 + 1.1 * h], bias: 0.3 - 0.6 * h, steps: 4 };
    let x = (0..70).map(|k| 0.2 + 0.013 * f64::from(k) + h * (f64::from(k) * 0.7).sin() * 0.1).collect();
    (layer, Complex::new(0.4 + h, -0.3 + 0.5 * h), x)
}

#[test]
fn derivatives_of_everything_are_differences_of_the_lower_order() {
    let index: Vec<usize> = (0..70).map(|k| (7 * k + 3) % 70).collect();
    let data: Vec<f64> = (0..70).map(|k| 0.5 - 0.01 * f64::from(k)).collect();
    let v = Layer { weight: [0.3, 1.1], bias: -0.6, steps: 17 };
    let w: Vec<f64> = (0..70).map(|k| (f64::from(k) * 0.7).sin() * 0.1).collect();
    let dz = Complex::new(1.0, 0.5);
    let at = |device: &dyn Device, h: f64| {
        let (layer, z, x) = line(h);
        everything::directional(device, &0.0, &0.0, &v, dz, &w, &1.0, &2.0, &layer, z, &x, &index, &data)
            .unwrap()
    };
    let cpu = Cpu::new();
    let (found, h) = (at(&cpu, 0.0), 1e-4);
    let (up, down) = (at(&cpu, h), at(&cpu, -h));
    for k in 0..3 {
        for (found, up, down) in [(found.loss, up.loss, down.loss), (found.scaled, up.scaled, down.scaled)] {
            let difference = (up[k] - down[k]) / (2.0 * h);
            let near = abs_diff_eq!(found[k + 1], difference, epsilon = 1e-5 * found[k + 1].abs().max(1.0));
            assert!(near, "order {}: {} and {difference}", k + 1, found[k + 1]);
        }
    }
    for device in [&Cpu::new().checks(false) as &dyn Device, &Cpu::new().threads(3), &Interpreter::new()] {
        let other = at(device, 0.0);
        close(&other.loss, &found.loss);
        close(&other.scaled, &found.scaled);
    }
}

#[reversible(tangent, taylor = 2, adjoint)]
fn energy<T: Real>(e: &mut T, r: T, n: i64) {
    *e += r.recip().powi(12) - r.recip().powi(6) + T::from_f64(n as f64) * r;
}

#[test]
fn derivatives_by_a_number() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let first = energy::derivative(device, &1.0, 1.25, 3).unwrap();
        let second = energy::second_derivative(device, &1.0, 1.25, 3).unwrap();
        close(&[first.e], &[-12.0 / 1.25f64.powi(13) + 6.0 / 1.25f64.powi(7) + 3.0]);
        close(&[second.e], &[156.0 / 1.25f64.powi(14) - 42.0 / 1.25f64.powi(8)]);
    }
}

/// The gradient of a third derivative, in a program.
#[reversible(taylor = 3)]
fn cubic<T: Real>(y: &mut T, x: T, a: T) {
    *y += a * x.powi(4);
}

#[reversible]
fn third<T: Real>(y: &mut T, x: T, a: T) {
    let (mut y0, mut y1, mut y2, mut y3) = (T::zero(), T::zero(), T::zero(), T::zero());
    cubic::taylor3(
        &mut y0,
        &mut y1,
        &mut y2,
        &mut y3,
        x,
        T::one(),
        T::zero(),
        T::zero(),
        a,
        T::zero(),
        T::zero(),
        T::zero(),
    );
    *y += T::from_f64(6.0) * y3;
}

#[test]
fn a_third_derivative_has_a_gradient() {
    let (x, a) = (0.7, 1.5);
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let g = third::gradient(device, x, a).unwrap();
        close(&[g.value, g.x, g.a], &[24.0 * a * x, 24.0 * a, 24.0 * x]);
    }
}

/// Matrices: products of coefficients of arrays.
#[reversible(taylor = 3)]
fn quadratic<T: Real>(y: &mut [T], m: ndarray::ArrayView2<T>, x: &[T]) {
    y += matvec(m, x);
}

#[test]
fn products_of_arrays() {
    let m = ndarray::arr2(&[[1.0, 2.0], [-0.5, 0.25]]);
    let dm = ndarray::arr2(&[[0.5, -1.0], [2.0, 1.0]]);
    let (x, dx) = ([0.3, -0.7], [1.0, 2.0]);
    let (x1, dx1) = (ndarray::arr1(&x), ndarray::arr1(&dx));
    let d = quadratic::directional(&Cpu::new(), &[0.0; 2], dm.view(), &dx, &[0.0; 2], m.view(), &x).unwrap();
    close(&d.y[0], m.dot(&x1).as_slice().unwrap());
    close(&d.y[1], (dm.dot(&x1) + m.dot(&dx1)).as_slice().unwrap());
    close(&d.y[2], (dm.dot(&dx1) * factorial(2)).as_slice().unwrap());
    close(&d.y[3], &[0.0; 2]);
}

#[reversible(tangent, taylor = 2)]
fn two<T: Real>(y: &mut T, a: T, b: T, n: i64) {
    *y += a * b * T::from_f64(n as f64);
}

#[reversible(tangent)]
fn none<T: Real>(y: &mut [T], n: i64) {
    y[0] += T::from_f64(n as f64);
}

#[reversible(tangent)]
fn of_any<T: Ring>(y: &mut T, x: T) {
    *y += x;
}

#[test]
fn errors_say_what_there_is() {
    let cpu = Cpu::new();
    let error = two::derivative(&cpu, &0.0, 1.0, 2.0, 3).unwrap_err().to_string();
    assert!(error.contains("it takes several, `a`, `b`; `jacobian`"), "{error}");
    let error = two::second_derivative(&cpu, &0.0, 1.0, 2.0, 3).unwrap_err().to_string();
    assert!(error.contains("it takes several, `a`, `b`; `directional`"), "{error}");
    let error = none::derivative(&cpu, &[0.0], 2).unwrap_err().to_string();
    assert!(error.contains("`y` isn't one"), "{error}");
    let error = of_any::derivative(&cpu, &0i64, 2).unwrap_err().to_string();
    assert!(error.contains("by `x`: it isn't one real number"), "{error}");
    let m = ndarray::arr2(&[[1.0, 2.0]]);
    let wrong = quadratic::directional(&cpu, &[0.0], m.view(), &[1.0; 3], &[0.0], m.view(), &[1.0; 2]);
    let error = wrong.unwrap_err().to_string();
    assert!(error.contains("`x_1` must have the shape [2]"), "{error}");
}

/// `out += J_ν(z)` by its power series.
#[reversible(taylor = 6)]
fn bessel<T: Real>(out: &mut T, order: usize, z: T) {
    let square = 0.25 * z * z;
    let mut terms = [T::zero(); 12];
    let mut factorial = T::one();
    for n in 2..order + 1 {
        scale_by(factorial, n as T);
    }
    terms[0] += (0.5 * z).powi(order as i32) / factorial;
    for k in 1..12 {
        let divisor = k * (k + order);
        terms[k] -= terms[k - 1] * square / (divisor as T);
    }
    for k in 0..12 {
        *out += terms[k];
    }
}

/// `2^k J_ν^(k) = Σ_j (-1)^j (k over j) J_{ν-k+2j}`, with `J_{-n} = (-1)^n J_n`.
#[test]
fn derivatives_of_a_bessel_function() {
    let of_order = |n: i32| {
        let mut value = 0.0;
        bessel(&mut value, n.unsigned_abs() as usize, 1.0).unwrap();
        if n < 0 && n % 2 != 0 {
            -value
        } else {
            value
        }
    };
    let derivative = |k: i32| {
        let mut binomial = 1.0;
        let terms = (0..=k).map(|j| {
            let term = f64::from(1 - 2 * (j % 2)) * binomial * of_order(2 - k + 2 * j);
            binomial *= f64::from(k - j) / f64::from(j + 1);
            term
        });
        terms.sum::<f64>() / 2f64.powi(k)
    };
    let d = bessel::directional(&Cpu::new(), &0.0, 1.0, &0.0, 2, 1.0).unwrap();
    close(&d.out, &(0..=6).map(derivative).collect::<Vec<_>>());
}

#[reversible(adjoint, taylor = 2)]
fn well<T: Real>(energy: &mut T, x: T) {
    *energy += x.powi(5) + x.sin();
}

/// What calls a gradient calls its Taylor coefficients.
#[reversible(taylor = 2)]
fn force<T: Real>(y: &mut T, x: T) {
    let mut x_bar = T::zero();
    well::gradient(x * x, &mut x_bar);
    *y += x_bar;
}

#[test]
fn gradients_in_programs_have_derivatives_of_higher_order() {
    let x = 0.8f64;
    let square = x * x;
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let d = force::directional(device, &0.0, 1.0, &0.0, x).unwrap();
        // 5 x⁸ + cos x²
        let second = 280.0 * x.powi(6) - 2.0 * square.sin() - 4.0 * square * square.cos();
        close(&d.y, &[5.0 * x.powi(8) + square.cos(), 40.0 * x.powi(7) - 2.0 * x * square.sin(), second]);
    }
}

#[pure(order = 5)]
fn swing<T: Real>(x: T) -> T {
    x.sin() * x
}

#[reversible(taylor = 4)]
fn of_a_pure_function<T: Real>(y: &mut T, x: T) {
    *y += swing(2.0 * x);
}

#[test]
fn pure_functions_have_coefficients() {
    let x = 0.3;
    let d = of_a_pure_function::directional(&Cpu::new(), &0.0, 1.0, &0.0, x).unwrap().y;
    // the derivatives of u sin u at u = 2 x
    let (u, (s, c)) = (2.0 * x, (2.0 * x).sin_cos());
    let expected = [u * s, s + u * c, 2.0 * c - u * s, -3.0 * s - u * c, -4.0 * c + u * s];
    for (k, e) in expected.iter().enumerate() {
        assert!(abs_diff_eq!(d[k], 2f64.powi(k as i32) * e, epsilon = 1e-12), "{k}: {} {e}", d[k]);
    }
}
