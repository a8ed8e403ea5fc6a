//! Sums without rounding: against whole numbers of any size, back bit for bit, in any order and on any number of threads.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use num_bigint::BigInt;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_cuda::Emulator;
use rev_numbers::{Exact, Float};

#[reversible(tangent)]
fn total<T: Real + Float>(out: &mut T, x: &[T]) {
    let mut sum = Exact::<T>::zero();
    for i in 0..x.len() {
        sum += x[i];
    }
    (&sum).read(&mut *out);
}

#[reversible]
fn both<T: Real + Float>(sum: &mut Exact<T>, x: &[T], y: &[T]) {
    for i in 0..x.len() {
        *sum += x[i];
    }
    for i in 0..y.len() {
        *sum -= y[i];
    }
}

/// A sum as a number of units of 2⁻¹⁰⁷⁴, rounded to the nearest float.
fn nearest(n: &BigInt) -> f64 {
    let size = n.magnitude();
    let shift = size.bits().saturating_sub(53);
    let mut bits = size >> shift;
    let left = size - (&bits << shift);
    let half = if shift == 0 { 0u32.into() } else { num_bigint::BigUint::from(1u32) << (shift - 1) };
    if shift > 0 && (left > half || left == half && bits.bit(0)) {
        bits += 1u32;
    }
    // exact: in steps that stay within the range
    let mut v = u64::try_from(bits).unwrap() as f64;
    let mut exponent = shift as i32 - 1074;
    while exponent != 0 {
        let step = exponent.clamp(-500, 500);
        v *= 2f64.powi(step);
        exponent -= step;
    }
    if n.sign() == num_bigint::Sign::Minus {
        -v
    } else {
        v
    }
}

fn units(x: f64) -> BigInt {
    let bits = x.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let size = match exponent {
        0 => BigInt::from(fraction),
        e => BigInt::from(fraction | 1 << 52) << (e - 1),
    };
    if x.is_sign_negative() {
        -size
    } else {
        size
    }
}

/// Floats of all sizes.
struct Floats(u64);
impl Floats {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 33
    }
    fn any(&mut self) -> f64 {
        loop {
            let v = f64::from_bits(self.bits() ^ self.bits() << 11);
            if v.is_finite() {
                return v;
            }
        }
    }
    /// Within some powers of two of each other.
    fn near(&mut self, powers: u64) -> f64 {
        let exponent = 1023 - powers / 2 + self.bits() % powers;
        f64::from_bits(self.bits() >> 12 | exponent << 52 | self.bits() << 63)
    }
}

fn read<T: Real + Float>(sum: &Exact<T>) -> T {
    let mut out = T::zero();
    sum.read(&mut out).unwrap();
    out
}

#[test]
fn sums_are_rounded_once() {
    let mut floats = Floats(1);
    for round in 0..3000 {
        let n = 1 + round % 9;
        let x: Vec<f64> = (0..n)
            .map(|_| match round % 4 {
                0 => floats.any(),
                1 => floats.near(3),
                2 => floats.near(130),
                // subnormal ones among them
                _ => floats.any() * 2f64.powi(-900),
            })
            .collect();
        let mut sum = Exact::zero();
        both(&mut sum, &x, &[]).unwrap();
        let expected = nearest(&x.iter().map(|x| units(*x)).sum());
        assert_eq!(read(&sum).to_bits(), (expected + 0.0).to_bits(), "{x:?}");
        // all but one: what is left is that one
        both(&mut sum, &[], &x[1..]).unwrap();
        assert_eq!(read(&sum), x[0], "{x:?}");
    }
    // every power of two, and what is next to it
    for exponent in -1074..1024i32 {
        let power = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
        for x in [power, power.next_down(), power.next_up(), -power] {
            let mut sum = Exact::zero();
            both(&mut sum, &[x], &[]).unwrap();
            assert_eq!(read(&sum), x, "2^{exponent}");
        }
    }
}

#[test]
fn halves_go_to_even_and_what_is_too_large_is_infinite() {
    let sum = |x: &[f64]| {
        let mut sum = Exact::zero();
        both(&mut sum, x, &[]).unwrap();
        read(&sum)
    };
    let half = 2f64.powi(-53);
    assert_eq!(sum(&[1.0, half]), 1.0);
    assert_eq!(sum(&[1.0, half, 5e-324]), 1.0 + 2.0 * half);
    assert_eq!(sum(&[1.0 + 2.0 * half, half]), 1.0 + 4.0 * half);
    assert_eq!(sum(&[1.0 + 2.0 * half, half, -5e-324]), 1.0 + 2.0 * half);
    assert_eq!(sum(&[-1.0, -half, -5e-324]), -1.0 - 2.0 * half);
    assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(sum(&[-f64::MAX; 40]), f64::NEG_INFINITY);
    assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
    // half-way beyond the largest
    assert_eq!(sum(&[f64::MAX, 2f64.powi(969)]), f64::MAX);
    assert_eq!(sum(&[f64::MAX, 2f64.powi(970)]), f64::INFINITY);
    assert_eq!(sum(&[1e308, -1e308]).to_bits(), 0);
}

#[test]
fn what_is_no_number_stays_until_it_is_taken_back() {
    for stray in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sum = Exact::zero();
        both(&mut sum, &[1.5, stray, 2.0], &[]).unwrap();
        assert!(read_unchecked(&sum).is_nan());
        both(&mut sum, &[], &[stray]).unwrap();
        assert_eq!(read(&sum), 3.5);
    }
    // two infinities of different signs aren't one taken back, nor is a NaN an infinity
    let mut sum = Exact::zero();
    both(&mut sum, &[f64::INFINITY, f64::NEG_INFINITY], &[]).unwrap();
    both(&mut sum, &[f64::NAN], &[f64::INFINITY]).unwrap();
    assert!(read_unchecked(&sum).is_nan());
}

fn read_unchecked(sum: &Exact<f64>) -> f64 {
    let mut out = [0.0];
    reads::run(&Cpu::new().checks(false), &mut out, sum).unwrap();
    out[0]
}

#[reversible]
fn reads<T: Real + Float>(out: &mut [T; 1], sum: &Exact<T>) {
    (&sum).read(&mut out[0]);
}

#[test]
fn terms_leave_as_they_came_in_any_order() {
    let mut floats = Floats(7);
    let x: Vec<f64> = (0..500).map(|_| floats.any()).collect();
    let start =
        Exact { repr: 0.0, words: std::array::from_fn(|k| (k as i128) << 90 | 5), strays: [3, -1, 2] };
    let mut sum = start;
    both(&mut sum, &x, &[]).unwrap();
    let mut turned = x.clone();
    turned.reverse();
    turned.rotate_left(123);
    let mut other = start;
    both(&mut other, &turned, &[]).unwrap();
    assert_eq!(sum, other);
    both::inverse(&mut sum, &turned, &[]).unwrap();
    assert_eq!(sum, start);
    for device in [&Interpreter::new() as &dyn Device, &Cpu::new(), &Cpu::new().checks(false)] {
        let mut again = start;
        both::run(device, &mut again, &x, &[]).unwrap();
        assert_eq!(again, other, "{}", device.name());
    }
}

#[reversible(tangent)]
fn parallel<T: Real + Float>(sum: &mut Exact<T>, x: &[T]) {
    sum.add_all(x);
}

#[reversible]
fn parallel_total<T: Real + Float>(out: &mut T, x: &[T]) {
    let mut sum = Exact::<T>::zero();
    sum.add_all(x);
    (&sum).read(&mut *out);
}

#[test]
fn a_parallel_sum_has_the_same_bits_on_every_number_of_threads() {
    let mut floats = Floats(3);
    let x: Vec<f64> = (0..20_000).map(|_| floats.near(300)).collect();
    let expected = nearest(&x.iter().map(|x| units(*x)).sum());
    let mut one = Exact::zero();
    both(&mut one, &x, &[]).unwrap();
    assert_eq!(read(&one), expected);
    for threads in 1..=7 {
        for device in [Cpu::new().threads(threads), Cpu::new().threads(threads).checks(false)] {
            let mut sum = Exact::zero();
            parallel::run(&device, &mut sum, &x).unwrap();
            assert_eq!(sum, one, "{threads} threads");
            parallel::run_inverse(&device, &mut sum, &x).unwrap();
            assert_eq!(sum, Exact::zero(), "{threads} threads");
        }
    }
    let mut halves = [Exact::zero(), Exact::zero()];
    parallel(&mut halves[0], &x[..7000]).unwrap();
    parallel(&mut halves[1], &x[7000..]).unwrap();
    let [mut first, second] = halves;
    first.merge(&second).unwrap();
    assert_eq!(first, one);
}

/// `sin(Σ xᵢ yᵢ) + Σ xᵢ²`
#[reversible(tangent)]
fn loss<T: Real + Float>(out: &mut T, x: &[T], y: &[T]) {
    let mut dot = Exact::<T>::zero();
    let mut squares = Exact::<T>::zero();
    for i in 0..x.len() {
        dot += x[i] * y[i];
        squares -= x[i] * x[i];
    }
    let mut d = T::zero();
    (&dot).read(&mut d);
    let mut s = T::zero();
    (&squares).read(&mut s);
    *out += d.sin() - s;
}

#[test]
fn derivatives_are_those_of_the_sum() {
    let (x, y) = ([0.5f64, -1.25, 2.0], [1.5, 0.25, 0.75]);
    let report = loss::check_gradient(&Cpu::new(), &0.0, &x, &y).unwrap();
    assert!(report.passed(), "{report}");
    let g = loss::gradient(&Cpu::new(), &x, &y).unwrap();
    let cos = (0.5f64 * 1.5 - 1.25 * 0.25 + 2.0 * 0.75).cos();
    for i in 0..3 {
        assert!(abs_diff_eq!(g.x[i], y[i] * cos + 2.0 * x[i], epsilon = 1e-15), "{:?}", g.x);
        assert!(abs_diff_eq!(g.y[i], x[i] * cos, epsilon = 1e-15), "{:?}", g.y);
    }
    assert_eq!(g, loss::gradient(&Interpreter::new(), &x, &y).unwrap());
    let h = loss::hvp(&Cpu::new(), &[1.0, 0.0, 0.0], &[0.0; 3], &x, &y).unwrap();
    let sin = (0.5f64 * 1.5 - 1.25 * 0.25 + 2.0 * 0.75).sin();
    for i in 0..3 {
        let expected = -sin * y[i] * y[0] + if i == 0 { 2.0 } else { 0.0 };
        assert!(abs_diff_eq!(h.x[i], expected, epsilon = 1e-15), "{:?}", h.x);
    }
    let g = parallel_total::gradient(&Cpu::new().threads(3), &x).unwrap();
    assert_eq!(g.x, [1.0; 3]);
}

/// A pendulum by leapfrog, whose state is two sums.
#[reversible]
fn swing<T: Real + Float>(angle: &mut Exact<T>, speed: &mut Exact<T>, dt: T) {
    {
        let mut a = T::zero();
        (&angle).read(&mut a);
        *speed -= a.sin() * dt;
    }
    let mut v = T::zero();
    (&speed).read(&mut v);
    *angle += v * dt;
}

/// The same on floats.
#[reversible]
fn float_swing<T: Real>(angle: &mut T, speed: &mut T, dt: T) {
    *speed -= angle.sin() * dt;
    *angle += *speed * dt;
}

#[test]
fn a_long_program_of_floats_comes_back() {
    let mut angle = Exact::zero();
    angle.add_assign(1.5f64).unwrap();
    let (start, mut speed) = (angle, Exact::zero());
    let (mut float, mut float_speed) = (1.5, 0.0);
    for _ in 0..20_000 {
        swing(&mut angle, &mut speed, 0.01).unwrap();
        float_swing(&mut float, &mut float_speed, 0.01).unwrap();
    }
    assert_abs_diff_eq!(read(&angle), float, epsilon = 1e-9);
    for _ in 0..20_000 {
        swing::inverse(&mut angle, &mut speed, 0.01).unwrap();
        float_swing::inverse(&mut float, &mut float_speed, 0.01).unwrap();
    }
    assert_eq!((angle, speed), (start, Exact::zero()));
    assert_ne!((float, float_speed), (1.5, 0.0));
}

#[test]
fn sixteen_and_32_bits() {
    let x: Vec<f32> = (0..1000).map(|k| (k as f32 - 300.0) * 1.7f32.powi(k % 90 - 40)).collect();
    let exact: BigInt = x.iter().map(|x| units(f64::from(*x))).sum();
    let mut out = 0f32;
    total(&mut out, &x).unwrap();
    let wide = nearest(&exact);
    // no sum of these is near the middle of two
    assert_eq!(out, wide as f32);
    let small: Vec<f16> = (0..100).map(|k| f16::from_f32(k as f32 / 8.0 - 5.0)).collect();
    let mut out = f16::ZERO;
    total(&mut out, &small).unwrap();
    assert_eq!(out.to_f32(), small.iter().map(|x| x.to_f32()).sum::<f32>());
    // rounded once to 32 bits: by way of 64 it would be the half, and go to even
    let mut out = 0f32;
    total(&mut out, &[1.0, 2f32.powi(-24), 2f32.powi(-90)]).unwrap();
    assert_eq!(out, 1.0 + 2f32.powi(-23));
}

#[test]
fn on_a_gpu() {
    let x: Vec<f64> = (0..300).map(|k| (k as f64 - 100.5) * 3f64.powi(k % 60 - 30)).collect();
    let expected = nearest(&x.iter().map(|x| units(*x)).sum());
    let mut out = [0.0];
    gpu_total::run(&Emulator::new(), &mut out, &x).unwrap();
    assert_eq!(out[0], expected);
}

#[reversible]
fn gpu_total<T: Real + Float>(out: &mut [T; 1], x: &[T]) {
    let mut sum = Exact::<T>::zero();
    sum.add_all(x);
    (&sum).read(&mut out[0]);
}
