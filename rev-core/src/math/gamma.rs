//! Log-gamma and the polygamma functions, on 64-bit machines; `f32` goes through `f64`.
//!
//! Far out both are asymptotic series in `1/x` with Bernoulli numbers (DLMF 5.11.1 and 5.15.8). Nearer,
//! ln Γ is its Taylor series at 2 (DLMF 5.7.3) and the logarithm of the factors between (DLMF 5.5.1),
//! and a polygamma function is moved out by its recurrence (DLMF 5.15.5), as many times for every
//! argument. Negative arguments are mirrored (DLMF 5.5.3, 5.15.6).

use super::logarithm::{ln, ln_pair};
use super::machine::{Convert, Machine};
use super::steps::{Pair, Steps};
use super::trigonometric::{sin, sin_cos};
use std::f64::consts::PI;

/// `B₂, B₄, …, B₂₄`: the Bernoulli numbers.
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
];

/// `B₂ⱼ/(2j (2j-1))`, the coefficients of `Σ B₂ⱼ/(2j (2j-1) x²ʲ⁻¹)`, what Stirling's formula leaves out.
const STIRLING: [f64; 10] = {
    let mut c = [0.0; 10];
    let mut j = 0;
    while j < 10 {
        let n = 2.0 * (j + 1) as f64;
        c[j] = BERNOULLI[j] / (n * (n - 1.0));
        j += 1;
    }
    c
};

/// `(-1)ᵏ (ζ(k) - 1)/k` for k = 2, 3, …, 30: the Taylor coefficients of ln Γ(2 + z).
const ZETA: [f64; 29] = [
    0.3224670334241132,
    -0.0673523010531981,
    0.020580808427784546,
    -0.007385551028673986,
    0.0028905103307415234,
    -0.001192753911703261,
    0.0005096695247430425,
    -0.00022315475845357939,
    9.945751278180853e-05,
    -4.492623673813314e-05,
    2.050721277567069e-05,
    -9.439488275268397e-06,
    4.374866789907488e-06,
    -2.039215753801366e-06,
    9.55141213040742e-07,
    -4.492469198764566e-07,
    2.1207184805554665e-07,
    -1.0043224823968099e-07,
    4.7698101693639804e-08,
    -2.2711094608943164e-08,
    1.0838659214896955e-08,
    -5.183475041970047e-09,
    2.4836745438024785e-09,
    -1.1921401405860912e-09,
    5.731367241678862e-10,
    -2.7595228851242334e-10,
    1.330476437424449e-10,
    -6.4229645638381e-11,
    3.1044247747322276e-11,
];

/// `1 - γ` for Euler's constant γ, in two parts.
const ONE_LESS_EULER: [f64; 2] = [0.42278433509846713, 4.942915152430645e-18];

/// `½ ln 2π - ½`, in two parts.
const STIRLING_CONSTANT: [f64; 2] = [0.4189385332046727, 1.6728209650585413e-17];

/// Where the asymptotic series begin.
const FAR: f64 = 12.0;

/// `ln Γ(2 + z) + c` for `|z| ≤ 1/2`: `(1 - γ) z + c` exactly and the rest of the Taylor series.
#[inline(always)]
fn near_2<A: Machine>(m: &mut A, z: &A::F, c: &Pair<A>) -> A::F {
    let slope = m.pair(&ONE_LESS_EULER);
    let (high, low) = m.product(&slope.0, z);
    let low = m.fma(&slope.1, z, &low);
    let (sum, rest) = m.sum(&high, &c.0);
    let tail = m.polynomial(z, &ZETA);
    let square = m.mul(z, z);
    let low = m.add(&low, &c.1);
    let low = m.fma(&square, &tail, &low);
    let low = m.add(&rest, &low);
    m.add(&sum, &low)
}

/// `(x - ½) (ln x - 1) + ½ ln 2π - ½ + Σ …` (Stirling's formula) for `x ≥ 12` and `ln x` as a pair.
#[inline(always)]
fn stirling<A: Machine>(m: &mut A, x: &A::F, log: &Pair<A>) -> A::F {
    let minus_one = m.float(-1.0);
    let (high, low) = m.sum(&log.0, &minus_one);
    let low = m.add(&low, &log.1);
    let zero = m.float(0.0);
    let b = m.plus(x, -0.5);
    let (high, low) = m.pair_product(&(b, zero), &(high, low));
    let one = m.float(1.0);
    let inverse = m.div(&one, x);
    let square = m.mul(&inverse, &inverse);
    let rest = m.polynomial(&square, &STIRLING);
    let constant = m.pair(&STIRLING_CONSTANT);
    let rest = m.fma(&rest, &inverse, &constant.1);
    let (sum, error) = m.fast_sum(&high, &constant.0);
    let low = m.add(&low, &error);
    let low = m.add(&low, &rest);
    let y = m.add(&sum, &low);
    let infinite = m.equals(&high, f64::INFINITY);
    m.replace(&y, &infinite, f64::INFINITY)
}

/// `ln Γ(x)` for positive finite `x`.
#[inline(always)]
fn ln_gamma_positive<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let far = m.float(FAR);
    let large = m.le(&far, x);
    // x > 5/2: (x-1) (x-2) …, ten factors at most
    let one = m.float(1.0);
    let (mut z, mut product) = (x.clone(), one.clone());
    for _ in 0..10 {
        let above = m.above(&z, 2.5);
        let less = m.plus(&z, -1.0);
        let longer = m.mul(&product, &less);
        product = m.select(&above, &longer, &product);
        z = m.select(&above, &less, &z);
    }
    // x < 3/2: x, and x < 1/2: x (x + 1), whose logarithm is subtracted
    let below = m.below(x, 1.5);
    let lowest = m.below(x, 0.5);
    let next = m.plus(x, 1.0);
    let both = m.mul(x, &next);
    let product = m.select(&below, x, &product);
    let product = m.select(&lowest, &both, &product);
    let z = m.plus(&z, -2.0);
    let up = m.plus(x, -1.0);
    let z = m.select(&below, &up, &z);
    let z = m.select(&lowest, x, &z);
    let argument = m.select(&large, x, &product);
    let log = ln_pair(m, &argument);
    let minus = (m.neg(&log.0), m.neg(&log.1));
    let signed = (m.select(&below, &minus.0, &log.0), m.select(&below, &minus.1, &log.1));
    let near = near_2(m, &z, &signed);
    let far = stirling(m, x, &log);
    m.select(&large, &far, &near)
}

/// The distance of `x ≥ 0` from the nearest integer.
#[inline(always)]
fn from_integer<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let limit = (1u64 << A::NUMBERS.mantissa) as f64;
    let shifted = m.plus(x, limit);
    let rounded = m.plus(&shifted, -limit);
    let distance = m.sub(x, &rounded);
    let beyond = m.above(x, limit);
    m.replace(&distance, &beyond, 0.0)
}

/// `ln |Γ(x)|`; infinite at 0, -1, -2, … and at both infinities.
///
/// For negative `x` it is `ln(π/|x sin πx|) - ln Γ(|x|)`, whose error is small beside the larger of
/// the two terms only.
#[inline(always)]
pub fn ln_gamma<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let positive = ln_gamma_positive(m, &size);
    let distance = from_integer(m, &size);
    let angle = m.times(PI, &distance);
    let sine = sin(m, &angle);
    let product = m.mul(&sine, &size);
    let product = m.abs(&product);
    let pi = m.float(PI);
    let quotient = m.div(&pi, &product);
    let log = ln(m, &quotient);
    let mirrored = m.sub(&log, &positive);
    let negative = m.below(x, -1e-17);
    let y = m.select(&negative, &mirrored, &positive);
    let finite = m.below(&size, f64::INFINITY);
    let y = m.select(&finite, &y, &size);
    let zero = m.equals(x, 0.0);
    m.replace(&y, &zero, f64::INFINITY)
}

/// The `order`-th derivative of the digamma function `ψ = (ln Γ)'`. NaN for a negative order, and at
/// the poles 0, -1, -2, … unless both sides agree on `+∞` (odd orders).
///
/// The order is known when the function is written down; loops go by it.
#[inline(always)]
pub fn polygamma<A: Machine>(m: &mut A, order: i32, x: &A::F) -> A::F {
    let Ok(k) = u32::try_from(order) else {
        return m.float(f64::NAN);
    };
    // ψ⁽ᵏ⁾(x) = (-1)ᵏ ψ⁽ᵏ⁾(1 - x) - π dᵏ/dxᵏ cot πx
    let not_positive = {
        let zero = m.float(0.0);
        m.le(x, &zero)
    };
    let other = m.minus_from(1.0, x);
    let argument = m.select(&not_positive, &other, x);
    let direct = if k == 0 { digamma(m, &argument) } else { polygamma_size(m, k, &argument) };
    // (-1)^(k+1) |ψ⁽ᵏ⁾| for positive arguments
    let direct = if k == 0 || k % 2 == 1 { direct } else { m.neg(&direct) };
    let size = m.abs(x);
    let distance = from_integer(m, &size);
    let cotangents = cotangent_derivative(m, k, &distance);
    // cot is odd, so that |x| turns the sign of its even derivatives
    let cotangents = if k.is_multiple_of(2) { m.neg(&cotangents) } else { cotangents };
    let turned = if k.is_multiple_of(2) { direct.clone() } else { m.neg(&direct) };
    let mirrored = m.sub(&turned, &cotangents);
    let pole = m.equals(&distance, 0.0);
    let mirrored = m.replace(&mirrored, &pole, if k % 2 == 1 { f64::INFINITY } else { f64::NAN });
    let infinite = m.equals(x, f64::NEG_INFINITY);
    let mirrored = m.replace(&mirrored, &infinite, f64::NAN);
    m.select(&not_positive, &mirrored, &direct)
}

/// `x` moved up to at least `limit` by ones, `count` times at most; the sum of a function of the
/// arguments left behind.
#[inline(always)]
fn shifted<A: Machine>(
    m: &mut A,
    x: &A::F,
    limit: f64,
    count: u32,
    term: impl Fn(&mut A, &A::F) -> A::F,
) -> (A::F, A::F) {
    let zero = m.float(0.0);
    let (mut x, mut sum) = (x.clone(), zero.clone());
    for _ in 0..count {
        let below = m.below(&x, limit);
        let next = m.plus(&x, 1.0);
        let value = term(m, &x);
        let value = m.select(&below, &value, &zero);
        sum = m.add(&sum, &value);
        x = m.select(&below, &next, &x);
    }
    (x, sum)
}

/// `ψ(x)` for positive `x`: `ln x - 1/(2x) - Σ B₂ⱼ/(2j x²ʲ)`, less what the recurrence leaves behind.
#[inline(always)]
fn digamma<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let one = m.float(1.0);
    let (x, left) = shifted(m, x, FAR, FAR as u32, |m, x| m.div(&one, x));
    let inverse = m.div(&one, &x);
    let square = m.mul(&inverse, &inverse);
    let mut sum = m.float(0.0);
    for (j, b) in BERNOULLI.iter().enumerate().rev() {
        let c = b / (2.0 * (j + 1) as f64);
        sum = m.plus(&sum, c);
        sum = m.mul(&sum, &square);
    }
    let log = ln(m, &x);
    let rest = m.times_plus(0.5, &inverse, &sum);
    let rest = m.add(&rest, &left);
    m.sub(&log, &rest)
}

/// `|ψ⁽ᵏ⁾(x)|` for positive `x` and `k`, a sum of positive terms:
/// `k! Σ 1/(x+i)ᵏ⁺¹` up to a large `X`, and there
/// `(k-1)!/Xᵏ + k!/(2 Xᵏ⁺¹) + Σ B₂ⱼ (2j+k-1)!/((2j)! X²ʲ⁺ᵏ)`.
#[inline(always)]
fn polygamma_size<A: Machine>(m: &mut A, k: u32, x: &A::F) -> A::F {
    let order = f64::from(k);
    // k!/xᵏ⁺¹ without an overflow half-way
    let power = |m: &mut A, x: &A::F| {
        let one = m.float(1.0);
        let mut power = m.div(&one, x);
        for i in 1..=k {
            let i = m.float(f64::from(i));
            let factor = m.div(&i, x);
            power = m.mul(&power, &factor);
        }
        power
    };
    let (x, sum) = shifted(m, x, FAR + order, FAR as u32 + k, power);
    let one = m.float(1.0);
    let inverse = m.div(&one, &x);
    let y = m.mul(&inverse, &inverse);
    let mut factor = m.times(order * (order + 1.0) / 2.0, &y);
    let series = m.times(order / 2.0, &inverse);
    let mut series = m.plus(&series, 1.0);
    for (j, b) in BERNOULLI.iter().enumerate() {
        series = m.times_plus(*b, &factor, &series);
        let n = 2.0 * (j + 1) as f64;
        let next = m.mul(&factor, &y);
        factor = m.times((n + order) / (n + 1.0) * ((n + order + 1.0) / (n + 2.0)), &next);
    }
    let last = power(m, &x);
    let scale = m.times(1.0 / order, &x);
    let last = m.mul(&last, &scale);
    let y = m.fma(&last, &series, &sum);
    // 0 · ∞ at infinity
    let infinite = m.equals(&x, f64::INFINITY);
    m.replace(&y, &infinite, 0.0)
}

/// `dᵏ/drᵏ (π cot πr)`: polynomials in the cotangent, `P₀(c) = c`, `Pᵢ₊₁ = -(1 + c²) Pᵢ'`, with a
/// factor π each.
#[inline(always)]
fn cotangent_derivative<A: Machine>(m: &mut A, k: u32, r: &A::F) -> A::F {
    let mut p = vec![0.0, 1.0];
    let mut scale = PI;
    for _ in 0..k {
        let derivative: Vec<f64> = p.iter().enumerate().skip(1).map(|(i, c)| i as f64 * c).collect();
        p = vec![0.0; derivative.len() + 2];
        for (i, c) in derivative.iter().enumerate() {
            p[i] -= c;
            p[i + 2] -= c;
        }
        scale *= PI;
    }
    let angle = m.times(PI, r);
    let (sine, cosine) = sin_cos(m, &angle);
    let cotangent = m.div(&cosine, &sine);
    let mut value = m.float(0.0);
    for c in p.iter().rev() {
        let c = m.float(*c);
        value = m.fma(&value, &cotangent, &c);
    }
    m.times(scale, &value)
}

/// [`ln_gamma`] of `f32`.
#[inline(always)]
pub fn ln_gamma_single<A: Convert>(m: &mut A, x: &A::Narrow) -> A::Narrow {
    let x = m.widen(x);
    let y = ln_gamma(m, &x);
    m.narrow(&y)
}

/// [`polygamma`] of `f32`.
#[inline(always)]
pub fn polygamma_single<A: Convert>(m: &mut A, order: i32, x: &A::Narrow) -> A::Narrow {
    let x = m.widen(x);
    let y = polygamma(m, order, &x);
    m.narrow(&y)
}
