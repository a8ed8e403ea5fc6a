//! Logarithms.
//!
//! `x = 2ᵏ (1 + f)` with `1 + f` between `√½` and `√2`, and with `s = f/(2 + f)`
//! `ln(1 + f) = 2 artanh s = f - (f²/2 - s (f²/2 + s² P(s²)))` (Tang 1990 and the FreeBSD library of
//! Ng 1992 write it so).

use super::machine::Machine;
use super::steps::{Pair, Steps};

/// `x = 2ᵏ (1 + f)`: `k` as an integer, `f` exactly. For positive normal `x`.
#[cfg_attr(optimized, inline(always))]
fn split_normal<A: Machine>(m: &mut A, x: &A::F) -> (A::I, A::F) {
    let root = m.float(std::f64::consts::FRAC_1_SQRT_2);
    let root = m.to_bits(&root);
    let bits = m.to_bits(x);
    let distance = m.int_sub(&bits, &root);
    let k = m.sar(&distance, A::NUMBERS.mantissa);
    let exponent = m.shl(&k, A::NUMBERS.mantissa);
    let bits = m.int_sub(&bits, &exponent);
    let near_one = m.from_bits(&bits);
    (k, m.plus(&near_one, -1.0))
}

/// The same for positive finite `x`; subnormals are scaled.
#[cfg_attr(optimized, inline(always))]
pub(super) fn split<A: Machine>(m: &mut A, x: &A::F) -> (A::I, A::F) {
    let shift = A::NUMBERS.mantissa + 2;
    let tiny = m.below(x, A::NUMBERS.smallest_normal);
    let scaled = m.times((1u64 << shift) as f64, x);
    let x = m.select(&tiny, &scaled, x);
    let minus = m.int(-i64::from(shift));
    let zero = m.int(0);
    let offset = m.select_int(&tiny, &minus, &zero);
    let (k, f) = split_normal(m, &x);
    let k = m.int_add(&k, &offset);
    (k, f)
}

/// `a + ln(1 + f) + low` where `a` is 0 or larger than the logarithm: a sum and what it leaves.
#[cfg_attr(optimized, inline(always))]
fn sum<A: Machine>(m: &mut A, a: &A::F, low: &A::F, f: &A::F) -> Pair<A> {
    let two_f = m.plus(f, 2.0);
    let s = m.div(f, &two_f);
    let w = m.mul(&s, &s);
    let p = m.polynomial(&w, A::NUMBERS.ln);
    let half = m.times(0.5, f);
    let half_square = m.mul(&half, f);
    let rest = m.fma(&w, &p, &half_square);
    let rest = m.fma(&s, &rest, low);
    let rest = m.sub(&rest, &half_square);
    let (high, low) = m.fast_sum(a, f);
    let low = m.add(&low, &rest);
    (high, low)
}

/// The values at 0, infinity, NaN and negative numbers.
#[cfg_attr(optimized, inline(always))]
fn limits<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let finite = m.below(x, f64::INFINITY);
    let y = m.select(&finite, y, x);
    let zero = m.equals(x, 0.0);
    let y = m.replace(&y, &zero, f64::NEG_INFINITY);
    let negative = m.below(x, 0.0);
    m.replace(&y, &negative, f64::NAN)
}

/// `k ln 2 + ln(1 + f)`
#[cfg_attr(optimized, inline(always))]
fn natural<A: Machine>(m: &mut A, (k, f): &(A::I, A::F)) -> A::F {
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let k = m.from_int(k);
    let a = m.times(ln_2, &k);
    let low = m.times(ln_2_low, &k);
    let (high, low) = sum(m, &a, &low, f);
    m.add(&high, &low)
}

/// `ln x`; what isn't a positive normal number is the rare case.
#[cfg_attr(optimized, inline(always))]
pub fn ln<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let parts = split_normal(m, x);
    let y = natural(m, &parts);
    // 0, subnormal and negative numbers; infinity and NaN
    let smallest = m.float(A::NUMBERS.smallest_normal);
    let low = m.le(&smallest, x);
    let high = m.below(x, f64::INFINITY);
    let normal = m.both(&low, &high);
    let other = m.not(&normal);
    let [y] = m.rarely(&other, [y], |m| {
        let parts = split(m, x);
        let y = natural(m, &parts);
        [limits(m, x, &y)]
    });
    y
}

/// `ln(1 + x)`: of `1 + x` rounded, with what rounding left out as a first-order term.
#[cfg_attr(optimized, inline(always))]
pub fn log1p<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let one = m.float(1.0);
    let (u, error) = m.sum(&one, x);
    let (k, f) = split(m, &u);
    let zero = m.int(0);
    let near = m.int_eq(&k, &zero);
    let f = m.select(&near, x, &f);
    let small = m.at_most(&k, 100);
    let minus = m.int_sub(&zero, &small);
    let power = m.power_of_two(&minus);
    let error = m.mul(&error, &power);
    let error = m.replace(&error, &near, 0.0);
    // error/(1 + f), where only a digit counts: 1 - f (1 - 3/4 f), off by at most 0.06
    let rough = m.times(-0.75, &f);
    let rough = m.plus(&rough, 1.0);
    let rough = m.mul(&rough, &f);
    let rough = m.minus_from(1.0, &rough);
    let error = m.mul(&error, &rough);
    let k = m.from_int(&k);
    let a = m.times(ln_2, &k);
    let low = m.times_plus(ln_2_low, &k, &error);
    let (high, low) = sum(m, &a, &low, &f);
    let y = m.add(&high, &low);
    let y = limits(m, &u, &y);
    m.keep_zero(x, &y)
}

/// A logarithm to another base: `k log 2 + ln(1 + f) log e`, the constants in two parts.
#[cfg_attr(optimized, inline(always))]
fn other_base<A: Machine>(m: &mut A, x: &A::F, two: [f64; 2], e: [f64; 2]) -> A::F {
    let (k, f) = split(m, x);
    let k = m.from_int(&k);
    let zero = m.float(0.0);
    let (high, low) = sum(m, &zero, &zero, &f);
    let natural = m.fast_sum(&high, &low);
    let e = m.pair(&e);
    let (product, rest) = m.pair_product(&natural, &e);
    let a = m.times(two[0], &k);
    let (high, low) = m.fast_sum(&a, &product);
    let rest = m.times_plus(two[1], &k, &rest);
    let low = m.add(&low, &rest);
    let y = m.add(&high, &low);
    limits(m, x, &y)
}

/// `log₂ x`; exact at powers of two.
#[cfg_attr(optimized, inline(always))]
pub fn log2<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    other_base(m, x, [1.0, 0.0], A::NUMBERS.log2_e)
}

/// `log₁₀ x`.
#[cfg_attr(optimized, inline(always))]
pub fn log10<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    other_base(m, x, A::NUMBERS.log10_2, A::NUMBERS.log10_e)
}

/// `ln x` as a pair, with a relative error below `2^-(p + 10)` for precision `p`; for positive
/// finite `x`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn ln_pair<A: Machine>(m: &mut A, x: &A::F) -> Pair<A> {
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let (k, f) = split(m, x);
    let k = m.from_int(&k);
    let two = m.float(2.0);
    let zero = m.float(0.0);
    let d = m.fast_sum(&two, &f);
    let s = m.pair_quotient(&(f, zero), &d);
    let s = m.fast_sum(&s.0, &s.1);
    let w = m.pair_product(&s, &s);
    // 2 artanh s = 2 s + s (2/3 w + w² Q(w))
    let two_thirds = m.pair(&A::NUMBERS.two_thirds);
    let first = m.pair_product(&w, &two_thirds);
    let q = m.polynomial(&w.0, A::NUMBERS.ln_tail);
    let square = m.mul(&w.0, &w.0);
    let second = m.mul(&square, &q);
    let (high, low) = m.fast_sum(&first.0, &second);
    let low = m.add(&low, &first.1);
    let rest = m.pair_product(&s, &(high, low));
    let twice = (m.times(2.0, &s.0), m.times(2.0, &s.1));
    let log = m.pair_sum(&twice, &rest);
    let k_ln_2 = (m.times(ln_2, &k), m.times(ln_2_low, &k));
    m.pair_sum(&k_ln_2, &log)
}
