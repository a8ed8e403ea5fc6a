//! Errors in ulps, against arbitrary precision.

use super::factorials::Factorials;
use astro_float_num::{BigFloat, Consts, RoundingMode::ToEven};

/// Digits of the reference: twice what the cancellation in `exp(x) - 1` and `ln(1 + x)` takes.
const BITS: usize = 128;

/// The functions in arbitrary precision.
pub struct Exact {
    constants: Consts,
    factorials: Factorials,
}

impl Exact {
    pub fn new() -> Self {
        Exact { constants: Consts::new().unwrap(), factorials: Factorials::new() }
    }

    /// The value of a function.
    pub fn value(&mut self, name: &str, x: &[f64]) -> BigFloat {
        let cc = &mut self.constants;
        let a = big(x[0]);
        let b = big(*x.last().unwrap());
        let one = BigFloat::from_f64(1.0, BITS);
        let tiny = x[0].abs() < 1e-15;
        match name {
            "exp" => a.exp(BITS, ToEven, cc),
            "expm1" if tiny => a.add(
                &a.mul(&a, BITS, ToEven).div(&BigFloat::from_f64(2.0, BITS), BITS, ToEven),
                BITS,
                ToEven,
            ),
            "expm1" => a.exp(BITS, ToEven, cc).sub(&one, BITS, ToEven),
            "ln" => a.ln(BITS, ToEven, cc),
            "log2" => a.log2(BITS, ToEven, cc),
            "log10" => a.log10(BITS, ToEven, cc),
            "log1p" if tiny => a.sub(
                &a.mul(&a, BITS, ToEven).div(&BigFloat::from_f64(2.0, BITS), BITS, ToEven),
                BITS,
                ToEven,
            ),
            "log1p" => a.add(&one, BITS, ToEven).ln(BITS, ToEven, cc),
            "sin" => a.sin(BITS, ToEven, cc),
            "cos" => a.cos(BITS, ToEven, cc),
            "tan" => a.tan(BITS, ToEven, cc),
            "sinh" => a.sinh(BITS, ToEven, cc),
            "cosh" => a.cosh(BITS, ToEven, cc),
            "tanh" => a.tanh(BITS, ToEven, cc),
            "asin" => a.asin(BITS, ToEven, cc),
            "acos" => a.acos(BITS, ToEven, cc),
            "atan" => a.atan(BITS, ToEven, cc),
            "cbrt" => a.cbrt(BITS, ToEven),
            "exp2" => a.mul(&cc.ln_2(BITS + 32, ToEven), BITS + 32, ToEven).exp(BITS, ToEven, cc),
            "sigmoid" => one.div(&one.add(&a.neg().exp(BITS, ToEven, cc), BITS, ToEven), BITS, ToEven),
            "softplus" => {
                let e = a.exp(BITS, ToEven, cc);
                match x[0] < -20.0 {
                    true => e
                        .sub(
                            &e.mul(&e, BITS, ToEven).div(&BigFloat::from_f64(2.0, BITS), BITS, ToEven),
                            BITS,
                            ToEven,
                        )
                        .add(&cube(&e, 3.0), BITS, ToEven),
                    false => e.add(&one, BITS, ToEven).ln(BITS, ToEven, cc),
                }
            }
            "erf" => error_function(&a, cc),
            "erfc" if x[0] < 2.0 => one.sub(&error_function(&a, cc), BITS + 32, ToEven),
            "erfc" => complement(&a, x[0], cc),
            // Rust's own, which is exact
            "fmod" => big(x[0] % x[1]),
            "asinh" if tiny => a.sub(&cube(&a, 6.0), BITS, ToEven),
            "asinh" => a.asinh(BITS, ToEven, cc),
            "acosh" => a.acosh(BITS, ToEven, cc),
            "atanh" if tiny => a.add(&cube(&a, 3.0), BITS, ToEven),
            "atanh" => a.atanh(BITS, ToEven, cc),
            "atan2" => {
                let angle = a.div(&b, BITS, ToEven).atan(BITS, ToEven, cc);
                match (b.is_negative(), a.is_negative()) {
                    (false, _) => angle,
                    (true, false) => angle.add(&cc.pi(BITS, ToEven), BITS, ToEven),
                    (true, true) => angle.sub(&cc.pi(BITS, ToEven), BITS, ToEven),
                }
            }
            "hypot" => a.mul_full_prec(&a).add_full_prec(&b.mul_full_prec(&b)).sqrt(BITS, ToEven),
            "powf" | "powi" => {
                let log = a.abs().ln(BITS, ToEven, cc);
                let power = log.mul(&b, BITS, ToEven).exp(BITS, ToEven, cc);
                if a.is_negative() && x[1].rem_euclid(2.0) == 1.0 {
                    power.neg()
                } else {
                    power
                }
            }
            "ln_gamma" => self.factorials.ln_gamma(&a, cc),
            _ => match name.strip_prefix("polygamma ").and_then(|k| k.parse().ok()) {
                Some(k) => self.factorials.polygamma(k, &a, cc),
                None => unreachable!("{name}"),
            },
        }
    }
}

/// `erf x = 2x/√π e^(-x²) Σ (2x²)ⁿ/(2n + 1)!!` (DLMF 7.6.2), of which all terms have one sign.
fn error_function(x: &BigFloat, cc: &mut Consts) -> BigFloat {
    const MORE: usize = BITS + 32;
    let number = |n: f64| BigFloat::from_f64(n, MORE);
    let square = x.mul(x, MORE, ToEven);
    if square.cmp(&number(100.0)) > Some(0) {
        return if x.is_negative() { number(-1.0) } else { number(1.0) };
    }
    let twice = square.add(&square, MORE, ToEven);
    let (mut term, mut sum) = (number(1.0), number(1.0));
    for n in 1..400 {
        term = term.mul(&twice, MORE, ToEven).div(&number(2.0 * f64::from(n) + 1.0), MORE, ToEven);
        sum = sum.add(&term, MORE, ToEven);
        if term.exponent().unwrap_or(0) < sum.exponent().unwrap_or(0) - MORE as i32 {
            break;
        }
    }
    let root = cc.pi(MORE, ToEven).sqrt(MORE, ToEven);
    let scale = square.neg().exp(MORE, ToEven, cc).div(&root, MORE, ToEven);
    let sum = sum.add(&sum, MORE, ToEven).mul(x, MORE, ToEven);
    sum.mul(&scale, MORE, ToEven)
}

/// `erfc x = e^(-x²)/√π 1/(x + ½/(x + 1/(x + (3/2)/(x + …))))` (DLMF 7.9.1), for `x ≥ 2`.
fn complement(x: &BigFloat, size: f64, cc: &mut Consts) -> BigFloat {
    let terms = 16 + (1400.0 / (size * size)) as u32;
    let mut rest = x.clone();
    for n in (1..=terms).rev() {
        let half = BigFloat::from_f64(f64::from(n) / 2.0, BITS);
        rest = x.add(&half.div(&rest, BITS, ToEven), BITS, ToEven);
    }
    let square = x.mul(x, BITS + 32, ToEven);
    let scale = square.neg().exp(BITS, ToEven, cc);
    let root = cc.pi(BITS, ToEven).sqrt(BITS, ToEven);
    scale.div(&root.mul(&rest, BITS, ToEven), BITS, ToEven)
}

/// `x³/c`.
fn cube(x: &BigFloat, c: f64) -> BigFloat {
    let square = x.mul(x, BITS, ToEven);
    square.mul(x, BITS, ToEven).div(&BigFloat::from_f64(c, BITS), BITS, ToEven)
}

/// The number; subnormal ones are made normal first, which the crate expects.
pub fn big(x: f64) -> BigFloat {
    if x == 0.0 || x.abs() >= f64::MIN_POSITIVE {
        return BigFloat::from_f64(x, BITS);
    }
    let mut v = BigFloat::from_f64(x * 2f64.powi(200), BITS);
    v.set_exponent(v.exponent().unwrap() - 200);
    v
}

/// `m 2ᵉ` with `1/2 ≤ m < 1`, to 64 bits.
fn parts(v: &BigFloat) -> (f64, i32) {
    let (words, _, sign, e, _) = v.as_raw_parts().unwrap();
    let m = *words.last().unwrap() as f64 / 2f64.powi(64);
    (if sign == astro_float_num::Sign::Neg { -m } else { m }, e)
}

/// The distance of `found` from the exact value in units of the last place that the exact value has
/// in a format with so many bits of fraction and this smallest exponent and bias.
pub fn ulps(found: f64, exact: &BigFloat, mantissa: i32, bias: i32) -> f64 {
    if exact.is_zero() {
        return if found == 0.0 { 0.0 } else { f64::INFINITY };
    }
    if exact.is_nan() {
        return if found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let overflow = exact.is_inf() || {
        let (m, e) = parts(exact);
        e > bias + 1 || e == bias + 1 && m.abs() >= 1.0 - 2f64.powi(-mantissa - 2)
    };
    if overflow || found.is_infinite() {
        let same = overflow && found.is_infinite() && exact.is_negative() == (found < 0.0);
        return if same { 0.0 } else { f64::INFINITY };
    }
    if found.is_nan() {
        return f64::INFINITY;
    }
    let difference = exact.sub(&big(found), BITS, ToEven);
    if difference.is_zero() {
        return 0.0;
    }
    let (_, e) = parts(exact);
    let unit = (e - 1 - mantissa).max(1 - bias - mantissa);
    let (m, e) = parts(&difference);
    m.abs() * 2f64.powi((e - unit).clamp(-1000, 1000))
}

/// The distance in units of the last place of an `f32` from a value known as an `f64`.
pub fn ulps_single(found: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if exact.is_nan() || rounded.is_infinite() || found.is_infinite() {
        let same = found.is_nan() && exact.is_nan() || found == rounded;
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
    let unit = (exponent - 23).max(-149);
    let error = (f64::from(found) - exact).abs() / 2f64.powi(unit);
    if error.is_nan() {
        f64::INFINITY
    } else {
        error
    }
}
