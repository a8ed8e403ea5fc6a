//! Arithmetic on the bits of fixed-point numbers of any format.
//!
//! Bits are held as an `i128` whatever the format; who keeps a result keeps its lower bits. Of formats of up to 64 bits an
//! `i128` holds all products and dividends; those of 128 bits have 256, in two halves.

use crate::ir::FixedFormat;

/// The largest number of a format.
#[cfg_attr(optimized, inline(always))]
pub fn most(of: FixedFormat) -> i128 {
    i128::MAX.checked_shr(128 - of.bits()).unwrap_or(0)
}

/// The smallest number of a format.
#[cfg_attr(optimized, inline(always))]
pub fn least(of: FixedFormat) -> i128 {
    !most(of)
}

/// One.
#[cfg_attr(optimized, inline(always))]
pub fn one(of: FixedFormat) -> i128 {
    1 << of.fraction()
}

/// What is behind the point, all set.
#[cfg_attr(optimized, inline(always))]
pub fn below_one(of: FixedFormat) -> i128 {
    one(of) - 1
}

#[cfg_attr(optimized, inline(always))]
fn half(of: FixedFormat) -> i128 {
    one(of) >> 1
}

/// The bits of a number of the format: the lower ones, the first of them the sign. Of no format there are none.
#[cfg_attr(optimized, inline(always))]
pub fn wrapped(bits: i128, of: FixedFormat) -> i128 {
    match of.bits() {
        32 => (bits as i32).into(),
        64 => (bits as i64).into(),
        128 => bits,
        _ => 0,
    }
}

/// The end of the range where a number is out of it.
#[cfg_attr(optimized, inline(always))]
pub fn saturated(bits: i128, of: FixedFormat) -> i128 {
    bits.clamp(least(of), most(of))
}

/// The product, rounded to nearest, halves up.
#[cfg_attr(optimized, inline(always))]
pub fn times(a: i128, b: i128, of: FixedFormat) -> i128 {
    if of.bits() == 128 {
        let (high, low) = product(a, b);
        return shifted_right(added(high, low, half(of)), of.fraction());
    }
    (a * b + half(of)) >> of.fraction()
}

/// The product where it is a number of the format, and `k` isn't 0.
pub fn times_exact(a: i128, k: i128, of: FixedFormat) -> Option<i128> {
    let (high, low) = product(a, k);
    let found = shifted_right((high, low), of.fraction());
    let lost = low & below_one(of) as u128;
    // what is left above the result's bits is its sign
    let fits = high >> of.fraction() == found >> 127 && saturated(found, of) == found;
    (k != 0 && lost == 0 && fits).then_some(found)
}

/// `n/d` rounded to nearest (halves up), saturating; 0 for 0/0, an end of the range for another number over 0.
#[cfg_attr(optimized, inline(always))]
pub fn over(n: i128, d: i128, of: FixedFormat) -> i128 {
    if d == 0 {
        return match n.signum() {
            0 => 0,
            1 => most(of),
            _ => least(of),
        };
    }
    match of.bits() {
        128 => wide_over(n, d, of),
        32 => {
            let (n, d) = if d < 0 { (-n as i64, -d as i64) } else { (n as i64, d as i64) };
            saturated(((n << (of.fraction() + 1)) + d).div_euclid(2 * d).into(), of)
        }
        _ => {
            let (n, d) = if d < 0 { (-n, -d) } else { (n, d) };
            saturated(((n << (of.fraction() + 1)) + d).div_euclid(2 * d), of)
        }
    }
}

#[inline(never)]
fn wide_over(n: i128, d: i128, of: FixedFormat) -> i128 {
    let (negative, e) = ((n < 0) != (d < 0), d.unsigned_abs());
    let Some((q, rest)) = divided(n.unsigned_abs(), e, of.fraction()) else {
        return if negative { i128::MIN } else { i128::MAX };
    };
    // halves go up: away from zero above it, towards it below
    let left = e - rest;
    let up = if negative { rest > left } else { rest >= left };
    match (negative, q.saturating_add(up.into())) {
        (false, q) => i128::try_from(q).unwrap_or(i128::MAX),
        (true, q) => 0i128.checked_sub_unsigned(q).unwrap_or(i128::MIN),
    }
}

/// The quotient where it is a number of the format.
pub fn over_exact(n: i128, d: i128, of: FixedFormat) -> Option<i128> {
    if d == 0 {
        return None;
    }
    let (q, rest) = divided(n.unsigned_abs(), d.unsigned_abs(), of.fraction())?;
    let q = match (n < 0) != (d < 0) {
        false => i128::try_from(q).ok()?,
        true => 0i128.checked_sub_unsigned(q)?,
    };
    (rest == 0 && saturated(q, of) == q).then_some(q)
}

/// The square root of a number of 128 bits, rounded to nearest; that of a negative one is 0.
pub fn root(x: i128, of: FixedFormat) -> i128 {
    let (Ok(m), true) = (u128::try_from(x), x > 0) else { return 0 };
    // from above, Newton's steps go down to the root's integer part
    let near = (to_f64(x, of).sqrt() * (1.0 + 1e-15) * scale(of)) as u128;
    let mut r = near.saturating_add(1).min(1 << 127);
    while let Some((q, _)) = divided(m, r, of.fraction()) {
        // both are below 2¹²⁸, and so is their mean
        let next = (r & q) + ((r ^ q) >> 1);
        if next >= r {
            break;
        }
        r = next;
    }
    // what is left of x is at most 2r: a half isn't possible
    let left = (m << of.fraction()).wrapping_sub(r.wrapping_mul(r));
    (r + u128::from(left > r)) as i128
}

/// `2^fraction`.
#[cfg_attr(optimized, inline(always))]
fn scale(of: FixedFormat) -> f64 {
    f64::from_bits(u64::from(1023 + of.fraction()) << 52)
}

/// `2^-fraction`.
#[cfg_attr(optimized, inline(always))]
pub fn resolution(of: FixedFormat) -> f64 {
    f64::from_bits(u64::from(1023 - of.fraction()) << 52)
}

/// The nearest `f64`.
#[cfg_attr(optimized, inline(always))]
pub fn to_f64(bits: i128, of: FixedFormat) -> f64 {
    let whole = if of.bits() == 128 { bits as f64 } else { bits as i64 as f64 };
    whole * resolution(of)
}

/// The nearest `f32`, rounded once.
#[cfg_attr(optimized, inline(always))]
pub fn to_f32(bits: i128, of: FixedFormat) -> f32 {
    let whole = if of.bits() == 128 { bits as f32 } else { bits as i64 as f32 };
    whole * resolution(of) as f32
}

/// The nearest number, ties to even; NaN becomes 0 and what is out of range the end of the range.
#[cfg_attr(optimized, inline(always))]
pub fn from_f64(v: f64, of: FixedFormat) -> i128 {
    let whole = (v * scale(of)).round_ties_even();
    match of.bits() {
        32 => (whole as i32).into(),
        64 => (whole as i64).into(),
        _ => whole as i128,
    }
}

/// An integer, saturating.
#[cfg_attr(optimized, inline(always))]
pub fn from_integer(v: i128, of: FixedFormat) -> i128 {
    if v > most(of) >> of.fraction() {
        most(of)
    } else if v < least(of) >> of.fraction() {
        least(of)
    } else {
        v << of.fraction()
    }
}

/// The integer part, cut off towards zero.
#[cfg_attr(optimized, inline(always))]
pub fn to_integer(bits: i128, of: FixedFormat) -> i128 {
    (if bits < 0 { bits + below_one(of) } else { bits }) >> of.fraction()
}

/// The number of one format in another: rounded to nearest, halves up, saturating.
#[inline]
pub fn converted(bits: i128, from: FixedFormat, to: FixedFormat) -> i128 {
    if to.fraction() < from.fraction() {
        let less = from.fraction() - to.fraction();
        return saturated((bits >> less) + (bits >> (less - 1) & 1), to);
    }
    let more = to.fraction() - from.fraction();
    if bits > most(to) >> more {
        most(to)
    } else if bits < least(to) >> more {
        least(to)
    } else {
        bits << more
    }
}

/// π, cut off.
#[inline]
pub fn pi(of: FixedFormat) -> i128 {
    // with 126 bits behind the point, as the crate `fixed` has it
    let bits = fixed::consts::PI.to_bits() >> (126 - of.fraction());
    bits.min(most(of) as u128) as i128
}

/// The 256 bits of a product: the upper half signed.
fn product(a: i128, b: i128) -> (i128, u128) {
    let (m, n) = (a.unsigned_abs(), b.unsigned_abs());
    let part = |x: u128, high: bool| if high { x >> 64 } else { x & u128::from(u64::MAX) };
    let [low, cross, other, high] =
        [(false, false), (true, false), (false, true), (true, true)].map(|(i, j)| part(m, i) * part(n, j));
    let middle = (low >> 64) + part(cross, false) + part(other, false);
    let low = middle << 64 | part(low, false);
    let high = high + part(cross, true) + part(other, true) + (middle >> 64);
    match (a < 0) == (b < 0) {
        true => (high as i128, low),
        false => ((!high).wrapping_add(u128::from(low == 0)) as i128, low.wrapping_neg()),
    }
}

/// The sum of 256 bits and a number that isn't negative.
fn added(high: i128, low: u128, more: i128) -> (i128, u128) {
    let (low, carry) = low.overflowing_add(more as u128);
    (high + i128::from(carry), low)
}

/// The lower 128 bits of 256 bits shifted right by less than 128.
fn shifted_right((high, low): (i128, u128), by: u32) -> i128 {
    match by {
        0 => low as i128,
        _ => (low >> by | (high as u128) << (128 - by)) as i128,
    }
}

/// `m · 2^fraction` over `d`, and what is left, in units of `2^-fraction`; `None` where the quotient has more than 128 bits. `m` is
/// at most 2¹²⁷, as `d` is, which isn't 0.
fn divided(m: u128, d: u128, fraction: u32) -> Option<(u128, u128)> {
    let (mut q, mut rest, mut more) = (m / d, m % d, fraction);
    while more > 0 {
        // as many bits as fit: at least one, as what is left is below 2¹²⁷
        let by = if rest == 0 { more } else { rest.leading_zeros().min(more) };
        if q.leading_zeros() < by {
            return None;
        }
        let next = rest << by;
        (q, rest) = ((q << by) | (next / d), next % d);
        more -= by;
    }
    Some((q, rest))
}
