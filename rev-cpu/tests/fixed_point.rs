//! Fixed point of every width: programs on it come back bit for bit, have the interpreter's bits on any number of threads, and the
//! derivatives of the same programs on floats.

#![allow(clippy::unwrap_used)]

use approx::abs_diff_eq;
use rev_core::interp::Interpreter;
use rev_core::scalar::fraction::{U100, U16, U20, U43, U64, U8};
use rev_cpu::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
struct Body<T: Real> {
    at: T,
    speed: T,
}

/// Bodies on springs, in parallel, and what all of them add up to.
#[reversible(tangent)]
fn springs<T: Real>(bodies: &mut [Body<T>], energy: &mut T, turned: &mut [Complex<T>], pull: &[T], dt: T) {
    for i in par(0..bodies.len()) {
        bodies[i].at += bodies[i].speed * dt;
        bodies[i].speed -= (bodies[i].at.sin() + pull[i] / (bodies[i].at * bodies[i].at + 1.0)) * dt;
        let mut half = T::zero();
        half += bodies[i].speed * bodies[i].speed / 2.0;
        *energy += half;
        turned[i] += Complex::new(half, dt) * Complex::new(pull[i], T::one());
        if bodies[i].at > pull[i] {
            turned[i].re += bodies[i].at.abs().sqrt();
        }
    }
}

type State<T> = (Vec<Body<T>>, T, Vec<Complex<T>>);

fn start<T: Real>() -> (State<T>, Vec<T>, T) {
    let number = |k: usize, by: f64| T::from_f64((k as f64 * by).sin());
    let bodies = (0..37).map(|k| Body { at: number(k, 0.7), speed: number(k, 1.3) }).collect();
    let pull = (0..37).map(|k| number(k, 2.1)).collect();
    ((bodies, T::zero(), vec![Complex { re: T::zero(), im: T::one() }; 37]), pull, T::from_f64(1.0 / 16.0))
}

fn many<T: Real>(device: &dyn Device, steps: usize, back: bool, state: &mut State<T>) {
    let (_, pull, dt) = start::<T>();
    let (bodies, energy, turned) = state;
    for _ in 0..steps {
        match back {
            false => springs::run(device, bodies, energy, turned, &pull, dt).unwrap(),
            true => springs::run_inverse(device, bodies, energy, turned, &pull, dt).unwrap(),
        }
    }
}

/// Forward and back on every device, with one result.
fn comes_back<T: Real>() {
    let (before, ..) = start::<T>();
    let mut expected = before.clone();
    many(&Interpreter::new(), 20, false, &mut expected);
    assert_ne!(expected, before);
    let devices = (1..=4).flat_map(|n| [Cpu::new().threads(n), Cpu::new().threads(n).checks(false)]);
    for device in devices {
        let mut state = before.clone();
        many(&device, 20, false, &mut state);
        assert_eq!(state, expected);
        many(&device, 300, false, &mut state);
        many(&device, 320, true, &mut state);
        assert_eq!(state, before);
    }
    let mut state = expected;
    many(&Interpreter::new(), 20, true, &mut state);
    assert_eq!(state, before);
}

#[test]
fn long_programs_come_back_bit_for_bit() {
    comes_back::<FixedI32<U16>>();
    comes_back::<FixedI32<U8>>();
    comes_back::<FixedI64<U20>>();
    comes_back::<FixedI64<U43>>();
    comes_back::<FixedI128<U64>>();
    comes_back::<FixedI128<U100>>();
}

#[reversible(tangent)]
fn loss<T: Real>(out: &mut T, x: &[T], y: T) {
    for i in par(0..x.len()) {
        let mut t = T::zero();
        t += x[i] * y + (x[i] / (y + 2.0)).exp();
        *out += t * t + (x[i] * 3.0).cos() - x[i].powi(3) / y.sqrt();
    }
}

/// The gradient and a product of the Hessian are those on floats, as far as the format goes; on the interpreter in the same bits.
fn differentiates<T>(accuracy: f64)
where
    T: Real + Primal<Gradient = T>,
{
    let x = [0.25, -0.5, 0.75, 0.3];
    let numbers = x.map(T::from_f64);
    let expected = loss::gradient(&Cpu::new(), &x, 1.25).unwrap();
    let near = |a: T, b: f64| assert!(abs_diff_eq!(a.to_f64(), b, epsilon = accuracy), "{a:?} {b}");
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().threads(3).checks(false), &Interpreter::new()] {
        let g = loss::gradient(device, &numbers, T::from_f64(1.25)).unwrap();
        near(g.value, expected.value);
        g.x.iter().zip(&expected.x).for_each(|(a, b)| near(*a, *b));
        near(g.y, expected.y);
    }
    let along = [0.0, 1.0, 0.0, 0.5];
    let expected = loss::hvp(&Cpu::new(), &along, 0.25, &x, 1.25).unwrap();
    let h = loss::hvp(&Cpu::new(), &along.map(T::from_f64), T::from_f64(0.25), &numbers, T::from_f64(1.25))
        .unwrap();
    h.x.iter().zip(&expected.x).for_each(|(a, b)| near(*a, *b));
    near(h.y, expected.y);
    let report = loss::check_gradient(&Cpu::new(), &T::zero(), &numbers, T::from_f64(1.25)).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn derivatives_are_those_of_the_same_program_on_floats() {
    differentiates::<FixedI32<U16>>(1e-3);
    differentiates::<FixedI64<U43>>(1e-11);
    differentiates::<FixedI128<U64>>(1e-14);
}

/// From one format to another, to integers and floats, in a program that names them.
#[reversible]
fn conversions(
    y: &mut FixedI32<U8>,
    z: &mut FixedI128<U100>,
    n: &mut i64,
    f: &mut f64,
    w: &mut [FixedI64<U20>; 2],
    x: FixedI64<U20>,
) {
    *y += x as FixedI32<U8>;
    *z += (x as FixedI128<U100>) / 3.0;
    *n += (x * 2.5) as i64;
    *f += x as f64;
    w[0] += FixedI64::<U20>::from_f64(0.1) * x;
    w[1] += (*z as f64) as FixedI64<U20> + (7i32 as FixedI64<U20>);
}

#[test]
fn programs_name_formats() {
    let x = FixedI64::<U20>::from_num(-1234.567);
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let (mut y, mut z, mut n, mut f) = (FixedI32::<U8>::ONE, FixedI128::<U100>::ZERO, 3, 0.5);
        let mut w = [FixedI64::<U20>::ZERO; 2];
        conversions::run(device, &mut y, &mut z, &mut n, &mut f, &mut w, x).unwrap();
        // to the nearest of each, by the crate's own conversions of a number that is half a unit more
        let nearest = FixedI32::<U8>::from_num(x + FixedI64::<U20>::from_num(1.0 / 512.0));
        assert_eq!(y, FixedI32::<U8>::ONE + nearest, "{}", device.name());
        let third = FixedI128::<U100>::from_num(x).to_bits();
        assert_eq!(z.to_bits(), (2 * third + 3).div_euclid(6));
        assert_eq!((n, f), (3 - 3086, 0.5 + x.to_num::<f64>()));
        let tenth = i128::from(FixedI64::<U20>::from_num(0.1).to_bits()) * i128::from(x.to_bits());
        assert_eq!(i128::from(w[0].to_bits()), (tenth + (1 << 19)) >> 20);
        assert_eq!(w[1], FixedI64::<U20>::from_num(z.to_num::<f64>()) + FixedI64::<U20>::from_num(7));
        conversions::run_inverse(device, &mut y, &mut z, &mut n, &mut f, &mut w, x).unwrap();
        assert_eq!((y, z, n, f), (FixedI32::ONE, FixedI128::ZERO, 3, 0.5));
        assert_eq!(w, [FixedI64::<U20>::ZERO; 2]);
    }
}

/// A factor that a literal has not all digits of isn't known to the interpreter, which says so.
const LONG: FixedI128<U100> = FixedI128::<U100>::PI;
const SHORT: FixedI64<U20> = FixedI64::<U20>::PI;

#[reversible]
fn by_constants(y: &mut FixedI64<U20>, z: &mut FixedI128<U100>) {
    *y += SHORT;
    *z += LONG;
}

#[test]
fn constants_are_exact_or_an_error() {
    let (mut y, mut z) = (FixedI64::<U20>::ZERO, FixedI128::<U100>::ZERO);
    by_constants(&mut y, &mut z).unwrap();
    assert_eq!((y, z), (SHORT, LONG));
    let error = by_constants::run(&Interpreter::new(), &mut y, &mut z).unwrap_err();
    assert!(error.to_string().contains("LONG"), "{error}");
}
