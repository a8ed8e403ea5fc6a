//! The largest numbers of types, and lengths that are computed from constants.

#![allow(clippy::unwrap_used)]

use rev::prelude::*;
use rev::Emulator;

const N: usize = 3;

mod sizes {
    pub const WIDE: usize = 2;
    pub const fn next(n: usize) -> usize {
        n + 1
    }
}

#[reversible]
fn extremes<T: Real>(y: &mut [T; 2], x: T) {
    y[0] += if x < T::max_value() { T::max_value() } else { x };
    y[1] += T::min_value();
}

#[reversible]
fn integer_extremes<T: Integer>(y: &mut [T; 2]) {
    y[0] ^= T::max_value();
    y[1] ^= T::min_value();
}

#[reversible]
fn extremes_by_name(y: &mut f64, n: &mut i32, k: &mut u128, h: &mut f16, q: &mut Fixed43) {
    *y += f64::max_value();
    *n ^= i32::min_value();
    *k ^= u128::max_value();
    *h += f16::min_value();
    *q += Fixed43::max_value();
}

#[test]
fn extremes_of_numbers() {
    fn real<D: Device, T: Real + std::fmt::Debug>(device: &D, largest: T, smallest: T) {
        let mut y = [T::zero(); 2];
        extremes::run(device, &mut y, T::zero()).unwrap();
        assert_eq!(y, [largest, smallest]);
        extremes::run_inverse(device, &mut y, T::zero()).unwrap();
        assert_eq!(y, [T::zero(); 2]);
    }
    fn integer<D: Device, T: Integer + std::fmt::Debug>(device: &D, largest: T, smallest: T) {
        let mut y = [T::zero(); 2];
        integer_extremes::run(device, &mut y).unwrap();
        assert_eq!(y, [largest, smallest]);
        integer_extremes::run_inverse(device, &mut y).unwrap();
        assert_eq!(y, [T::zero(); 2]);
    }
    fn on<D: Device>(device: &D) {
        real(device, f64::MAX, f64::MIN);
        real(device, f32::MAX, f32::MIN);
        real(device, f16::MAX, f16::MIN);
        real(device, bf16::MAX, bf16::MIN);
        real(device, Fixed43::MAX, Fixed43::MIN);
        integer(device, i8::MAX, i8::MIN);
        integer(device, i16::MAX, i16::MIN);
        integer(device, i32::MAX, i32::MIN);
        integer(device, i64::MAX, i64::MIN);
        integer(device, u8::MAX, u8::MIN);
        integer(device, u16::MAX, u16::MIN);
        integer(device, u32::MAX, u32::MIN);
        integer(device, u64::MAX, u64::MIN);
        integer(device, usize::MAX, usize::MIN);
        integer(device, isize::MAX, isize::MIN);
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new());
    fn wide<D: Device>(device: &D) {
        integer(device, i128::MAX, i128::MIN);
        integer(device, u128::MAX, u128::MIN);
        let (mut y, mut n, mut k, mut h, mut q) = (0.0, 0, 0, f16::ZERO, Fixed43::ZERO);
        extremes_by_name::run(device, &mut y, &mut n, &mut k, &mut h, &mut q).unwrap();
        assert_eq!((y, n, k, h, q), (f64::MAX, i32::MIN, u128::MAX, f16::MIN, Fixed43::MAX));
    }
    wide(&Cpu::new());
    wide(&Interpreter::new());
}

#[reversible]
fn computed_lengths<T: Real>(y: &mut [T; N * 2 + 1], x: &[T; sizes::next(N) - 1], z: &mut [T; 2 * 3 - 1]) {
    let mut t = [T::zero(); N + sizes::WIDE];
    let mut u: [T; (N + sizes::WIDE)] = [T::zero(); 2 * N - 1];
    for i in 0..x.len() {
        t[i] += x[i] * x[i];
        u[i + sizes::WIDE] += t[i];
    }
    for i in 0..t.len() {
        y[i] += t[i] * u[i];
        z[i] += u[i];
    }
}

#[reversible]
fn calls_computed_lengths<T: Real>(y: &mut [T; sizes::WIDE * N + 1], x: &[T; N], z: &mut [T; 5]) {
    computed_lengths(&mut y, &x, &mut z);
}

#[test]
fn lengths_that_are_computed() {
    fn on<D: Device>(device: &D) {
        let (x, mut y, mut z) = ([1.0, 2.0, 3.0], [0.0; 7], [0.0; 5]);
        calls_computed_lengths::run(device, &mut y, &x, &mut z).unwrap();
        assert_eq!((y, z), ([0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 4.0, 9.0]));
        calls_computed_lengths::run_inverse(device, &mut y, &x, &mut z).unwrap();
        assert_eq!((y, z), ([0.0; 7], [0.0; 5]));
        let v = calls_computed_lengths::vjp(device, [1.0; 7], [10.0; 5], &[0.0; 7], &x, &[0.0; 5]).unwrap();
        // y[2] = x₂² x₀²
        assert_eq!(v.x_bar, [2.0 * 9.0 + 20.0, 40.0, 2.0 * 3.0 + 60.0]);
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}

#[derive(Clone, Debug, PartialEq, Reversible)]
enum Weights<T: Real> {
    Missing,
    Known { w: [T; 2 * N - 3], scale: T },
}

#[derive(Clone, Debug, PartialEq, Reversible)]
struct Weighted<T: Real, const K: usize> {
    weights: Weights<T>,
    offsets: [[T; K]; sizes::next(N) - 2],
}

#[reversible]
fn in_types<T: Real, const K: usize>(y: &mut [T; K], of: &Weighted<T, K>) {
    if let Weights::Known { w, scale } = of.weights {
        for i in 0..2 * N - 3 {
            y[0] += w[i] * scale;
        }
    }
    for k in 0..K {
        y[k] += of.offsets[1][k];
    }
}

#[test]
fn computed_lengths_in_types() {
    fn on<D: Device>(device: &D) {
        let weights = Weights::Known { w: [1.0, 2.0, 3.0], scale: 2.0 };
        let of = Weighted { weights, offsets: [[5.0; 2], [0.5, 0.25]] };
        let mut y = [0.0; 2];
        in_types::run(device, &mut y, &of).unwrap();
        assert_eq!(y, [12.5, 0.25]);
        let v = in_types::vjp(device, [1.0, 10.0], &[0.0; 2], &of).unwrap();
        let found: [Batch<f64, 1>; 3] = v.of_bar.weights.known_w;
        assert_eq!(found, [Batch([2.0]); 3]);
        assert_eq!(v.of_bar.offsets, [[Batch([0.0]); 2], [Batch([1.0]), Batch([10.0])]]);
    }
    on(&Cpu::new());
    on(&Cpu::new().checks(false));
    on(&Interpreter::new());
    on(&Emulator::new());
}
