//! The inverse hyperbolic functions: logarithms of sums with a root, or of a quotient, as pairs.

use super::logarithm::ln_pair;
use super::machine::Machine;
use super::steps::{Pair, Steps};

/// `ln(high + low)` for a positive finite sum whose low part is at most half an ulp, to nearly an ulp also where the sum is
/// next to 1: there the low part may be all that there is.
#[cfg_attr(optimized, inline(always))]
fn ln_sum<A: Machine>(m: &mut A, (high, low): &Pair<A>) -> Pair<A> {
    let (log, log_low) = ln_pair(m, high);
    let part = m.div(low, high);
    let square = m.mul(&part, &part);
    let part = m.times_plus(-0.5, &square, &part);
    (log, m.add(&log_low, &part))
}

/// The root of a pair as a pair, 0 of 0.
#[cfg_attr(optimized, inline(always))]
fn root<A: Machine>(m: &mut A, (high, low): &Pair<A>) -> Pair<A> {
    let r = m.sqrt(high);
    let rest = m.less_product(high, &r, &r);
    let rest = m.add(&rest, low);
    let twice = m.add(&r, &r);
    let correction = m.div(&rest, &twice);
    let correction = m.keep_zero(high, &correction);
    (r, correction)
}

/// `ln(x + √(x² + c))` for `c` of 1 or -1 and a positive finite `x`; from `2ᵏ` on, where `c` makes no difference, it is
/// `ln 2x`.
#[cfg_attr(optimized, inline(always))]
fn logarithm<A: Machine>(m: &mut A, x: &A::F, c: f64) -> A::F {
    let limit = (1u64 << (A::NUMBERS.mantissa / 2 + 6)) as f64;
    let large = m.above(x, limit);
    let near = m.replace(x, &large, 2.0);
    let (square, square_low) = m.product(&near, &near);
    let one = m.float(c);
    let (high, low) = m.sum(&square, &one);
    let low = m.add(&low, &square_low);
    let sum = m.fast_sum(&high, &low);
    let (r, r_low) = root(m, &sum);
    let (high, low) = m.sum(&near, &r);
    let low = m.add(&low, &r_low);
    let (high, low) = m.fast_sum(&high, &low);
    let high = m.select(&large, x, &high);
    let low = m.replace(&low, &large, 0.0);
    let (log, log_low) = ln_sum(m, &(high, low));
    let [ln_2, ln_2_low] = A::NUMBERS.ln_2;
    let (more, more_low) = (m.float(0.0), m.float(0.0));
    let (more, more_low) = (m.replace(&more, &large, ln_2), m.replace(&more_low, &large, ln_2_low));
    let (log, rest) = m.sum(&log, &more);
    let rest = m.add(&rest, &more_low);
    let rest = m.add(&rest, &log_low);
    m.add(&log, &rest)
}

/// `y` where `x` is finite, else `x`.
#[cfg_attr(optimized, inline(always))]
fn keep_infinite<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let finite = m.below(x, f64::INFINITY);
    m.select(&finite, y, x)
}

/// `asinh x = ln(|x| + √(x² + 1))` with the sign of `x`.
#[cfg_attr(optimized, inline(always))]
pub fn asinh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let y = logarithm(m, &size, 1.0);
    let y = keep_infinite(m, &size, &y);
    // x - x³/6 isn't told from x
    let tiny = m.below(&size, 1.0 / (1u64 << (A::NUMBERS.mantissa / 2 + 2)) as f64);
    let y = m.select(&tiny, &size, &y);
    m.copysign(&y, x)
}

/// `acosh x = ln(x + √(x² - 1))`.
#[cfg_attr(optimized, inline(always))]
pub fn acosh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let y = logarithm(m, x, -1.0);
    let y = keep_infinite(m, x, &y);
    let outside = m.below(x, 1.0);
    m.replace(&y, &outside, f64::NAN)
}

/// `atanh x = ½ ln((1 + |x|)/(1 - |x|))` with the sign of `x`.
#[cfg_attr(optimized, inline(always))]
pub fn atanh<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let one = m.float(1.0);
    let minus = m.neg(&size);
    let (over, under) = (m.sum(&one, &size), m.sum(&one, &minus));
    let (high, low) = m.pair_quotient(&over, &under);
    let quotient = m.fast_sum(&high, &low);
    let (log, low) = ln_sum(m, &quotient);
    let y = m.add(&log, &low);
    let y = m.times(0.5, &y);
    // x + x³/3 isn't told from x
    let tiny = m.below(&size, 1.0 / (1u64 << (A::NUMBERS.mantissa / 2 + 2)) as f64);
    let y = m.select(&tiny, &size, &y);
    let end = m.equals(&size, 1.0);
    let y = m.replace(&y, &end, f64::INFINITY);
    let inside = m.le(&size, &one);
    let outside = m.not(&inside);
    let y = m.replace(&y, &outside, f64::NAN);
    m.copysign(&y, x)
}
