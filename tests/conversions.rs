//! Conversions of variables to other types and back.

#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

use rev::prelude::*;
use rev::scalar::fraction::{U100, U20};
use rev::Emulator;

#[reversible]
fn widened(y: &mut f64, x: f32, n: i32) {
    *y += (x as f64) * (x as f64) * (n as f64);
}

#[test]
fn as_is() {
    let g = widened::gradient(&Cpu::new(), 3.0f32, 2).unwrap();
    assert_eq!((g.value, g.x), (18.0, 12.0f32));
}

#[reversible]
fn moved(
    y: &mut f64,
    x: &mut f32,
    n: &mut i64,
    k: &mut i32,
    h: &mut f32,
    g: &mut f16,
    b: &mut bool,
    m: &mut u8,
) {
    convert(x, y);
    convert(k, n);
    convert(g, h);
    convert(b, m);
}

#[reversible]
fn narrowed(y: &mut f64, x: &mut f32) {
    #[inverse]
    {
        convert(x, y);
    }
}

#[reversible]
fn kept(x: &mut f64, y: &mut f32, lost: &mut Stack<f64>) {
    convert(x, y, lost);
}

#[reversible]
fn whole(x: &mut f64, n: &mut i32, lost: &mut Stack<f64>) {
    convert(x, n, lost);
}

#[reversible]
fn rounded(n: &mut i64, y: &mut f64, lost: &mut Stack<i64>) {
    convert(n, y, lost);
}

#[reversible]
fn squared(loss: &mut f64, x: &mut f64, y: &mut f32, lost: &mut Stack<f64>) {
    convert(x, y, lost);
    *loss += (*y as f64) * (*y as f64);
}

#[reversible]
fn many(loss: &mut f64, x: &mut [f32], y: &mut [f64]) {
    for i in par(0..x.len()) {
        convert(x[i], y[i]);
    }
    for i in par(0..y.len()) {
        *loss += y[i] * y[i] * y[i];
    }
}

#[test]
fn converted_variables() {
    fn on<D: Device>(device: &D) {
        let start = (0.0, 0.1f32, 0i64, -7i32, 0.0f32, f16::from_f32(0.3), true, 0u8);
        let (mut y, mut x, mut n, mut k, mut h, mut g, mut b, mut m) = start;
        moved::run(device, &mut y, &mut x, &mut n, &mut k, &mut h, &mut g, &mut b, &mut m).unwrap();
        assert_eq!(
            (y, x, n, k, h, g, b, m),
            (0.1f32.into(), 0.0, -7, 0, f16::from_f32(0.3).to_f32(), f16::ZERO, false, 1)
        );
        moved::run_inverse(device, &mut y, &mut x, &mut n, &mut k, &mut h, &mut g, &mut b, &mut m).unwrap();
        assert_eq!((y, x, n, k, h, g, b, m), start);
        let (mut y, mut x) = (0.5, 0.0);
        narrowed::run(device, &mut y, &mut x).unwrap();
        assert_eq!((y, x), (0.0, 0.5));
        narrowed::run_inverse(device, &mut y, &mut x).unwrap();
        assert_eq!((y, x), (0.5, 0.0));
        let message = |e: Error| e.to_string();
        for value in [0.1, 1.0 + 1e-15, 1e-300, 1e300, f64::NAN, f64::INFINITY] {
            let error = narrowed::run(device, &mut { value }, &mut 0.0).unwrap_err();
            assert!(message(error).contains("`left_in_y` must be released as 0.0"), "{value}");
        }
        for value in [f32::NAN, f32::INFINITY] {
            let error = narrowed::run_inverse(device, &mut 0.0, &mut { value }).unwrap_err();
            assert!(message(error).contains("`left_in_x` must be released as 0.0"), "{value}");
        }
        let error = narrowed::run_inverse(device, &mut 1e-12, &mut 1.0).unwrap_err();
        assert!(message(error).contains("`left_in_y` must be released as 0.0 and holds 1e-12"));
        let mut loss = 0.0;
        let (mut x, mut y) = (vec![0.1f32, 2.0, -3.0, 4.0, 5.0], vec![0.0; 5]);
        many::run(device, &mut loss, &mut x, &mut y).unwrap();
        assert_eq!(x, [0.0; 5]);
        many::run_inverse(device, &mut loss, &mut x, &mut y).unwrap();
        assert_eq!(x, [0.1f32, 2.0, -3.0, 4.0, 5.0]);
        let v = many::vjp(device, 1.0, &[0.0; 5], &[0.0; 5], &0.0, &x, &y).unwrap();
        assert_eq!(v.x_bar, [3.0 * 0.1f32 * 0.1, 12.0, 27.0, 48.0, 75.0]);
        let (mut x, mut y) = (vec![0.0f32; 300], vec![0.5; 300]);
        y[217] = 0.1;
        let error = many::run_inverse(device, &mut 37.38, &mut x, &mut y).unwrap_err();
        assert!(message(error).contains("`left_in_y` must be released as 0.0"));
    }
    on(&Cpu::new());
    on(&Interpreter::new());
    on(&Emulator::new().checks(true));
    fn lossy<D: Device>(device: &D) {
        for value in [0.1, -1.0 + 1e-15, 1e-300, 3.5e37, 1e-40, 0.0, -0.1] {
            let (mut x, mut y, mut lost) = (value, 0.0, Stack::new());
            kept::run(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (0.0, value as f32, 1));
            kept::run_inverse(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (value, 0.0, 0));
        }
        for value in [1e39, f64::NAN, f64::INFINITY] {
            let (mut x, mut y, mut lost) = (value, 0.0, Stack::new());
            let error = kept::run(device, &mut x, &mut y, &mut lost).unwrap_err().to_string();
            assert!(error.contains("`too_large` must be released as false"), "{error}");
        }
        for value in [0.1, -7.9, 1e12, -1e300, 5e15, f64::INFINITY] {
            let (mut x, mut y, mut lost) = (value, 0, Stack::new());
            whole::run(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (0.0, value as i32, 1));
            whole::run_inverse(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (value, 0, 0));
        }
        assert!(whole::run(device, &mut { f64::NAN }, &mut 0, &mut Stack::new()).is_err());
        let (mut n, mut y, mut lost) = (i64::MAX, 0.0, Stack::new());
        rounded::run(device, &mut n, &mut y, &mut lost).unwrap();
        assert_eq!((n, y), (0, i64::MAX as f64));
        rounded::run_inverse(device, &mut n, &mut y, &mut lost).unwrap();
        assert_eq!((n, y, lost.len()), (i64::MAX, 0.0, 0));
        let v = squared::vjp(device, 1.0, 0.0, 0.0, Stack::from(vec![0.0]), &0.0, &3.5, &0.0, &Stack::new());
        let v = v.unwrap();
        assert_eq!((v.loss, v.x_bar), (12.25, 7.0));
    }
    lossy(&Cpu::new());
    lossy(&Interpreter::new());
    lossy(&Emulator::new().checks(true));
}

#[reversible]
fn finer(x: &mut I16F16, y: &mut I32F32) {
    convert(x, y);
}

#[reversible]
fn to_float(x: &mut I16F16, y: &mut f64) {
    convert(x, y);
}

#[reversible]
fn from_integer(n: &mut i32, y: &mut FixedI64<U20>) {
    convert(n, y);
}

#[reversible]
fn coarser(x: &mut I32F32, y: &mut I16F16, lost: &mut Stack<I32F32>) {
    convert(x, y, lost);
}

#[reversible]
fn rounded_to(x: &mut f64, y: &mut I32F32, lost: &mut Stack<f64>) {
    convert(x, y, lost);
}

#[reversible]
fn cut(x: &mut I32F32, n: &mut i64, lost: &mut Stack<I32F32>) {
    convert(x, n, lost);
}

/// The cubes of what is converted.
#[reversible]
fn cubed(loss: &mut I32F32, x: &mut [I16F16], y: &mut [I32F32]) {
    for i in par(0..x.len()) {
        convert(x[i], y[i]);
        *loss += y[i] * y[i] * y[i];
    }
}

#[reversible]
fn cubed_float(loss: &mut f64, x: &mut I16F16, y: &mut f64) {
    convert(x, y);
    *loss += *y * *y * *y;
}

#[test]
fn converted_fixed_point_numbers() {
    fn on<D: Device>(device: &D) {
        for bits in [0, 1, -1, 0x1_8000, i32::MAX, i32::MIN, -12_345_678] {
            let start = I16F16::from_bits(bits);
            let (mut x, mut y, mut z) = (start, I32F32::ZERO, 0.0);
            finer::run(device, &mut x, &mut y).unwrap();
            assert_eq!((x, y), (I16F16::ZERO, I32F32::from_num(start)));
            finer::run_inverse(device, &mut x, &mut y).unwrap();
            assert_eq!((x, y), (start, I32F32::ZERO));
            to_float::run(device, &mut x, &mut z).unwrap();
            assert_eq!((x, z), (I16F16::ZERO, start.to_num::<f64>()));
            to_float::run_inverse(device, &mut x, &mut z).unwrap();
            assert_eq!((x, z), (start, 0.0));
            let (mut n, mut w) = (bits, FixedI64::<U20>::ZERO);
            from_integer::run(device, &mut n, &mut w).unwrap();
            assert_eq!((n, w), (0, FixedI64::from_num(bits)));
            from_integer::run_inverse(device, &mut n, &mut w).unwrap();
            assert_eq!((n, w), (bits, FixedI64::ZERO));
        }
        for bits in [0, 1, -1, 0x1_8000_1234, 0x1_7fff, i64::MAX, i64::MIN, -123_456_789_012_345] {
            let start = I32F32::from_bits(bits);
            let (mut x, mut y, mut n, mut lost) = (start, I16F16::ZERO, 0, Stack::new());
            coarser::run(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, lost.len()), (I32F32::ZERO, 1));
            let near = (y.to_num::<f64>() - start.to_num::<f64>()).abs() <= 2f64.powi(-17);
            assert!(near || [I16F16::MAX, I16F16::MIN].contains(&y), "{start} {y}");
            coarser::run_inverse(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (start, I16F16::ZERO, 0));
            cut::run(device, &mut x, &mut n, &mut lost).unwrap();
            assert_eq!(n, bits / (1 << 32));
            cut::run_inverse(device, &mut x, &mut n, &mut lost).unwrap();
            assert_eq!((x, n, lost.len()), (start, 0, 0));
        }
        for value in [0.1, -7.9, 1e-300, 1e9, 2f64.powi(31), -1e300, 0.0] {
            let (mut x, mut y, mut lost) = (value, I32F32::ZERO, Stack::new());
            rounded_to::run(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y), (0.0, I32F32::saturating_from_num(value)));
            rounded_to::run_inverse(device, &mut x, &mut y, &mut lost).unwrap();
            assert_eq!((x, y, lost.len()), (value, I32F32::ZERO, 0));
        }
        // not a number of 16 bits behind the point
        let (mut x, mut y) = (I16F16::ZERO, I32F32::from_bits(1));
        let error = finer::run_inverse(device, &mut x, &mut y).unwrap_err().to_string();
        assert!(error.contains("`left_in_y` must be released as 0"), "{error}");
        let x: Vec<I16F16> = (-40..40).map(|k| I16F16::from_num(k) / 8).collect();
        let y = vec![I32F32::ZERO; 80];
        let v = cubed::vjp(device, I32F32::ONE, &vec![I16F16::ZERO; 80], &y, &I32F32::ZERO, &x, &y);
        let v = v.unwrap_or_else(|e| panic!("{e}"));
        for (x, slope) in x.iter().zip(v.x_bar) {
            assert_eq!(slope, *x * *x * 3, "{x}");
        }
        let x = I16F16::from_num(1.5);
        let v = cubed_float::vjp(device, 1.0, I16F16::ZERO, 0.0, &0.0, &x, &0.0).unwrap();
        assert_eq!((v.loss, v.x_bar), (3.375, I16F16::from_num(6.75)));
    }
    on(&Cpu::new());
    on(&Cpu::new().threads(3));
    on(&Interpreter::new());
    on(&Emulator::new().checks(true));
}

#[reversible]
fn widest(
    x: &mut I32F32,
    z: &mut I64F64,
    y: &mut FixedI128<U100>,
    w: &mut I64F64,
    lost: &mut Stack<FixedI128<U100>>,
) {
    convert(x, z);
    convert(y, w, lost);
}

#[test]
fn numbers_of_128_bits_come_back() {
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        for bits in [1, -1, i64::MAX, i64::MIN, 987_654_321] {
            let (a, b) = (
                I32F32::from_bits(bits),
                FixedI128::<U100>::from_bits(i128::from(bits).wrapping_mul(0x1_0000_0001_0000_0003)),
            );
            let (mut x, mut z, mut y, mut w, mut lost) = (a, I64F64::ZERO, b, I64F64::ZERO, Stack::new());
            widest::run(device, &mut x, &mut z, &mut y, &mut w, &mut lost).unwrap();
            assert_eq!((x, z), (I32F32::ZERO, I64F64::from_num(a)));
            assert_eq!((y, lost.len()), (FixedI128::ZERO, 1));
            assert!(
                (w.to_num::<f64>() - b.to_num::<f64>()).abs()
                    <= 2f64.powi(-60) * (1.0 + b.to_num::<f64>().abs() * 1e4)
            );
            widest::run_inverse(device, &mut x, &mut z, &mut y, &mut w, &mut lost).unwrap();
            assert_eq!((x, z, y, w, lost.len()), (a, I64F64::ZERO, b, I64F64::ZERO, 0));
        }
    }
}
