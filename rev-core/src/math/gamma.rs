//! Log-gamma and the polygamma functions, on 64-bit machines; `f32` goes through `f64`.
//!
//! All are asymptotic series in `1/X` with Bernoulli numbers (DLMF 5.11.1 and 5.15.8) at an `X` of at
//! least `FAR`, which an argument is moved to by recurrence (DLMF 5.5.1, 5.15.5). Negative arguments
//! are mirrored (DLMF 5.5.3, 5.15.6), with sine and cotangent of `π` times the exact distance from the
//! nearest integer. Every step is one of pairs, so that the error is an ulp also where terms cancel;
//! right beside the zeros where it isn't enough Taylor series take over.

use super::doubled::{either, horner, ln, multiple, opposite, reciprocal, series, sin_cos_pi, total};
use super::machine::{Convert, Machine};
use super::native::Native;
use super::numbers::gamma::{BERNOULLI, DIGAMMA, DIGAMMA_ZEROS, HALF_LN_TAU, LN_GAMMA_ZEROS, PI, STIRLING};
use super::numbers::{Series, Zero};
use super::steps::{Pair, Steps};

/// Where the asymptotic series begin; for the derivative of an order of digamma so much later.
const FAR: u32 = 15;

/// How near to a zero the Taylor series are.
const NEAR: f64 = 1.0 / 1048576.0;

/// From here on `ln Γ` is infinite.
const OVERFLOW: f64 = 2.5599833278516387e305;

/// Moves a positive `x` by ones to at least `far`, and gives `visit` what lies between (each with
/// whether it is passed).
#[cfg_attr(optimized, inline(always))]
fn moved<A: Machine>(
    m: &mut A,
    x: &Pair<A>,
    far: u32,
    mut visit: impl FnMut(&mut A, &Pair<A>, &A::M),
) -> Pair<A> {
    let magic = A::NUMBERS.magic;
    let gap = m.minus_from(f64::from(far) + 0.49, &x.0);
    let steps = m.plus(&gap, magic);
    let steps = m.plus(&steps, -magic);
    let none = m.below(&steps, 0.0);
    let steps = m.replace(&steps, &none, 0.0);
    let by = |m: &mut A, count: &A::F| {
        let (high, low) = m.sum(&x.0, count);
        let low = m.add(&low, &x.1);
        m.fast_sum(&high, &low)
    };
    for i in 0..far {
        let i = m.float(f64::from(i));
        let passed = m.lt(&i, &steps);
        let y = by(m, &i);
        visit(m, &y, &passed);
    }
    by(m, &steps)
}

/// The distance of `x ≥ 0` from the nearest integer, exactly: negative below it.
#[cfg_attr(optimized, inline(always))]
fn from_integer<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let limit = (1u64 << A::NUMBERS.mantissa) as f64;
    let shifted = m.plus(x, limit);
    let rounded = m.plus(&shifted, -limit);
    let distance = m.sub(x, &rounded);
    let beyond = m.above(x, limit);
    m.replace(&distance, &beyond, 0.0)
}

/// `y`, but the Taylor series where `x` is near one of the zeros.
#[cfg_attr(optimized, inline(always))]
fn beside_zeros<A: Machine>(m: &mut A, y: A::F, x: &A::F, zeros: &[Zero]) -> A::F {
    zeros.iter().fold(y, |y, Zero { at, slope, rest }| {
        let h = m.plus(x, -at[0]);
        let second = m.float(-at[1]);
        let h = m.sum(&h, &second);
        let h = (h.0, m.plus(&h.1, -at[2]));
        let slope = m.pair(slope);
        let (high, low) = m.pair_product(&slope, &h);
        let tail = m.polynomial(&h.0, rest);
        let square = m.mul(&h.0, &h.0);
        let low = m.fma(&square, &tail, &low);
        let taylor = m.add(&high, &low);
        let size = m.abs(&h.0);
        let near = m.below(&size, NEAR);
        m.select(&near, &taylor, &y)
    })
}

/// `(x - ½) (ln x - 1) + ½ ln 2π - ½ + Σ B₂ⱼ/(2j (2j-1) x²ʲ⁻¹)` (Stirling's formula) for `x` from
/// [`FAR`] on.
#[cfg_attr(optimized, inline(always))]
fn stirling<A: Machine>(m: &mut A, x: &Pair<A>) -> Pair<A> {
    let log = ln(m, x);
    let one = m.pair(&[-1.0]);
    let log = total(m, &log, &one);
    let half = m.pair(&[-0.5]);
    let less = total(m, x, &half);
    let main = m.pair_product(&less, &log);
    let inverse = reciprocal(m, x);
    let w = m.pair_product(&inverse, &inverse);
    let [first, pairs @ ..] = &STIRLING.pairs;
    let sum = horner(m, &w, *first, pairs, &STIRLING.rest);
    let sum = m.pair_product(&sum, &inverse);
    let constant = m.pair(&HALF_LN_TAU);
    let sum = m.pair_sum(&constant, &sum);
    m.pair_sum(&main, &sum)
}

/// `ln |Γ(x)|`; infinite at 0, -1, -2, … and at both infinities.
///
/// With the product `p` of what lies between `x` and an `X` far out it is Stirling's formula at `X` less
/// `ln p`, and for negative `x` it is `ln(πp/|x sin πx|)` less Stirling's formula.
#[cfg_attr(optimized, inline(always))]
pub fn ln_gamma<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let zero = m.float(0.0);
    let exact = (size.clone(), zero);
    let mut product = m.pair(&[1.0]);
    let far = moved(m, &exact, FAR, |m, y, passed| {
        let longer = m.pair_product(&product, y);
        let longer = m.fast_sum(&longer.0, &longer.1);
        product = either(m, passed, &longer, &product);
    });
    let distance = from_integer(m, &size);
    let distance = m.abs(&distance);
    let (sine, _) = sin_cos_pi(m, &distance);
    let below = m.pair_product(&sine, &exact);
    let pi = m.pair(&PI);
    let above = m.pair_product(&pi, &product);
    let mirrored = m.pair_quotient(&above, &below);
    // nearer to 0 than this both signs give the same
    let negative = m.below(x, -1e-17);
    let argument = either(m, &negative, &mirrored, &product);
    let argument = m.fast_sum(&argument.0, &argument.1);
    let log = ln(m, &argument);
    let log = opposite(m, &log);
    let far = stirling(m, &far);
    let (high, low) = total(m, &far, &log);
    let y = m.add(&high, &low);
    let minus = m.neg(&y);
    let y = m.select(&negative, &minus, &y);
    let y = beside_zeros(m, y, x, &LN_GAMMA_ZEROS);
    let overflow = m.float(OVERFLOW);
    let large = m.le(&overflow, &size);
    let pole = m.equals(&distance, 0.0);
    let pole = m.both(&negative, &pole);
    let zero = m.equals(x, 0.0);
    let infinite = m.either(&large, &pole);
    let infinite = m.either(&infinite, &zero);
    m.replace(&y, &infinite, f64::INFINITY)
}

/// The `order`-th derivative of the digamma function `ψ = (ln Γ)'`. NaN for a negative order, and at
/// the poles 0, -1, -2, … unless both sides agree on `+∞` (odd orders).
///
/// For `x ≤ 0` it is `(-1)ᵏ ψ⁽ᵏ⁾(1 - x) - π dᵏ/dxᵏ cot πx`. The order is known when the function is
/// written down; loops go by it.
#[cfg_attr(optimized, inline(always))]
pub fn polygamma<A: Machine>(m: &mut A, order: i32, x: &A::F) -> A::F {
    let Ok(k) = u32::try_from(order) else {
        return m.float(f64::NAN);
    };
    let (zero, one) = (m.float(0.0), m.float(1.0));
    let mirrored = m.le(x, &zero);
    let minus = m.neg(x);
    let other = m.sum(&one, &minus);
    let argument = either(m, &mirrored, &other, &(x.clone(), zero));
    let size = m.abs(x);
    let distance = from_integer(m, &size);
    let cotangents = cotangent_derivative(m, k, &distance);
    let value = if k == 0 {
        let direct = digamma(m, &argument);
        let sum = total(m, &direct, &cotangents);
        either(m, &mirrored, &sum, &direct)
    } else {
        // the values at positive arguments have the sign (-1)ᵏ⁺¹
        let direct = polygamma_size(m, k, &argument);
        let minus = opposite(m, &direct);
        let sum = total(m, &minus, &cotangents);
        either(m, &mirrored, &sum, if k % 2 == 1 { &direct } else { &minus })
    };
    let y = m.add(&value.0, &value.1);
    // where a step of the pairs overflows: (-1)ᵏ⁺¹ k!/rᵏ⁺¹ at the distance r from the pole
    let away = m.neg(&distance);
    let nearest = m.select(&mirrored, &away, &distance);
    let inverse = m.div(&one, &nearest);
    let mut leading = m.neg(&inverse);
    for j in 1..=k {
        let factor = m.times(-f64::from(j), &inverse);
        leading = m.mul(&leading, &factor);
    }
    let overflow = m.is_nan(&y);
    let y = m.select(&overflow, &leading, &y);
    let y = if k == 0 { beside_zeros(m, y, x, &DIGAMMA_ZEROS) } else { y };
    let pole = m.equals(&distance, 0.0);
    let pole = m.both(&mirrored, &pole);
    let y = m.replace(&y, &pole, if k % 2 == 1 { f64::INFINITY } else { f64::NAN });
    let below = m.equals(x, f64::NEG_INFINITY);
    let y = m.replace(&y, &below, f64::NAN);
    let above = m.equals(x, f64::INFINITY);
    m.replace(&y, &above, if k == 0 { f64::INFINITY } else { 0.0 })
}

/// `ψ(x)` for positive `x`: `ln X - 1/(2X) - Σ B₂ⱼ/(2j X²ʲ)`, less what the recurrence leaves behind.
#[cfg_attr(optimized, inline(always))]
fn digamma<A: Machine>(m: &mut A, x: &Pair<A>) -> Pair<A> {
    let zero = m.pair(&[]);
    let mut left = zero.clone();
    let x = moved(m, x, FAR, |m, y, passed| {
        let term = reciprocal(m, y);
        let term = either(m, passed, &term, &zero);
        left = total(m, &left, &term);
    });
    let inverse = reciprocal(m, &x);
    let w = m.pair_product(&inverse, &inverse);
    let sum = series(m, &w, 0.0, &DIGAMMA);
    let half = multiple(m, 0.5, &inverse);
    let sum = total(m, &half, &sum);
    let sum = total(m, &left, &sum);
    let sum = opposite(m, &sum);
    let log = ln(m, &x);
    total(m, &log, &sum)
}

/// `k!/xᵏ⁺¹` for `i = 1/x`, without an overflow half-way.
#[cfg_attr(optimized, inline(always))]
fn factorial_over_power<A: Machine>(m: &mut A, k: u32, i: &Pair<A>) -> Pair<A> {
    let mut power = i.clone();
    for j in 1..=k {
        let factor = multiple(m, f64::from(j), i);
        power = m.pair_product(&power, &factor);
    }
    power
}

/// `|ψ⁽ᵏ⁾(x)|` for positive `x` and `k`, a sum of positive terms:
/// `k! Σ 1/(x+i)ᵏ⁺¹` up to a large `X`, and there
/// `(k-1)!/Xᵏ (1 + k/(2X) + Σ B₂ⱼ (2j+k-1)!/((2j)! (k-1)! X²ʲ))`.
#[cfg_attr(optimized, inline(always))]
fn polygamma_size<A: Machine>(m: &mut A, k: u32, x: &Pair<A>) -> Pair<A> {
    let zero = m.pair(&[]);
    let mut left = zero.clone();
    let x = moved(m, x, FAR + k, |m, y, passed| {
        let inverse = reciprocal(m, y);
        let term = factorial_over_power(m, k, &inverse);
        let term = either(m, passed, &term, &zero);
        left = total(m, &left, &term);
    });
    let inverse = reciprocal(m, &x);
    let w = m.pair_product(&inverse, &inverse);
    let sum = series(m, &w, 0.0, &asymptotic(k));
    let half = multiple(m, f64::from(k) / 2.0, &inverse);
    let sum = total(m, &half, &sum);
    let one = m.pair(&[1.0]);
    let sum = total(m, &one, &sum);
    let scale = factorial_over_power(m, k - 1, &inverse);
    let far = m.pair_product(&scale, &sum);
    total(m, &left, &far)
}

/// `B₂ⱼ (2j+k-1)!/((2j)! (k-1)!)`, each from the one before it.
fn asymptotic(k: u32) -> Series<9, 13> {
    let m = &mut Native::<f64>::new();
    let k = f64::from(k);
    let mut ratio = (k * (k + 1.0) / 2.0, 0.0);
    let mut n = 2.0;
    let mut next = |m: &mut Native<f64>, b: [f64; 2]| {
        let (high, low) = m.pair_product(&(b[0], b[1]), &ratio);
        let up = multiple(m, (n + k) * (n + k + 1.0), &ratio);
        ratio = m.pair_quotient(&up, &((n + 1.0) * (n + 2.0), 0.0));
        n += 2.0;
        [high, low]
    };
    let pairs = BERNOULLI.pairs.map(|b| next(m, b));
    Series { pairs, rest: BERNOULLI.rest.map(|b| next(m, [b, 0.0])[0]) }
}

/// `(-1)ᵏ dᵏ/drᵏ (π cot πr)` for `|r| ≤ ½`: polynomials in the cotangent, `Q₀(c) = c`,
/// `Qᵢ₊₁ = (1 + c²) Qᵢ'`, all terms of one sign, with a factor π each.
#[cfg_attr(optimized, inline(always))]
fn cotangent_derivative<A: Machine>(m: &mut A, k: u32, r: &A::F) -> Pair<A> {
    let size = m.abs(r);
    let (sine, cosine) = sin_cos_pi(m, &size);
    let cotangent = m.pair_quotient(&cosine, &sine);
    let negative = m.below(r, 0.0);
    let minus = opposite(m, &cotangent);
    let cotangent = either(m, &negative, &minus, &cotangent);
    let pi = m.pair(&PI);
    if k == 0 {
        return m.pair_product(&pi, &cotangent);
    }
    let square = m.pair_product(&cotangent, &cotangent);
    let mut value = m.pair(&[]);
    for c in cotangent_polynomial(k).iter().rev() {
        value = m.pair_product(&value, &square);
        let c = m.pair(c);
        value = total(m, &value, &c);
    }
    if k.is_multiple_of(2) {
        value = m.pair_product(&value, &cotangent);
    }
    for _ in 0..=k {
        value = m.pair_product(&value, &pi);
    }
    value
}

/// The coefficients of `Qₖ` that aren't 0 (every second one), from the lowest on.
fn cotangent_polynomial(k: u32) -> Vec<[f64; 2]> {
    let m = &mut Native::<f64>::new();
    // after i steps the powers are those of the other parity than i
    let mut c = vec![(1.0, 0.0)];
    for i in 0..k {
        let lowest = f64::from((i + 1) % 2);
        let scaled = c.iter().enumerate().map(|(j, c)| multiple(m, lowest + 2.0 * j as f64, c));
        let derivative: Vec<_> = scaled.collect();
        // (1 + c²) times the derivative, whose constant term is gone where the powers were even
        let derivative = &derivative[usize::from(lowest == 0.0)..];
        let zero = (0.0, 0.0);
        let at = |j: Option<usize>| j.and_then(|j| derivative.get(j)).unwrap_or(&zero);
        c = (0..=derivative.len()).map(|j| total(m, at(Some(j)), at(j.checked_sub(1)))).collect();
    }
    c.into_iter().map(|(high, low)| [high, low]).collect()
}

/// [`ln_gamma`] of `f32`.
#[cfg_attr(optimized, inline(always))]
pub fn ln_gamma_single<A: Convert>(m: &mut A, x: &A::Narrow) -> A::Narrow {
    let x = m.widen(x);
    let y = ln_gamma(m, &x);
    m.narrow(&y)
}

/// [`polygamma`] of `f32`.
#[cfg_attr(optimized, inline(always))]
pub fn polygamma_single<A: Convert>(m: &mut A, order: i32, x: &A::Narrow) -> A::Narrow {
    let x = m.widen(x);
    let y = polygamma(m, order, &x);
    m.narrow(&y)
}
