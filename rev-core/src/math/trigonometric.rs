//! Sine, cosine and tangent of any argument.
//!
//! `x = n π/2 + r` with `|r| ≤ π/4` and `r` as a pair. Up to 2³⁰ (2¹⁴ for `f32`) `n π/2` is subtracted
//! in three parts, the first difference being exact; larger arguments are multiplied by the binary
//! digits of `2/π` that matter (Payne and Hanek 1983), in integers. No `f64` is nearer than 2⁻⁶¹ to a
//! multiple of `π/2` (Muller, Elementary Functions, 11.3.2), and the integer product is good to 2⁻¹³⁷.

use super::machine::Machine;
use super::steps::{Pair, Steps};

/// `x = n π/2 + r`: the lowest bits of `n`, and `r`; NaN for infinite `x`.
#[cfg_attr(optimized, inline(always))]
fn reduce<A: Machine>(m: &mut A, x: &A::F) -> (A::I, Pair<A>) {
    let [high, middle, low] = A::NUMBERS.half_pi;
    let (n, _) = m.nearest_multiple(x, A::NUMBERS.two_over_pi);
    let a = m.times_plus(-high, &n, x);
    let middle = m.float(middle);
    let (product, error) = m.product(&n, &middle);
    let (r, rest) = difference(m, &a, &product);
    let rest = m.sub(&rest, &error);
    let rest = m.times_plus(-low, &n, &rest);
    let size = m.abs(x);
    let large = m.above(&size, A::NUMBERS.direct);
    let [n, r, rest] = m.rarely(&large, [n, r, rest], |m| payne_hanek(m, x));
    let magic = m.float(A::NUMBERS.magic);
    let n = m.add(&n, &magic);
    (m.to_bits(&n), m.fast_sum(&r, &rest))
}

/// `a - b` exactly.
#[cfg_attr(optimized, inline(always))]
fn difference<A: Machine>(m: &mut A, a: &A::F, b: &A::F) -> Pair<A> {
    let b = m.neg(b);
    m.sum(a, &b)
}

/// The same for large `x = ±M 2ᵉ`, `M` an integer: `M` times three words of `2/π`, the first of which
/// begins where the product has weight 2. `n mod 4` as a float, and `r`.
#[cfg_attr(optimized, inline(always))]
fn payne_hanek<A: Machine>(m: &mut A, x: &A::F) -> [A::F; 3] {
    let numbers = A::NUMBERS;
    let (width, mantissa) = (numbers.width, numbers.mantissa);
    let size = m.abs(x);
    let bits = m.to_bits(&size);
    let exponent = m.shr(&bits, mantissa);
    let offset = m.int(numbers.bias + i64::from(mantissa) + 2 - i64::from(width));
    let position = m.int_sub(&exponent, &offset);
    let position = m.at_least(&position, 0); // small arguments, whose result isn't used
    let index = m.shr(&position, width.trailing_zeros());
    let mask = m.int(i64::from(width) - 1);
    let shift = m.and(&position, &mask);
    let counter = m.int_sub(&mask, &shift);
    let mut index = index;
    let one = m.int(1);
    let mut word = m.lookup(numbers.two_over_pi_words, &index);
    let mut window = [word.clone(), word.clone(), word.clone()];
    for slot in &mut window {
        index = m.int_add(&index, &one);
        let next = m.lookup(numbers.two_over_pi_words, &index);
        let upper = m.shl_by(&word, &shift);
        let lower = m.shr(&next, 1);
        let lower = m.shr_by(&lower, &counter);
        *slot = m.or(&upper, &lower);
        word = next;
    }
    let [w0, w1, w2] = window;
    let implicit = m.int(1 << mantissa);
    let fraction = m.int((1 << mantissa) - 1);
    let integer = m.and(&bits, &fraction);
    let integer = m.or(&integer, &implicit);
    let top = m.int_mul(&integer, &w0);
    let carry_to_top = m.int_mul_high(&integer, &w1);
    let middle = m.int_mul(&integer, &w1);
    let carry_to_middle = m.int_mul_high(&integer, &w2);
    let middle = m.int_add(&middle, &carry_to_middle);
    let overflow = less_unsigned(m, &middle, &carry_to_middle);
    let zero = m.int(0);
    let carry = m.select_int(&overflow, &one, &zero);
    let top = m.int_add(&top, &carry_to_top);
    let top = m.int_add(&top, &carry);
    // two bits of n, rounded; the rest as a signed fraction of 2^(width - 2)
    let half = m.int(1 << (width - 3));
    let rounded = m.int_add(&top, &half);
    let n = m.shr(&rounded, width - 2);
    let fraction = m.shl(&top, 2);
    let fraction = m.sar(&fraction, 2);
    let turns = pieces(m, &fraction, &middle);
    let half_pi = m.pair(&numbers.half_pi);
    let (r, rest) = m.pair_product(&turns, &half_pi);
    // the signs of x; and NaN for an infinite one
    let not_finite = m.times(0.0, x);
    let r = m.add(&r, &not_finite);
    let n = m.from_int(&n);
    let sign = m.to_bits(x);
    let sign = m.shr(&sign, width - 1);
    [m.flip_sign(&n, &sign), m.flip_sign(&r, &sign), m.flip_sign(&rest, &sign)]
}

/// `a < b` as unsigned integers.
#[cfg_attr(optimized, inline(always))]
fn less_unsigned<A: Machine>(m: &mut A, a: &A::I, b: &A::I) -> A::M {
    let low = m.int(1);
    let sign = m.shl(&low, A::NUMBERS.width - 1);
    let a = m.xor(a, &sign);
    let b = m.xor(b, &sign);
    m.int_lt(&a, &b)
}

/// `top/2^(w-2) + low/2^(2w-2)` as a pair, `top` signed and `low` unsigned: the sum of four halves of
/// words, each of which is a float.
#[cfg_attr(optimized, inline(always))]
fn pieces<A: Machine>(m: &mut A, top: &A::I, low: &A::I) -> Pair<A> {
    let width = A::NUMBERS.width;
    let half = width / 2;
    let mask = m.int((1 << half) - 1);
    let upper = [m.sar(top, half), m.shr(low, half)];
    let lower = [m.and(top, &mask), m.and(low, &mask)];
    let unit = |bits: u32| 1.0 / (1u128 << bits) as f64;
    let mut float = |n: &A::I, weight: f64| {
        let n = m.from_int(n);
        m.times(weight, &n)
    };
    let a = float(&upper[0], unit(half - 2));
    let b = float(&lower[0], unit(width - 2));
    let c = float(&upper[1], unit(width + half - 2));
    let d = float(&lower[1], unit(2 * width - 2));
    let (high, rest) = m.sum(&a, &b);
    let low = m.add(&c, &d);
    let (rest, below) = m.sum(&rest, &low);
    let (high, rest) = m.sum(&high, &rest);
    let rest = m.add(&rest, &below);
    m.fast_sum(&high, &rest)
}

/// The sine and the cosine of `r`, each as a large part and a small one. The sign of a zero is lost.
#[cfg_attr(optimized, inline(always))]
fn kernels<A: Machine>(m: &mut A, (r, low): &Pair<A>) -> (Pair<A>, Pair<A>) {
    let z = m.mul(r, r);
    let half = m.times(0.5, r);
    // r + (r³ S(z) + low (1 - r²/2))
    let s = m.polynomial(&z, A::NUMBERS.sin);
    let cube = m.mul(&z, r);
    let slope = m.times(-0.5, &z);
    let rest = m.fma(&slope, low, low);
    let sine = m.fma(&cube, &s, &rest);
    // w = 1 - r²/2 rounded, and w + ((1 - w - r²/2) + z² C(z) - r low)
    let c = m.polynomial(&z, A::NUMBERS.cos);
    let one = m.float(1.0);
    let w = m.less_product(&one, &half, r);
    let rest = m.minus_from(1.0, &w);
    let rest = m.less_product(&rest, &half, r);
    let square = m.mul(&z, &z);
    let rest = m.fma(&square, &c, &rest);
    let cosine = m.less_product(&rest, r, low);
    ((r.clone(), sine), (w, cosine))
}

/// `sin x` and `cos x`, with one reduction.
#[cfg_attr(optimized, inline(always))]
pub fn sin_cos<A: Machine>(m: &mut A, x: &A::F) -> (A::F, A::F) {
    let (n, r) = reduce(m, x);
    let (s, c) = kernels(m, &r);
    let s = m.add(&s.0, &s.1);
    let c = m.add(&c.0, &c.1);
    let odd = m.odd(&n);
    let sine = m.select(&odd, &c, &s);
    let cosine = m.select(&odd, &s, &c);
    let half = m.shr(&n, 1);
    let sine = m.flip_sign(&sine, &half);
    let one = m.int(1);
    let next = m.int_add(&n, &one);
    let half = m.shr(&next, 1);
    let cosine = m.flip_sign(&cosine, &half);
    (m.keep_zero(x, &sine), cosine)
}

/// `sin x`.
#[cfg_attr(optimized, inline(always))]
pub fn sin<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let (n, r) = reduce(m, x);
    let (s, c) = kernels(m, &r);
    let odd = m.odd(&n);
    let high = m.select(&odd, &c.0, &s.0);
    let low = m.select(&odd, &c.1, &s.1);
    let y = m.add(&high, &low);
    let half = m.shr(&n, 1);
    let y = m.flip_sign(&y, &half);
    m.keep_zero(x, &y)
}

/// `cos x`.
#[cfg_attr(optimized, inline(always))]
pub fn cos<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let (n, r) = reduce(m, x);
    let (s, c) = kernels(m, &r);
    let odd = m.odd(&n);
    let high = m.select(&odd, &s.0, &c.0);
    let low = m.select(&odd, &s.1, &c.1);
    let y = m.add(&high, &low);
    let one = m.int(1);
    let next = m.int_add(&n, &one);
    let half = m.shr(&next, 1);
    m.flip_sign(&y, &half)
}

/// `tan x`: the quotient of sine and cosine, or of cosine and -sine.
#[cfg_attr(optimized, inline(always))]
pub fn tan<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let (n, r) = reduce(m, x);
    let (s, c) = kernels(m, &r);
    let s = m.fast_sum(&s.0, &s.1);
    let c = m.fast_sum(&c.0, &c.1);
    let odd = m.odd(&n);
    let over = (m.select(&odd, &c.0, &s.0), m.select(&odd, &c.1, &s.1));
    let under = (m.select(&odd, &s.0, &c.0), m.select(&odd, &s.1, &c.1));
    let (high, low) = m.pair_quotient(&over, &under);
    let y = m.add(&high, &low);
    let y = m.flip_sign(&y, &n);
    m.keep_zero(x, &y)
}
