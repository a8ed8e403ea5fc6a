//! `exp`, `expm1`, what is made of them, and the hyperbolic functions.
//!
//! All reduce `x = k ln 2 + r` with `|r| ≤ ln 2 / 2` (Cody and Waite 1980, the constant in two parts,
//! the first one short enough for `k ln 2` to be exact) and put the parts together from the largest
//! down, so that the last addition makes nearly all of the error.

use super::logarithm::log1p;
use super::machine::Machine;
use super::steps::{Pair, Steps};

/// `x = k ln 2 + r`: `k` as a float and an integer, and `r` as a pair.
#[cfg_attr(optimized, inline(always))]
fn reduce<A: Machine>(m: &mut A, x: &A::F) -> (A::F, A::I, Pair<A>) {
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let (k, int) = m.nearest_multiple(x, A::NUMBERS.log2_e[0]);
    let a = m.times_plus(-ln_2, &k, x);
    let r = m.times_plus(-ln_2_low, &k, &a);
    let rest = m.sub(&a, &r);
    let low = m.times_plus(-ln_2_low, &k, &rest);
    (k, int, (r, low))
}

/// `x` between the bounds; NaN stays.
#[cfg_attr(optimized, inline(always))]
fn clamp<A: Machine>(m: &mut A, x: &A::F, [low, high]: [f64; 2]) -> A::F {
    let under = m.below(x, low);
    let x = m.replace(x, &under, low);
    let over = m.above(&x, high);
    m.replace(&x, &over, high)
}

/// `eʳ - 1 - r` for the high part of `r`, and the low part.
#[cfg_attr(optimized, inline(always))]
fn tail<A: Machine>(m: &mut A, (r, low): &Pair<A>) -> A::F {
    let square = m.mul(r, r);
    let p = m.polynomial(r, A::NUMBERS.exp);
    m.fma(&square, &p, low)
}

/// `eˣ`.
///
/// What rounding `r` leaves out isn't added: it is at most `2⁻ᵖ⁻²`, and a fifth of an ulp where `eʳ < 1`.
/// The factor `2ᵏ` is an addition to the exponent where the result is far from subnormal and from
/// overflow.
#[cfg_attr(optimized, inline(always))]
pub fn exp<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let bounded = clamp(m, x, A::NUMBERS.exp_range);
    let (k, int) = m.nearest_multiple(&bounded, A::NUMBERS.log2_e[0]);
    let r = m.times_plus(-ln_2, &k, &bounded);
    let r = m.times_plus(-ln_2_low, &k, &r);
    let square = m.mul(&r, &r);
    let p = m.polynomial(&r, A::NUMBERS.exp);
    let tail = m.mul(&square, &p);
    let one = m.float(1.0);
    let (high, low) = m.fast_sum(&one, &r);
    let low = m.add(&low, &tail);
    let y = m.add(&high, &low);
    let exponent = m.shl(&int, A::NUMBERS.mantissa);
    let bits = m.to_bits(&y);
    let bits = m.int_add(&bits, &exponent);
    let scaled = m.from_bits(&bits);
    let size = m.abs(&bounded);
    let ordinary = m.below(&size, (A::NUMBERS.bias - 1) as f64 * std::f64::consts::LN_2);
    let other = m.not(&ordinary);
    let [y] = m.rarely(&other, [scaled], |m| [m.scale(&y, &int)]);
    y
}

/// `eʳ` as a sum of two numbers, the first of them larger.
#[cfg_attr(optimized, inline(always))]
fn exp_sum<A: Machine>(m: &mut A, r: &Pair<A>) -> Pair<A> {
    let tail = tail(m, r);
    let one = m.float(1.0);
    let (high, low) = m.fast_sum(&one, &r.0);
    (high, m.add(&low, &tail))
}

/// `2ᵏ eʳ`.
#[cfg_attr(optimized, inline(always))]
fn exp_reduced<A: Machine>(m: &mut A, k: &A::I, r: &Pair<A>) -> A::F {
    let (high, low) = exp_sum(m, r);
    let y = m.add(&high, &low);
    m.scale(&y, k)
}

/// `e^(high + low)`; the low part counts nothing where the high one is out of range.
#[cfg_attr(optimized, inline(always))]
pub(super) fn exp_pair<A: Machine>(m: &mut A, x: &Pair<A>) -> A::F {
    let (k, r) = reduce_pair(m, x);
    exp_reduced(m, &k, &r)
}

/// `e^(high + low) c` for a pair `c`, likewise.
#[cfg_attr(optimized, inline(always))]
pub(super) fn exp_pair_times<A: Machine>(m: &mut A, x: &Pair<A>, c: &Pair<A>) -> A::F {
    let (k, r) = reduce_pair(m, x);
    let (high, low) = exp_sum(m, &r);
    let e = m.fast_sum(&high, &low);
    let (high, low) = m.pair_product(&e, c);
    let y = m.add(&high, &low);
    m.scale(&y, &k)
}

/// `high + low = k ln 2 + r`; the low part counts nothing where the high one is out of range.
#[cfg_attr(optimized, inline(always))]
fn reduce_pair<A: Machine>(m: &mut A, (high, low): &Pair<A>) -> (A::I, Pair<A>) {
    let x = clamp(m, high, A::NUMBERS.exp_range);
    let inside = m.eq(&x, high);
    let zero = m.float(0.0);
    let low = m.select(&inside, low, &zero);
    let (_, k, r) = reduce(m, &x);
    let rest = m.add(&r.1, &low);
    (k, m.sum(&r.0, &rest))
}

/// `eˣ - 1 = 2ᵏ ((1 - 2⁻ᵏ) + r + r²/2 + r³ P(r))`, of which all but the last term are added exactly.
#[cfg_attr(optimized, inline(always))]
pub fn expm1<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [_, high] = A::NUMBERS.exp_range;
    let clamped = clamp(m, x, [-50.0, high]);
    let (_, k, (r, r_low)) = reduce(m, &clamped);
    let square = m.mul(&r, &r);
    let cube = m.mul(&square, &r);
    let p = m.polynomial(&r, A::NUMBERS.exp.get(1..).unwrap_or(&[]));
    let half = m.times(0.5, &r);
    let (half_square, error) = m.product(&half, &r);
    let rest = m.fma(&cube, &p, &r_low);
    let rest = m.add(&rest, &error);
    let (_, shift, shift_low) = one_less_power(m, &k);
    let (high, low) = m.fast_sum(&shift, &r);
    let (high, lower) = m.fast_sum(&high, &half_square);
    let low = m.add(&low, &lower);
    let rest = m.add(&rest, &shift_low);
    let low = m.add(&low, &rest);
    let y = m.add(&high, &low);
    let y = m.scale(&y, &k);
    m.keep_zero(x, &y)
}

/// `2ˣ = 2ⁿ e^(f ln 2)` for the integer `n` next to `x` and `f = x - n`, the product as a pair; exact for integers.
#[cfg_attr(optimized, inline(always))]
pub fn exp2<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let numbers = A::NUMBERS;
    let least = -(numbers.bias + i64::from(numbers.mantissa) + 2);
    let bounded = clamp(m, x, [least as f64, (numbers.bias + 2) as f64]);
    let (n, int) = m.nearest_multiple(&bounded, 1.0);
    let f = m.sub(&bounded, &n);
    let [ln_2, ln_2_low] = numbers.ln_2;
    let ln_2 = m.float(ln_2);
    let (r, low) = m.product(&f, &ln_2);
    let low = m.times_plus(ln_2_low, &f, &low);
    let r = m.fast_sum(&r, &low);
    exp_reduced(m, &int, &r)
}

/// `2⁻ᵏ`, and `1 - 2⁻ᵏ` as a pair; for large `k` those of 100.
#[cfg_attr(optimized, inline(always))]
fn one_less_power<A: Machine>(m: &mut A, k: &A::I) -> (A::F, A::F, A::F) {
    let small = m.at_most(k, 100);
    let zero = m.int(0);
    let minus = m.int_sub(&zero, &small);
    let power = m.power_of_two(&minus);
    let high = m.minus_from(1.0, &power);
    let rest = m.minus_from(1.0, &high);
    let low = m.sub(&rest, &power);
    (power, high, low)
}

/// The hyperbolic functions of `|x|`, divided by `2ᵏ⁻¹`: `k`, the sine and the cosine as pairs.
///
/// `sinh(k ln 2 + r) = sinh(k ln 2) cosh r + cosh(k ln 2) sinh r`, and likewise the cosine.
#[cfg_attr(optimized, inline(always))]
fn hyperbolic<A: Machine>(m: &mut A, x: &A::F, limit: f64) -> (A::I, Pair<A>, Pair<A>) {
    let x = m.abs(x);
    let over = m.above(&x, limit);
    let x = m.replace(&x, &over, limit);
    let (_, k, (r, low)) = reduce(m, &x);
    let z = m.mul(&r, &r);
    let p = m.polynomial(&z, A::NUMBERS.sinh);
    let cube = m.mul(&r, &z);
    let sinh = m.fma(&cube, &p, &low); // sinh r - r
    let p = m.polynomial(&z, A::NUMBERS.cosh);
    let rest = m.mul(&r, &low);
    let cosh = m.fma(&z, &p, &rest); // cosh r - 1
    let twice = m.shl(&k, 1);
    let (power, ks, ks_low) = one_less_power(m, &twice);
    let one = m.float(1.0);
    let kc = m.fast_sum(&one, &power);
    let ks = (ks, ks_low);
    let s = combine(m, (&ks, &kc), &r, (&cosh, &sinh));
    let c = combine(m, (&kc, &ks), &r, (&cosh, &sinh));
    (k, s, c)
}

/// `a (1 + c) + b (r + s)` for pairs `a`, `b`, where `a` is the largest term or 0.
#[cfg_attr(optimized, inline(always))]
fn combine<A: Machine>(m: &mut A, (a, b): (&Pair<A>, &Pair<A>), r: &A::F, (c, s): (&A::F, &A::F)) -> Pair<A> {
    let (product, error) = m.product(&b.0, r);
    let (high, low) = m.fast_sum(&a.0, &product);
    let error = m.fma(&b.1, r, &error);
    let error = m.add(&error, &a.1);
    let rest = m.fma(&b.0, s, &error);
    let rest = m.fma(&a.0, c, &rest);
    let low = m.add(&low, &rest);
    m.fast_sum(&high, &low)
}

/// `sinh x`.
#[cfg_attr(optimized, inline(always))]
pub fn sinh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [_, limit] = A::NUMBERS.exp_range;
    let (k, s, _) = hyperbolic(m, x, limit);
    let y = scale_half(m, &s, &k);
    m.copysign(&y, x)
}

/// `cosh x`.
#[cfg_attr(optimized, inline(always))]
pub fn cosh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [_, limit] = A::NUMBERS.exp_range;
    let (k, _, c) = hyperbolic(m, x, limit);
    scale_half(m, &c, &k)
}

/// `2ᵏ⁻¹` times a pair, of which the high part is its sum.
#[cfg_attr(optimized, inline(always))]
fn scale_half<A: Machine>(m: &mut A, a: &Pair<A>, k: &A::I) -> A::F {
    let one = m.int(1);
    let k = m.int_sub(k, &one);
    m.scale(&a.0, &k)
}

/// `tanh x`, the quotient of sine and cosine; 1 beyond 22.
#[cfg_attr(optimized, inline(always))]
pub fn tanh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let (_, s, c) = hyperbolic(m, x, 22.0);
    let (high, low) = m.pair_quotient(&s, &c);
    let y = m.add(&high, &low);
    m.copysign(&y, x)
}

/// `1/(1 + e⁻ˣ)`; for a negative `x` as `eˣ/(1 + eˣ)`.
#[cfg_attr(optimized, inline(always))]
pub fn sigmoid<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let minus = m.neg(&size);
    let e = exp(m, &minus);
    let (one, zero) = (m.float(1.0), m.float(0.0));
    let under = m.fast_sum(&one, &e);
    let negative = m.below(x, 0.0);
    let over = m.select(&negative, &e, &one);
    let (high, low) = m.pair_quotient(&(over, zero), &under);
    m.add(&high, &low)
}

/// `ln(1 + eˣ) = max(x, 0) + ln(1 + e^-|x|)`.
#[cfg_attr(optimized, inline(always))]
pub fn softplus<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let minus = m.neg(&size);
    let e = exp(m, &minus);
    let log = log1p(m, &e);
    let negative = m.below(x, 0.0);
    let linear = m.replace(x, &negative, 0.0);
    m.add(&linear, &log)
}
