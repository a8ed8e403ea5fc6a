//! Derivatives of second order and above of compiled programs: of pure functions, of functions that take functions, of parts of
//! complex numbers; external code in derivatives.

use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;

fn near(a: f64, b: f64) {
    approx::assert_relative_eq!(a, b, epsilon = 1e-7, max_relative = 1e-7);
}

/// The derivative of `f` at 0, by central differences.
fn difference(f: impl Fn(f64) -> f64) -> f64 {
    let h = 1e-4;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn moved(x: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + h * v).collect()
}

#[pure(order = 3, d(x) = x * x * 3.0)]
fn cubed<T: Real>(x: T) -> T {
    x * x * x
}

/// Two results, one of a function with a given derivative.
#[pure(order = 3)]
fn swing<T: Real>(x: T, k: T) -> (T, T) {
    let s = (k * x).sin();
    (s * x, cubed(s))
}

#[reversible(tangent = 2)]
fn swings<T: Real>(y: &mut T, x: &[T], k: T) {
    for i in par(0..x.len()) {
        let (a, b) = swing(x[i], k);
        *y += a * b;
    }
}

/// The same without pure functions.
#[reversible(tangent)]
fn written_out<T: Real>(y: &mut T, x: &[T], k: T) {
    for i in 0..x.len() {
        let s = (k * x[i]).sin();
        *y += s * x[i] * s * s * s;
    }
}

#[test]
fn pure_functions_have_third_derivatives() {
    type Slope = <swings as HasTangent>::Tangent;
    let n = 40;
    let of = |f: fn(f64) -> f64, scale: f64| (0..n).map(|i| f(scale * i as f64)).collect::<Vec<f64>>();
    let (x, v, u, w) = (of(f64::sin, 0.37), of(f64::cos, 0.71), of(f64::sin, 0.23), of(f64::cos, 0.11));
    let along = |h: f64| {
        let (v, x) = (moved(&v, &w, h), moved(&x, &u, h));
        written_out::hvp(&Cpu::new(), &v, 0.4 + 0.3 * h, &x, 0.8 + 0.2 * h).unwrap()
    };
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        // products of the Hessian of a slope, by both ways
        let found = Slope::hvp(device, &0.5, &u, &w, 0.2, 0.3, &0.0, &x, &v, 0.8, 0.4).unwrap();
        let (_, other) =
            Slope::gradient_and_hvp(device, &0.5, &u, &w, 0.2, 0.3, &0.0, &x, &v, 0.8, 0.4).unwrap();
        for i in (0..n).step_by(7) {
            near(found.x[i], difference(|h| along(h).x[i]));
            near(other.x[i], found.x[i]);
        }
        near(found.k, difference(|h| along(h).k));
        near(other.k, found.k);
    }
}

#[pure(order = 3)]
fn dent<T: Real>(x: T, k: T) -> T {
    k / (1.0 + x * x)
}

#[reversible(tangent, adjoint)]
fn dents<T: Real>(y: &mut T, x: &[T; 2], k: T) {
    *y += dent(x[0], k) * dent(x[1], x[0]);
}

/// The square of the length of a gradient: its own Hessian has fourth derivatives.
#[reversible(tangent)]
fn steepness<T: Real>(y: &mut T, x: &[T; 2], k: T) {
    let mut g = [T::zero(); 2];
    let mut k_bar = T::zero();
    dents::gradient(x, &mut g, k, &mut k_bar);
    *y += g[0] * g[0] + g[1] * g[1] + k_bar;
}

#[test]
fn programs_about_gradients_of_pure_functions_have_hessians() {
    let (x, k, v) = ([0.4, -0.7], 1.3, [0.6, 1.1]);
    let at = |h: f64| [x[0] + h * v[0], x[1] + h * v[1]];
    let bell = |x: f64| 1.0 / (1.0 + x * x);
    let by_hand = |[a, b]: [f64; 2]| {
        let (p, q) = (bell(a), bell(b));
        let g = [k * q * (p - 2.0 * a * a * p * p), -2.0 * k * p * a * b * q * q];
        g[0] * g[0] + g[1] * g[1] + p * a * q
    };
    let value = |x: [f64; 2]| {
        let mut y = 0.0;
        steepness(&mut y, &x, k).unwrap();
        y
    };
    near(value(x), by_hand(x));
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let slope = |h: f64| steepness::gradient(device, &at(h), k).unwrap();
        near(slope(0.0).x[0] * v[0] + slope(0.0).x[1] * v[1], difference(|h| by_hand(at(h))));
        let product = steepness::hvp(device, &v, 0.0, &x, k).unwrap();
        near(product.x[0], difference(|h| slope(h).x[0]));
        near(product.x[1], difference(|h| slope(h).x[1]));
        near(product.k, difference(|h| slope(h).k));
    }
}

#[reversible(tangent, inverse_adjoint)]
fn bowed<T: Real>(y: &mut T, a: T, x: &[T]) {
    *y += a * a * x[0].sin() * x[1];
}

/// Calls what it is given, on a written argument of its own, backwards too, and passes it on.
#[reversible(tangent)]
fn twice<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T, &[T])>, a: T, x: &[T]) {
    let mut inner = T::zero();
    f(&mut inner, a, x);
    f(&mut y, inner, x);
    f::inverse(&mut y, inner * a, x);
    relayed(&mut y, f, inner + a, x);
}

#[reversible(tangent, inverse_adjoint)]
fn relayed<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T, &[T])>, a: T, x: &[T]) {
    for i in par(0..2) {
        let mut own = T::zero();
        f(&mut own, a * x[i], x);
        *y += own;
    }
}

/// Names a function.
#[reversible(tangent)]
fn through<T: Real>(y: &mut T, a: T, x: &[T]) {
    let mut sum = T::zero();
    twice(&mut sum, bowed, a, x);
    *y += sum * sum;
}

#[test]
fn functions_that_take_functions_have_hessians_side_by_side() {
    let (a, x, v) = (0.7, [0.4, -1.1], [0.3, 0.9]);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let slope = |h: f64| {
            twice::gradient(device, bowed {}, a + 0.5 * h, &[x[0] + h * v[0], x[1] + h * v[1]]).unwrap()
        };
        let found =
            twice::hvp_batch::<_, _, 1>(device, Batch([0.5]), &v.map(|v| Batch([v])), bowed {}, a, &x)
                .unwrap();
        near(found.a.0[0], difference(|h| slope(h).a));
        near(found.x[1].0[0], difference(|h| slope(h).x[1]));
        let hessian = twice::hessian(device, bowed::TANGENT, bowed {}, a, &x).unwrap();
        near(hessian.matrix().row(2).dot(&ndarray::arr1(&[0.5, v[0], v[1]])), found.x[1].0[0]);
        let slope =
            |h: f64| through::gradient(device, a + 0.5 * h, &[x[0] + h * v[0], x[1] + h * v[1]]).unwrap();
        let found = through::hvp(device, 0.5, &v, a, &x).unwrap();
        near(found.a, difference(|h| slope(h).a));
        near(found.x[0], difference(|h| slope(h).x[0]));
        let (_, other) = through::gradient_and_hvp(device, 0.5, &v, a, &x).unwrap();
        near(found.x[0], other.x[0]);
    }
}
#[reversible(tangent)]
fn parts(y: &mut f64, z: &mut Complex<f64>, w: &[Complex<f64>]) {
    for i in par(0..w.len()) {
        let n = w[i].norm();
        *y += w[i].norm_sqr() * n + w[i].arg() * w[i].re;
    }
    z.re += w[0].im * w[1].re;
    z.im -= w[1].norm_sqr() * z.re;
    *y += z.im * z.re;
}

#[reversible(tangent)]
fn modulus<R: Real>(y: &mut R, z: &Complex<R>, s: R) {
    let mut t = Complex::new(R::zero(), R::zero());
    t += *z * s;
    *y += (t * *z).norm_sqr() + t.re * z.conj().im + (t / 2.0).norm();
}

#[test]
fn parts_of_complex_numbers_have_hessians_side_by_side() {
    let w: Vec<Complex<f64>> =
        (0..37).map(|k| Complex::new(0.3 + 0.02 * k as f64, 0.9 - 0.05 * k as f64)).collect();
    let v: Vec<Complex<f64>> = (0..37).map(|k| Complex::new((k as f64).sin(), (k as f64).cos())).collect();
    let z = Complex::new(0.5, -0.25);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let slope = |h: f64| {
            let moved: Vec<_> = w.iter().zip(&v).map(|(w, v)| w + v * h).collect();
            parts::gradient(device, &(z + Complex::new(0.5, 1.5) * h), &moved).unwrap()
        };
        let found = parts::hvp(device, &Complex::new(0.5, 1.5), &v, &z, &w).unwrap();
        let (_, other) = parts::gradient_and_hvp(device, &Complex::new(0.5, 1.5), &v, &z, &w).unwrap();
        near(found.z.re, difference(|h| slope(h).z.re));
        near(found.z.im, difference(|h| slope(h).z.im));
        for k in [0, 1, 5, 36] {
            near(found.w[k].re, difference(|h| slope(h).w[k].re));
            near(found.w[k].im, difference(|h| slope(h).w[k].im));
            near(found.w[k].im, other.w[k].im);
        }
        let slope = |h: f64| modulus::gradient(device, &(z + h), 0.4 - h).unwrap();
        let found = modulus::hvp(device, &Complex::new(1.0, 0.0), -1.0, &z, 0.4).unwrap();
        near(found.z.im, difference(|h| slope(h).z.im));
        near(found.s, difference(|h| slope(h).s));
    }
}

#[reversible(adjoint)]
fn turned<R: Real>(y: &mut R, z: &[Complex<R>; 2], s: R) {
    let mut t = Complex::new(R::zero(), R::zero());
    t += z[0] * s;
    t.im += z[1].re * z[0].im;
    *y += (t * z[1]).norm_sqr() + t.re * z[0].conj().im + (t / 2.0).norm() * z[1].arg();
}

/// A program about the gradient of one that computes with parts of complex numbers.
#[reversible]
fn steepness_of_turned<R: Real>(y: &mut R, z: &[Complex<R>; 2], s: R) {
    let mut g = [Complex::new(R::zero(), R::zero()); 2];
    let mut s_bar = R::zero();
    turned::gradient(z, &mut g, s, &mut s_bar);
    *y += g[0].norm_sqr() + g[1].re * s_bar;
}

#[test]
fn adjoints_of_programs_with_parts_of_complex_numbers_are_called_in_programs() {
    let (z, s) = ([Complex::new(0.5, -0.25), Complex::new(0.75, 1.5)], 0.4);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let value = |z: &[Complex<f64>; 2]| {
            let mut y = 0.0;
            steepness_of_turned::run(device, &mut y, z, s).unwrap();
            y
        };
        let g = turned::gradient(device, &z, s).unwrap();
        near(value(&z), g.z[0].norm_sqr() + g.z[1].re * g.s);
        let found = steepness_of_turned::gradient(device, &z, s).unwrap();
        let along = |k: usize, d: Complex<f64>| {
            difference(|h| {
                let mut z = z;
                z[k] += d * h;
                value(&z)
            })
        };
        for k in 0..2 {
            near(found.z[k].re, along(k, Complex::new(1.0, 0.0)));
            near(found.z[k].im, along(k, Complex::new(0.0, 1.0)));
        }
    }
}

static SEEN: std::sync::Mutex<Vec<f64>> = std::sync::Mutex::new(Vec::new());

#[reversible(tangent)]
fn watched(y: &mut f64, x: f64) {
    let mut square = 0.0;
    square += x * x;
    #[external]
    {
        SEEN.lock().unwrap().push(square);
    }
    *y += square * x;
}

#[test]
fn external_code_runs_with_the_function_its_inverse_and_its_tangents() {
    let seen = || std::mem::take(&mut *SEEN.lock().unwrap());
    let cpu = Cpu::new();
    let mut y = 0.0;
    watched(&mut y, 3.0).unwrap();
    assert_eq!(seen(), [9.0]);
    watched::inverse(&mut y, 3.0).unwrap();
    assert_eq!(seen(), [9.0]);
    let mut y_dot = 0.0;
    watched::tangent(&cpu, &mut y, &mut y_dot, 3.0, 1.0).unwrap();
    assert_eq!((seen(), y_dot), (vec![9.0], 27.0));
    assert_eq!((watched::jvp(&cpu, &0.0, 1.0, &0.0, 3.0).unwrap().y_dot, seen()), (27.0, vec![9.0]));
    let (mut y_dots, x_dots) = (Batch([0.0; 2]), Batch([1.0, 2.0]));
    watched::tangents(&cpu, &mut y, &mut y_dots, &3.0, &x_dots).unwrap();
    assert_eq!((seen(), y_dots), (vec![9.0], Batch([27.0, 54.0])));
    let (mut y_bar, mut x_bar) = (Batch([1.0]), Batch([0.0]));
    watched::adjoint(&cpu, &mut y, &mut y_bar, 3.0, &mut x_bar).unwrap();
    assert_eq!((seen(), x_bar), (vec![], Batch([27.0])));
}

#[pure(order = 3)]
fn ripple<T: Real>(x: T) -> T {
    x.sin()
}

#[reversible(tangent, adjoint)]
fn of_part<T: Real>(y: &mut T, z: Complex<T>) {
    *y += ripple(z.re);
}

#[reversible(tangent, adjoint)]
fn squared<T: Real>(y: &mut T, x: T) {
    *y += x * x;
}

#[reversible(tangent, adjoint)]
fn two_times<T: Real>(y: &mut T, x: T, f: impl Reversible<(&mut T, T)>) {
    f(&mut y, x);
    f(&mut y, 2.0 * x);
}

#[reversible(tangent, adjoint)]
fn back_and_forth<T: Real>(y: &mut T, x: T) {
    two_times::inverse(&mut y, 0.5 * x, squared);
    two_times(&mut y, x * x, squared);
}

/// A gradient that a program takes, and its tangents.
#[reversible(tangent)]
fn slope_of<T: Real>(y: &mut T, x: T) {
    let mut x_bar = T::zero();
    back_and_forth::gradient(x, &mut x_bar);
    *y += x_bar;
}

#[test]
fn tangents_of_adjoints_of_functions_that_pass_functions_by_name() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let h = of_part::hessian(device, Complex::new(0.7, 0.3)).unwrap();
        assert_eq!(h.matrix().shape(), [2, 2]);
        near(h.matrix()[[0, 0]], -0.7f64.sin());
        // 5 x⁴ - 1.25 x²
        let x = 0.8f64;
        near(back_and_forth::hessian(device, x).unwrap().matrix()[[0, 0]], 60.0 * x * x - 2.5);
        near(slope_of::jvp(device, &0.0, 1.0, &0.0, x).unwrap().y_dot, 60.0 * x * x - 2.5);
        near(slope_of::hvp(device, 1.0, x).unwrap().x, 120.0 * x);
    }
}

/// What only a constant goes into decides an integer: no cotangent reaches the calls.
#[reversible(tangent, adjoint, constant(k))]
fn counted<T: Real>(y: &mut T, n: &mut i64, x: T, k: &[T; 1]) {
    let mut a = T::zero();
    squared(&mut a, k[0]);
    *n ^= if a > 0.25 { 2 } else { 3 };
    *y += x * x * x * k[0];
}

#[reversible(tangent, constant(k))]
fn slope_of_counted<T: Real>(y: &mut T, x: T, k: &[T; 1]) {
    let mut n = 0;
    let mut x_bar = T::zero();
    counted::gradient(&mut n, x, &mut x_bar, k);
    *y += x_bar;
}

#[test]
fn calls_that_no_cotangent_reaches_are_in_tangents_of_adjoints() {
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let (x, k) = (0.8, [0.7]);
        near(counted::hessian(device, &0, x, &k).unwrap().matrix()[[0, 0]], 6.0 * x * k[0]);
        near(slope_of_counted::hvp(device, 1.0, x, &k).unwrap().x, 6.0 * k[0]);
    }
}

#[reversible(tangent = 2)]
fn cube<T: Real>(y: &mut T, x: T) {
    *y += x * x * x;
}

#[reversible(tangent = 2)]
fn at_the_square<T: Real>(y: &mut T, f: impl Reversible<(&mut T, T)>, x: T) {
    f(&mut y, x * x);
}

#[test]
fn the_tangent_of_a_function_of_functions_has_a_tangent() {
    type Slope = <at_the_square as HasTangent>::Tangent;
    type CubesSlope = <cube as HasTangent>::Tangent;
    for device in [&Cpu::new() as &dyn Device, &Interpreter::new()] {
        let (to, along) = ((0.0, 0.0), (1.0, 0.0));
        let found = Slope::jvp(
            device,
            &to.0,
            &to.1,
            cube::TANGENT,
            CubesSlope::TANGENT,
            along.0,
            along.1,
            &to.0,
            &to.1,
            cube {},
            cube::TANGENT,
            2.0,
            1.0,
        );
        // of x⁶
        let found = found.unwrap();
        assert_eq!((found.y, found.y_dot, found.y_dot_, found.y_dot_dot), (64.0, 192.0, 192.0, 480.0));
    }
}
