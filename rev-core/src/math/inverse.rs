//! Inverse trigonometric functions.
//!
//! The inverse tangent of a quotient `n/d ≥ 0` is `c + atan t` with `|t| ≤ tan π/8`, where `c` is 0,
//! `π/4` or `π/2` and `t` is `n/d`, `(n - d)/(n + d)` or `-d/n`: one division. The inverse sine up to
//! 1/2 is a polynomial, and beyond it `π/2 - 2 asin √((1 - x)/2)` (as in the FreeBSD library of Ng 1992).

use super::machine::Machine;
use super::steps::{Pair, Steps};

/// `atan(n/d)` as a sum and what it leaves, for `n` and `d` not negative and not both 0, whose sum
/// doesn't overflow and whose inverses aren't subnormal.
#[cfg_attr(optimized, inline(always))]
fn atan_quotient<A: Machine>(m: &mut A, n: &A::F, d: &A::F) -> Pair<A> {
    let [half_pi, half_pi_low, _] = A::NUMBERS.half_pi;
    let tan_pi_8 = A::NUMBERS.tan_pi_8;
    let n_low = m.times(tan_pi_8, n);
    let d_low = m.times(tan_pi_8, d);
    let small = m.lt(n, &d_low);
    let large = m.lt(d, &n_low);
    let zero = m.float(0.0);
    let minus_d = m.neg(d);
    let difference = m.sum(n, &minus_d);
    let total = m.sum(n, d);
    let choose = |m: &mut A, first: &A::F, middle: &A::F, last: &A::F| {
        let other = m.select(&large, last, middle);
        m.select(&small, first, &other)
    };
    let over = (choose(m, n, &difference.0, &minus_d), choose(m, &zero, &difference.1, &zero));
    let under = (choose(m, d, &total.0, n), choose(m, &zero, &total.1, &zero));
    let (t, low) = m.pair_quotient(&over, &under);
    let z = m.mul(&t, &t);
    let p = m.polynomial(&z, A::NUMBERS.atan);
    let cube = m.mul(&z, &t);
    // atan'(t) = 1/(1 + t²), of which one digit counts here
    let slope = m.times(-0.85, &z);
    let low = m.fma(&slope, &low, &low);
    let rest = m.fma(&cube, &p, &low);
    let quarter = m.float(0.5 * half_pi);
    let quarter_low = m.float(0.5 * half_pi_low);
    let whole = m.float(half_pi);
    let whole_low = m.float(half_pi_low);
    let c = choose(m, &zero, &quarter, &whole);
    let c_low = choose(m, &zero, &quarter_low, &whole_low);
    let (high, low) = m.fast_sum(&c, &t);
    let rest = m.add(&rest, &c_low);
    let low = m.add(&low, &rest);
    (high, low)
}

/// `atan x`.
#[cfg_attr(optimized, inline(always))]
pub fn atan<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    // beyond 2^(p + 6) the angle doesn't change, and 1/n would be subnormal
    let limit = (1u64 << (A::NUMBERS.mantissa + 7)) as f64;
    let over = m.above(&size, limit);
    let size = m.replace(&size, &over, limit);
    let one = m.float(1.0);
    let (high, low) = atan_quotient(m, &size, &one);
    let y = m.add(&high, &low);
    m.copysign(&y, x)
}

/// A power of two `s` for which `s a` is between 1/2 and 4, and `1/s`; for subnormal `a` and 0 the
/// largest.
#[cfg_attr(optimized, inline(always))]
pub(super) fn normal_scale<A: Machine>(m: &mut A, a: &A::F) -> Pair<A> {
    let numbers = A::NUMBERS;
    let bits = m.to_bits(a);
    let exponent = m.shr(&bits, numbers.mantissa);
    let exponent = m.at_most(&exponent, 2 * numbers.bias - 1);
    let exponent = m.at_least(&exponent, 1);
    let twice = m.int(2 * numbers.bias);
    let inverse = m.int_sub(&twice, &exponent);
    let down = m.shl(&inverse, numbers.mantissa);
    let up = m.shl(&exponent, numbers.mantissa);
    (m.from_bits(&down), m.from_bits(&up))
}

/// The larger and the smaller of two sizes times a power of two, so that a quotient of theirs can be formed:
/// 1 and 0 or 1 where one is infinite, 0 and 1 where both are 0, NaN where one is.
#[cfg_attr(optimized, inline(always))]
fn moderate<A: Machine>(m: &mut A, larger: &A::F, smaller: &A::F) -> [A::F; 2] {
    let (scale, _) = normal_scale(m, larger);
    let large = m.mul(larger, &scale);
    let small = m.mul(smaller, &scale);
    // subnormals are moved up once more, so that no inverse is too large
    let tiny = m.below(larger, A::NUMBERS.smallest_normal);
    let shift = (1u64 << (A::NUMBERS.mantissa + 1)) as f64;
    let large_up = m.times(shift, &large);
    let small_up = m.times(shift, &small);
    let large = m.select(&tiny, &large_up, &large);
    let small = m.select(&tiny, &small_up, &small);
    let infinite = m.equals(larger, f64::INFINITY);
    let both = m.equals(smaller, f64::INFINITY);
    let none = m.equals(larger, 0.0);
    let unit = m.either(&infinite, &none);
    let large = m.replace(&large, &unit, 1.0);
    let small = m.replace(&small, &infinite, 0.0);
    let small = m.replace(&small, &both, 1.0);
    let nan_larger = m.is_nan(larger);
    let nan_smaller = m.is_nan(smaller);
    let nan = m.either(&nan_larger, &nan_smaller);
    [large, m.replace(&small, &nan, f64::NAN)]
}

/// The angle of the point `(x, y)`, in `[-π, π]`; the sign of a zero `x` or `y` counts (C99 F.9.1.4). A
/// coordinate that is 0, very large or very small is the rare case.
#[cfg_attr(optimized, inline(always))]
pub fn atan2<A: Machine>(m: &mut A, y: &A::F, x: &A::F) -> A::F {
    let [half_pi, half_pi_low, _] = A::NUMBERS.half_pi;
    let ax = m.abs(x);
    let ay = m.abs(y);
    let y_larger = m.lt(&ax, &ay);
    let larger = m.select(&y_larger, &ay, &ax);
    let smaller = m.select(&y_larger, &ax, &ay);
    // quotients and what they leave are normal numbers then, and a power of two makes no difference
    let usual = m.is_moderate(&smaller, &larger);
    let other = m.not(&usual);
    let [larger, smaller] =
        m.rarely(&other, [larger.clone(), smaller.clone()], |m| moderate(m, &larger, &smaller));
    let n = m.select(&y_larger, &larger, &smaller);
    let d = m.select(&y_larger, &smaller, &larger);
    let (high, low) = atan_quotient(m, &n, &d);
    // in the left half plane π less the angle
    let sign = m.to_bits(x);
    let zero_bits = m.int(0);
    let left = m.int_lt(&sign, &zero_bits);
    let minus = m.neg(&high);
    let pi = m.float(2.0 * half_pi);
    let (left_high, left_low) = m.fast_sum(&pi, &minus);
    let left_low = m.sub(&left_low, &low);
    let left_low = m.plus(&left_low, 2.0 * half_pi_low);
    let high = m.select(&left, &left_high, &high);
    let low = m.select(&left, &left_low, &low);
    let angle = m.add(&high, &low);
    m.copysign(&angle, y)
}

/// The parts of the inverse sine of `|x|`: whether `|x| > 1/2`, then `s`, which is `|x|` or
/// `√((1 - |x|)/2)`, and `asin s - s`.
#[cfg_attr(optimized, inline(always))]
fn asin_parts<A: Machine>(m: &mut A, x: &A::F) -> (A::M, A::F, A::F) {
    let size = m.abs(x);
    let large = m.above(&size, 0.5);
    let square = m.mul(&size, &size);
    let half = m.times(0.5, &size);
    let rest = m.minus_from(0.5, &half);
    let z = m.select(&large, &rest, &square);
    let root = m.sqrt(&rest);
    let s = m.select(&large, &root, &size);
    let p = m.polynomial(&z, A::NUMBERS.asin);
    let cube = m.mul(&s, &z);
    let p = m.mul(&cube, &p);
    (large, s, p)
}

/// `asin x`; NaN beyond ±1.
#[cfg_attr(optimized, inline(always))]
pub fn asin<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [half_pi, half_pi_low, _] = A::NUMBERS.half_pi;
    let (large, s, p) = asin_parts(m, x);
    let near = m.add(&s, &p);
    let minus = m.times(-2.0, &s);
    let half_pi = m.float(half_pi);
    let (high, low) = m.fast_sum(&half_pi, &minus);
    let low = m.plus(&low, half_pi_low);
    let low = m.times_plus(-2.0, &p, &low);
    let far = m.add(&high, &low);
    let y = m.select(&large, &far, &near);
    m.copysign(&y, x)
}

/// `acos x`; NaN beyond ±1: `π/2 - asin x` up to 1/2, and beyond it `2 asin s` or `π - 2 asin s`.
#[cfg_attr(optimized, inline(always))]
pub fn acos<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let [half_pi, half_pi_low, _] = A::NUMBERS.half_pi;
    let (large, s, p) = asin_parts(m, x);
    let one = m.float(1.0);
    let sign = m.copysign(&one, x);
    let minus_sign = m.neg(&sign);
    let twice = m.times(2.0, &sign);
    let factor = m.select(&large, &twice, &minus_sign);
    let main = m.mul(&factor, &s);
    let rest = m.mul(&factor, &p);
    // the base: 0, π/2 or π
    let negative = m.below(x, 0.0);
    let zero = m.float(0.0);
    let pi = m.float(2.0 * half_pi);
    let pi_low = m.float(2.0 * half_pi_low);
    let far = m.select(&negative, &pi, &zero);
    let far_low = m.select(&negative, &pi_low, &zero);
    let half_pi = m.float(half_pi);
    let half_pi_low = m.float(half_pi_low);
    let base = m.select(&large, &far, &half_pi);
    let base_low = m.select(&large, &far_low, &half_pi_low);
    let (high, low) = m.fast_sum(&base, &main);
    let low = m.add(&low, &base_low);
    let low = m.add(&low, &rest);
    m.add(&high, &low)
}
