use super::super::{Batch, ComplexShadow, Fixed43, NoShadow, Zero};
use super::*;
use approx::{abs_diff_eq, assert_abs_diff_eq};

fn fx(v: f64) -> Fixed43 {
    Fixed43::from_num(v)
}

#[test]
fn integers_wrap() {
    assert_eq!(add(250u8, 10), 4);
    assert_eq!(sub(add(i64::MAX, 5), 5), i64::MAX);
    assert_eq!(mul(i32::MAX, 2), -2);
    assert_eq!(neg(1u32), u32::MAX);
    assert_eq!((abs(i8::MIN), abs(-3i8), abs(3u8)), (i8::MIN, 3, 3));
    assert_eq!((unit(-7), unit(0), unit(7u8)), (-1, 0, 1));
    assert_eq!(mul_add(200u8, 2, 1), 145);
}

#[test]
fn integer_division_is_told_apart_at_zero() {
    assert_eq!((quot(-7, 2), rem(-7, 2)), (-3, -1));
    assert_eq!((try_quot(1, 0), try_rem(1, 0)), (None, None));
    assert_eq!((quot(1, 0), rem(1, 0)), (0, 0));
    assert_eq!((quot(i32::MIN, -1), rem(i32::MIN, -1)), (i32::MIN, 0));
}

#[test]
fn shifts_out_of_range_shift_everything_out() {
    assert_eq!((shl(1u8, 3), shl(1u8, 8), shl(1u8, -1)), (8, 0, 0));
    assert_eq!((shr(-8i8, 2), shr(-8i8, 100), shr(8i8, 100)), (-2, -1, 0));
    assert_eq!(bit_xor(true, true), bit_xor(false, false));
    assert_eq!((bit_and(6, 3), bit_or(6, 3), bit_xor(6, 3)), (2, 7, 5));
}

#[test]
fn ties_and_nan_in_min_and_max() {
    assert_eq!(min(0.0, -0.0f64).to_bits(), 0.0f64.to_bits());
    assert_eq!(max(-0.0, 0.0f64).to_bits(), (-0.0f64).to_bits());
    assert_eq!((min(f64::NAN, 1.0), max(2.0, f64::NAN).is_nan()), (1.0, true));
    assert_eq!((min(3u8, 2), max(3u8, 2)), (2, 3));
}

#[test]
fn powers_and_their_derivatives() {
    assert_eq!(powi(2.0, 10), 1024.0);
    assert_eq!(powi(2.0, -2), 0.25);
    assert_eq!((powi(0.0, 0), powi(0.0, -1)), (1.0, f64::INFINITY));
    assert_eq!(powi_derivative(3.0, 4, 1), 4.0 * 27.0);
    assert_eq!(powi_derivative(3.0, 4, 2), 12.0 * 9.0);
    assert_eq!(powi_derivative(0.0, 1, 2), 0.0);
    assert_eq!(powi_derivative(0.0, 2, 3), 0.0);
    assert_eq!(powi_derivative(2.0, -1, 2), 0.25);
    assert_eq!(
        powi(1.0 + f64::EPSILON, i32::MIN),
        1.0 / powi(1.0 + f64::EPSILON, i32::MAX) / (1.0 + f64::EPSILON)
    );
}

#[test]
fn fixed_point_is_exact_under_addition_and_rounds_to_nearest() {
    let (mut x, y) = (fx(1.5), Fixed43::from_bits(12345678901));
    for k in 0..1000 {
        x = add(x, mul(y, Fixed43::from_bits(k)));
    }
    for k in (0..1000).rev() {
        x = sub(x, mul(y, Fixed43::from_bits(k)));
    }
    assert_eq!(x, fx(1.5));
    assert_eq!(div(fx(1.0), fx(2.0)), fx(0.5));
    assert_eq!(mul(Fixed43::from_bits(1), fx(0.5)), Fixed43::from_bits(1));
    assert_eq!(mul(Fixed43::from_bits(1), fx(0.25)), Fixed43::ZERO);
    let third = div(fx(1.0), fx(3.0));
    assert_eq!(third.to_bits(), ((1i128 << 43) as f64 / 3.0).round() as i64);
    assert_eq!(div(fx(-1.0), fx(3.0)).to_bits(), -third.to_bits());
    assert_eq!((div(fx(1.0), fx(0.0)), div(fx(-1.0), fx(0.0))), (Fixed43::MAX, Fixed43::MIN));
    assert_eq!((div(fx(0.0), fx(0.0)), sqrt(fx(-1.0))), (Fixed43::ZERO, Fixed43::ZERO));
    assert_eq!(sqrt(fx(2.0)), fx(2f64.sqrt()));
    assert_eq!(
        (floor(fx(-1.5)), ceil(fx(-1.5)), trunc(fx(-1.5)), round(fx(-1.5))),
        (fx(-2.0), fx(-1.0), fx(-1.0), fx(-2.0))
    );
}

#[test]
fn conversions_are_those_of_as() {
    assert_eq!(cast::<f64, u8>(300.0), 255);
    assert_eq!(cast::<f64, i32>(f64::NAN), 0);
    assert_eq!(cast::<i32, u8>(-1), 255);
    assert_eq!(cast::<usize, f64>(7), 7.0);
    assert_eq!(cast::<u128, f64>(u128::MAX), u128::MAX as f64);
    assert_eq!(cast::<Fixed43, i32>(fx(-1.5)), -1);
    assert_eq!(cast::<f64, Fixed43>(-1.5), fx(-1.5));
    assert_eq!(cast::<f64, Fixed43>(f64::INFINITY), Fixed43::MAX);
    assert_eq!(cast::<f64, f32>(0.1), 0.1f32);
    assert_eq!(cast::<f32, Complex<f64>>(0.5), Complex::new(0.5, 0.0));
    assert_eq!(cast_shadow::<Batch<f32, 2>, _>(Batch([0.5f64, 2.0])), Batch([0.5f32, 2.0]));
    assert_eq!(cast_shadow::<NoShadow<i32>, _>(Batch([1.0f64])), NoShadow::NEW);
}

#[test]
fn complex_functions_agree_with_num_complex() {
    for z in
        [Complex::new(0.7, -1.3), Complex::new(-2.0, 0.4), Complex::new(-0.1, -3.0), Complex::new(1.0, 0.0)]
    {
        let near = |a: Complex<f64>, b: Complex<f64>| {
            assert!(abs_diff_eq!((a - b).norm(), 0.0, epsilon = 1e-14 * (1.0 + b.norm())), "{z}: {a} {b}")
        };
        near(sqrt(z), z.sqrt());
        near(exp(z), z.exp());
        near(ln(z), z.ln());
        near(sin(z), z.sin());
        near(cos(z), z.cos());
        near(tan(z), z.tan());
        near(sinh(z), z.sinh());
        near(cosh(z), z.cosh());
        near(tanh(z), z.tanh());
        near(recip(z), 1.0 / z);
        near(div(Complex::new(1.0, 2.0), z), Complex::new(1.0, 2.0) / z);
        near(powi(z, -3), z.powi(-3));
        near(mul(sqrt(z), sqrt(z)), z);
        near(complex(re(z), im(z)), z);
        assert_eq!((abs2(z), norm(z), arg(z)), (z.re * z.re + z.im * z.im, z.norm(), z.arg()));
    }
    assert_eq!(unit(Complex::new(0.0, 0.0)), Complex::new(0.0, 0.0));
    assert_eq!(unit(Complex::new(0.0, -2.0)), Complex::new(0.0, -1.0));
    assert_eq!(arg_gradient(Complex::new(0.0, 2.0)), Complex::new(-0.5, 0.0));
}

#[test]
fn shadows_absorb_infinite_derivatives() {
    let s = Batch([0.0, 2.0]);
    assert_eq!(absorb(s, f64::INFINITY), Batch([0.0, f64::INFINITY]));
    assert_eq!(scale(s, lit_int(3)), Batch([0.0, 6.0]));
    assert_eq!(scale(NoShadow::<i32>::NEW, 3), NoShadow::NEW);
    let z = ComplexShadow { re: Batch([1.0]), im: Batch([2.0]) };
    assert_eq!(scale(z, Complex::new(0.0, 1.0)), ComplexShadow { re: Batch([-2.0]), im: Batch([1.0]) });
    assert_eq!(shadow_conj(z).im, Batch([-2.0]));
    assert_eq!((shadow_re(z), shadow_im(z)), (z.re, z.im));
    assert_eq!(
        scale_real(Batch([2.0]), Complex::new(3.0, 4.0)),
        ComplexShadow { re: Batch([6.0]), im: Batch([8.0]) }
    );
    let from: ComplexShadow<Batch<f64, 1>> = shadow_from_im(Batch([1.0]));
    assert_eq!(from, ComplexShadow { re: Batch([0.0]), im: Batch([1.0]) });
    let real: Batch<f64, 1> = shadow_from_im(Batch([1.0]));
    assert_eq!(real, Batch([0.0]));
}

#[test]
fn instructions_undo_each_other() {
    let (mut a, mut b) = (0.3, -1.2);
    instr::rot(&mut a, &mut b, 0.7);
    assert_abs_diff_eq!(a, 0.3 * 0.7f64.cos() + 1.2 * 0.7f64.sin(), epsilon = 1e-15);
    instr::irot(&mut a, &mut b, 0.7);
    assert_abs_diff_eq!(a, 0.3, epsilon = 1e-15);
    assert_abs_diff_eq!(b, -1.2, epsilon = 1e-15);
    instr::hadamard(&mut a, &mut b);
    instr::hadamard(&mut a, &mut b);
    assert_abs_diff_eq!(a, 0.3, epsilon = 1e-15);
    assert_abs_diff_eq!(b, -1.2, epsilon = 1e-15);
    let (mut s, mut t) = (Batch([1.0, 0.0]), Batch([0.0, 1.0]));
    instr::rot(&mut s, &mut t, std::f64::consts::FRAC_PI_2);
    assert_abs_diff_eq!(t.0[0], 1.0, epsilon = 1e-15);
    assert_abs_diff_eq!(s.0[1], -1.0, epsilon = 1e-15);
    let mut n = 255u8;
    instr::inc(&mut n);
    assert_eq!(n, 0);
    instr::dec(&mut n);
    assert_eq!(n, 255);
    let mut z = Complex::new(1.0, 2.0);
    instr::conj(&mut z);
    assert_eq!(z, Complex::new(1.0, -2.0));
}

#[test]
fn integer_factors_are_exact_or_errors() {
    let mut x = 7i32;
    assert_eq!(instr::mul_int(&mut x, 3), Ok(()));
    assert_eq!(instr::div_int(&mut x, 2), Err(instr::InstrError::Inexact));
    assert_eq!((x, instr::div_int(&mut x, 3)), (21, Ok(())));
    assert_eq!(instr::mul_int(&mut x, i64::MAX), Err(instr::InstrError::Overflow));
    assert_eq!(
        (instr::mul_int(&mut x, 0), instr::div_int(&mut x, 0)),
        (Err(instr::InstrError::Inexact), Err(instr::InstrError::Inexact))
    );
    assert_eq!(x, 7);
    let mut f = fx(0.5);
    assert_eq!((instr::mul_int(&mut f, 3), f), (Ok(()), fx(1.5)));
    assert_eq!((instr::div_int(&mut f, 3), f), (Ok(()), fx(0.5)));
    let mut s = Batch([1.0, 2.0]);
    assert_eq!((instr::scale_by(&mut s, 3.0), s), (Ok(()), Batch([3.0, 6.0])));
    assert_eq!((instr::unscale_by(&mut s, 3.0), s), (Ok(()), Batch([1.0, 2.0])));
    assert_eq!(instr::unscale_by(&mut s, 0.0), Err(instr::InstrError::Inexact));
}

#[test]
fn values_know_their_shadows_zeros_and_differences() {
    let t = crate::tolerance::Tolerances::default();
    let v = (vec![1.0f64, 2.0], [1u8, 2], Complex::new(1.0f32, 2.0));
    let mut s = v.zero_shadow::<2>();
    s.0[1].0[0] = 3.0;
    assert!(!s.is_zero());
    let copy = s.clone();
    s.accumulate(&copy);
    assert_eq!(s.0[1].0[0], 6.0);
    assert_eq!(v.magnitude(), 2.0);
    assert_eq!(v.zero_like(), (vec![0.0, 0.0], [0, 0], Complex::zero()));
    assert!(v.compare(&v, &t, None).is_ok());
    let mut w = v.clone();
    w.0[1] = f64::NAN;
    let m = w.compare(&v, &t, None).unwrap_err();
    assert_eq!((m.path.as_str(), m.expected.as_str(), m.found.as_str()), (".0[1]", "2.0", "NaN"));
    assert!(vec![0.0].compare(&vec![0.0, 0.0], &t, None).is_err());
    let a = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    let mut b = a.clone();
    b[[1, 0]] = 5.0;
    assert_eq!(b.compare(&a, &t, None).unwrap_err().path, "[1, 0]");
    assert_eq!(Batch::unwrap_all(Batch::wrap(vec![[1.0], [2.0]])), vec![1.0, 2.0]);
}

fn generic<T: Real>(x: T) -> T {
    add(mul(lit_f64(0.5), mul(x, x)), sin(x))
}

/// What the emitted adjoint of [`generic`] looks like: types are found from shadows and values.
fn generic_adjoint<T: Real, const N: usize>(x: T, x_bar: &mut T::Shadow<N>, y_bar: &T::Shadow<N>) {
    update::add(x_bar, scale(y_bar.clone(), x));
    update::add(x_bar, scale(y_bar.clone(), cos(x)));
    update::add(x_bar, scale(y_bar.clone(), lit_int(0)));
}

#[test]
fn generic_code_infers_its_types() {
    assert_eq!(generic(2.0), 2.0 + 2f64.sin());
    assert_eq!(generic(fx(0.0)), fx(0.0));
    let mut x_bar = 2f64.zero_shadow::<1>();
    generic_adjoint(2.0, &mut x_bar, &Batch([1.0]));
    assert_eq!(x_bar.get(), 2.0 + 2f64.cos());
}
