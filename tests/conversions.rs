//! Conversions of variables to other types and back.

#![allow(clippy::unwrap_used)]

use rev::prelude::*;
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
