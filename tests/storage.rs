//! Every scalar type in arrays: the same bits from the interpreter, the CPU and the PTX text.
#![allow(clippy::unwrap_used)] // helpers of tests

use rev::compare;
use rev::prelude::*;
use rev::tolerance::Options;
use rev::Outputs;

#[reversible]
fn integers<T: Integer>(y: &mut [T], x: &[T], s: &mut [T]) {
    for i in par(0..x.len()) {
        y[i] += x[i];
        y[i] ^= x[x.len() - 1 - i];
        s[i] -= x[i] + y[i];
    }
}

#[reversible]
fn products<T: Integer>(y: &mut [T], x: &[T]) {
    for i in par(0..x.len()) {
        y[i] += x[i] * x[i] - (x[i] & x[0]) / 3;
        inc(&mut y[i]);
    }
}

#[reversible]
fn truths(y: &mut [bool], x: &[bool]) {
    for i in par(0..x.len()) {
        y[i] ^= x[i] || x[0];
        flip(&mut y[i]);
    }
}

#[reversible]
fn fields<T: Field>(y: &mut [T], x: &[T], a: T) {
    for i in par(0..x.len()) {
        y[i] += a * x[i] - x[i] / (a * a + 2.0);
        neg(&mut y[i]);
    }
}

#[reversible]
fn sums<T: Field>(y: &mut [T], total: &mut T, x: &[T]) {
    for i in par(0..x.len()) {
        y[i % 4] += x[i];
        *total += x[i];
    }
}

const N: usize = 70;

/// Runs on both devices, and back on the second.
fn agree(run: impl Fn(&dyn Device) -> Result<Outputs, Error>) {
    let cpu = Cpu::new().deterministic(true);
    let emulator = rev::Emulator::new().deterministic(true);
    let interpreter = Interpreter::with_options(Options { deterministic: true, ..Options::default() });
    for other in [&emulator as &dyn Device, &interpreter] {
        let outcome = compare([&cpu, other], &run).unwrap();
        assert!(outcome.identical(), "{outcome}");
    }
}

#[test]
fn every_integer_type() {
    macro_rules! on {
        ($($t:ty)*) => {$(
            let value = |k: usize| (k as $t).wrapping_mul(<$t>::MAX / 7 * 3 + 5).wrapping_sub(11);
            let x: Vec<$t> = (0..N).map(value).collect();
            agree(|d| {
                let (mut y, mut s): (Vec<$t>, Vec<$t>) = (x.clone(), x.clone());
                integers::run(d, &mut y, &x, &mut s)?;
                let out = Outputs::new().with(stringify!($t), &y).with("s", &s);
                integers::run_inverse(d, &mut y, &x, &mut s)?;
                assert!(y == x && s == x, "{} on {}", stringify!($t), d.name());
                Ok(out)
            });
        )*};
    }
    on!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
    macro_rules! products {
        ($($t:ty)*) => {$(
            let x: Vec<$t> = (0..N).map(|k| (k as $t).wrapping_mul(<$t>::MAX / 5)).collect();
            agree(|d| {
                let mut y: Vec<$t> = x.clone();
                products::run(d, &mut y, &x)?;
                let out = Outputs::new().with(stringify!($t), &y);
                products::run_inverse(d, &mut y, &x)?;
                assert!(y == x, "{} on {}", stringify!($t), d.name());
                Ok(out)
            });
        )*};
    }
    products!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
}

#[test]
fn truth_values() {
    let x: Vec<bool> = (0..N).map(|k| k % 3 == 1).collect();
    agree(|d| {
        let mut y: Vec<bool> = (0..N).map(|k| k % 2 == 0).collect();
        truths::run(d, &mut y, &x)?;
        Ok(Outputs::new().with("y", &y))
    });
}

#[test]
fn every_real_and_complex_type() {
    macro_rules! on {
        ($($t:ty: $of:expr;)*) => {$(
            let of: fn(f64) -> $t = $of;
            let x: Vec<$t> = (0..N).map(|k| of((k as f64 * 0.618).fract() - 0.5)).collect();
            agree(|d| {
                let mut y = x.clone();
                fields::run(d, &mut y, &x, of(0.75))?;
                let out = Outputs::new().with(stringify!($t), &y);
                let mut part = vec![of(0.0); 4];
                let mut total = of(0.0);
                sums::run(d, &mut part, &mut total, &x)?;
                Ok(out.with("part", &part).with("total", &total))
            });
        )*};
    }
    on! {
        f16: f16::from_f64;
        bf16: bf16::from_f64;
        f32: |v| v as f32;
        f64: |v| v;
        Fixed43: Fixed43::from_num;
        Complex<f16>: |v| Complex::new(f16::from_f64(v), f16::from_f64(1.0 - v));
        Complex<bf16>: |v| Complex::new(bf16::from_f64(v), bf16::from_f64(1.0 - v));
        Complex<f32>: |v| Complex::new(v as f32, 1.0 - v as f32);
        Complex<f64>: |v| Complex::new(v, 1.0 - v);
        Complex<Fixed43>: |v| Complex::new(Fixed43::from_num(v), Fixed43::from_num(1.0 - v));
    }
}
