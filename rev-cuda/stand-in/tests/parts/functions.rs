//! Functions of real and of complex numbers, against num-complex and Rust's own operators.

use super::{devices, near, Tested};
use rev_cpu::prelude::*;

#[reversible]
fn powers<T: Real>(y: &mut [Complex<T>], z: &[Complex<T>], w: &[Complex<T>], r: &[T]) {
    for i in par(0..y.len()) {
        y[i] += z[i].powc(w[i]) + z[i] * r[i] + r[i] * w[i];
        let product = z[i] * w[i];
        y[i] -= (product * product.re).unscale(product.re).scale(r[i]) + w[i] / r[i];
    }
}

#[reversible]
fn remainders<T: Real>(y: &mut [T], x: &[T], d: &[T]) {
    for i in par(0..y.len()) {
        y[i] += x[i] % d[i] + fmod(x[i] * x[i], 0.7);
        y[i] += erf(x[i]) - d[i].erfc();
    }
}

#[test]
fn powers_and_multiples_of_complex_numbers() {
    let n = 37;
    let z: Vec<Complex<f64>> =
        (0..n).map(|i| Complex::from_polar(0.5 + 0.05 * i as f64, 0.4 * i as f64 - 3.0)).collect();
    let w: Vec<_> = (0..n).map(|i| Complex::new(2.0 - 0.1 * i as f64, 0.3 + 0.01 * i as f64)).collect();
    let r: Vec<f64> = (0..n).map(|i| 0.7 + 0.02 * i as f64).collect();
    let seeds: Vec<_> = (0..n).map(|i| Complex::new(1.0 - 0.05 * i as f64, 0.5)).collect();
    let parts = |z: &[Complex<f64>]| z.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<_>>();
    let each = |f: &dyn Fn(usize) -> Complex<f64>| parts(&(0..n).map(f).collect::<Vec<_>>());
    let value = each(&|i| z[i].powc(w[i]) + (z[i] + w[i] - z[i] * w[i]) * r[i] - w[i] / r[i]);
    let of_z =
        each(&|i| seeds[i] * (w[i] * z[i].powc(w[i] - 1.0) + Complex::from(r[i]) - w[i] * r[i]).conj());
    let of_w = each(&|i| seeds[i] * (z[i].powc(w[i]) * z[i].ln() + r[i] - z[i] * r[i] - 1.0 / r[i]).conj());
    let of_r: Vec<f64> =
        (0..n).map(|i| (seeds[i].conj() * (z[i] + w[i] - z[i] * w[i] + w[i] / (r[i] * r[i]))).re).collect();
    for Tested { device, name, .. } in devices() {
        let v = powers::vjp(&*device, &seeds, &vec![Complex::default(); n], &z, &w, &r).unwrap();
        assert!(near(&parts(&v.y), &value), "{name}: {:?}", v.y);
        assert!(near(&parts(&v.z_bar), &of_z), "{name}: {:?} for {of_z:?}", v.z_bar);
        assert!(near(&parts(&v.w_bar), &of_w), "{name}: {:?} for {of_w:?}", v.w_bar);
        assert!(near(&v.r_bar, &of_r), "{name}: {:?} for {of_r:?}", v.r_bar);
    }
}

#[reversible]
fn power<T: Real>(y: &mut Complex<T>, z: Complex<T>, w: Complex<T>) {
    *y += z.powc(w);
}

/// `0ʷ`: 1 for w = 0, else 0 and infinite as the real part of w says; the derivative of `z¹` is 1 there, that of higher powers 0.
#[test]
fn powers_of_zero() {
    let c = |re| Complex::new(re, 0.0);
    for Tested { device, name, .. } in devices() {
        for (w, value, slope) in
            [(c(0.0), 1.0, 0.0), (c(1.0), 0.0, 1.0), (c(2.0), 0.0, 0.0), (c(2.5), 0.0, 0.0)]
        {
            let v = power::vjp(&*device, c(1.0), &c(0.0), c(0.0), w).unwrap();
            assert_eq!((v.y, v.z_bar), (c(value), c(slope)), "{name}: w = {w}");
        }
        let between = power::vjp(&*device, c(1.0), &c(0.0), c(0.0), c(0.5)).unwrap();
        assert!(between.y == c(0.0) && !between.z_bar.is_finite(), "{name}: {between:?}");
        if let Ok(v) = power::vjp(&*device, c(1.0), &c(0.0), c(0.0), c(-1.0)) {
            assert!(!v.y.is_finite(), "{name}: {v:?}");
        }
    }
}

#[test]
fn remainders_and_error_functions() {
    let n = 41;
    let x: Vec<f64> = (0..n).map(|i| 0.37 * i as f64 - 7.0).collect();
    let d: Vec<f64> =
        (0..n).map(|i| if i % 2 == 0 { 0.83 } else { -1.3 } * (1.0 + 0.01 * i as f64)).collect();
    let normal = |x: f64| std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
    let of_x: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + normal(*x)).collect();
    let of_d: Vec<f64> = x.iter().zip(&d).map(|(x, d)| normal(*d) - (x / d).trunc()).collect();
    let mut first: Option<Vec<f64>> = None;
    for Tested { device, name, .. } in devices() {
        let v = remainders::vjp(&*device, &vec![1.0; n], &vec![0.0; n], &x, &d).unwrap();
        assert!(near(&v.x_bar, &of_x) && near(&v.d_bar, &of_d), "{name}: {:?} {:?}", v.x_bar, v.d_bar);
        // what is left without the error functions, whose values are measured elsewhere
        for i in 0..n {
            let rest = v.y[i] - x[i] % d[i] - x[i] * x[i] % 0.7;
            assert!(rest.abs() <= 3.0, "{name}: {rest}");
        }
        assert_eq!(first.get_or_insert_with(|| v.y.clone()), &v.y, "{name}");
    }
}

/// A ripple of carries by Toffoli gates, and a mask.
#[reversible]
fn gates(carry: &mut [bool], a: &[bool], b: &[bool], mask: &mut u16, m: u16, n: u16) {
    for i in 0..a.len() {
        cnot(a[i], b[i], carry[i + 1]);
        cnot(carry[i], a[i] != b[i], carry[i + 1]);
    }
    cnot(m, n, mask);
}

#[test]
fn controlled_gates() {
    let (x, y) = (0b0101_1011_u8, 0b0110_1101_u8);
    let bits = |v: u8| (0..8).map(|k| v >> k & 1 == 1).collect::<Vec<_>>();
    for Tested { device, name, .. } in devices() {
        let (mut carry, mut mask) = (vec![false; 9], 1);
        gates::run(&*device, &mut carry, &bits(x), &bits(y), &mut mask, 0xff0, 0x3c).unwrap();
        let sum = (0..8).map(|k| u16::from(bits(x)[k] ^ bits(y)[k] ^ carry[k]) << k).sum::<u16>();
        let sum = sum + (u16::from(carry[8]) << 8);
        assert_eq!((sum, mask), (u16::from(x) + u16::from(y), 0x31), "{name}");
        gates::run_inverse(&*device, &mut carry, &bits(x), &bits(y), &mut mask, 0xff0, 0x3c).unwrap();
        assert_eq!((carry, mask), (vec![false; 9], 1), "{name}");
    }
}
