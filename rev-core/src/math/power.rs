//! Powers, the hypotenuse and the cube root.

use super::doubled::{either, reciprocal};
use super::exponential::exp_pair;
use super::inverse::normal_scale;
use super::logarithm::ln_pair;
use super::machine::{Convert, Machine};
use super::steps::Steps;

/// `√(x² + y²)`; infinite where either is, even beside NaN. Where the larger is very large or very small, which is
/// the rare case, both are scaled by a power of two.
#[cfg_attr(optimized, inline(always))]
pub fn hypot<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let x = m.abs(x);
    let y = m.abs(y);
    let swap = m.lt(&x, &y);
    let large = m.select(&swap, &y, &x);
    let small = m.select(&swap, &x, &y);
    let length = root_of_squares(m, &large, &small);
    let usual = m.is_moderate(&large, &large);
    let other = m.not(&usual);
    let [length] = m.rarely(&other, [length], |m| {
        let (down, up) = normal_scale(m, &large);
        let large = m.mul(&large, &down);
        let small = m.mul(&small, &down);
        let root = root_of_squares(m, &large, &small);
        let y_infinite = m.equals(&y, f64::INFINITY);
        let x_infinite = m.equals(&x, f64::INFINITY);
        let infinite = m.either(&x_infinite, &y_infinite);
        let length = m.mul(&root, &up);
        [m.replace(&length, &infinite, f64::INFINITY)]
    });
    length
}

/// `√(a² + b²)`, `a²` exactly.
#[cfg_attr(optimized, inline(always))]
fn root_of_squares<A: Machine>(m: &mut A, a: &A::F, b: &A::F) -> A::F {
    let square = m.mul(b, b);
    let square = m.fma(a, a, &square);
    m.sqrt(&square)
}

/// `∛x`: a third of the exponent, two steps of Halley's method, and one of Newton's with what is left over exactly. Where
/// the cube isn't far from the ends of the range, which is the rare case, `x` is scaled by a power of eight.
#[cfg_attr(optimized, inline(always))]
pub fn cbrt<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    let size = m.abs(x);
    let usual = m.is_moderate(&size, &size);
    let other = m.not(&usual);
    let y = moderate_cbrt(m, &size);
    let [y] = m.rarely(&other, [y], |m| {
        let third = A::NUMBERS.bias / 6;
        let power = |n: i64| f64::from_bits(((1023 + n) as u64) << 52);
        let large = m.above(&size, 1.0);
        let (up, down) = (m.float(power(3 * third)), m.float(power(-third)));
        let (scale, back) =
            (m.replace(&up, &large, power(-3 * third)), m.replace(&down, &large, power(third)));
        let scaled = m.mul(&size, &scale);
        let y = moderate_cbrt(m, &scaled);
        let y = m.mul(&y, &back);
        let finite = m.below(&size, f64::INFINITY);
        let y = m.select(&finite, &y, &size);
        [m.keep_zero(&size, &y)]
    });
    m.copysign(&y, x)
}

/// `∛x` of a positive number whose square and inverse square are normal numbers.
#[cfg_attr(optimized, inline(always))]
fn moderate_cbrt<A: Machine>(m: &mut A, x: &A::F) -> A::F {
    // a third of the encoding, and two thirds of that of 1 less what makes the error smallest
    let numbers = A::NUMBERS;
    let third = m.int(if numbers.width == 64 { 0x5555_5555_5555_5555 } else { 0x5555_5555 });
    let bits = m.to_bits(x);
    let bits = m.int_mul_high(&bits, &third);
    let unit = (1i64 << numbers.mantissa) as f64;
    let offset = m.int(((2.0 / 3.0 * numbers.bias as f64 - 0.0331) * unit) as i64);
    let bits = m.int_add(&bits, &offset);
    let mut t = m.from_bits(&bits);
    for _ in 0..2 {
        let square = m.mul(&t, &t);
        let cube = m.mul(&square, &t);
        let rest = m.sub(x, &cube);
        let under = m.times_plus(2.0, &cube, x);
        let part = m.div(&rest, &under);
        t = m.fma(&t, &part, &t);
    }
    let (square, square_low) = m.product(&t, &t);
    let (cube, cube_low) = m.product(&square, &t);
    let cube_low = m.fma(&square_low, &t, &cube_low);
    let rest = m.sub(x, &cube);
    let rest = m.sub(&rest, &cube_low);
    let slope = m.times(3.0, &square);
    let step = m.div(&rest, &slope);
    m.add(&t, &step)
}

/// `y` is an integer; it is an odd one. Infinities and what is beyond the precision are even.
#[cfg_attr(optimized, inline(always))]
fn parity<A: Machine>(m: &mut A, y: &A::F) -> (A::M, A::M) {
    let numbers = A::NUMBERS;
    let limit = (1u64 << numbers.mantissa) as f64;
    let size = m.abs(y);
    let shifted = m.plus(&size, limit);
    let rounded = m.plus(&shifted, -limit);
    let same = m.eq(&rounded, &size);
    let bits = m.to_bits(&shifted);
    let odd = m.odd(&bits);
    let odd = m.both(&same, &odd);
    // from 2^mantissa on the lowest bit of y itself is the one that counts, up to twice that
    let fractional = m.below(&size, limit);
    let own = m.to_bits(&size);
    let own_odd = m.odd(&own);
    let in_range = m.below(&size, 2.0 * limit);
    let own_odd = m.both(&in_range, &own_odd);
    let not_fractional = m.not(&fractional);
    let own_odd = m.both(&not_fractional, &own_odd);
    let odd = m.both(&fractional, &odd);
    let integer = m.either(&same, &not_fractional);
    let odd = m.either(&odd, &own_odd);
    (integer, odd)
}

/// `xʸ = e^(y ln |x|)` with the logarithm and the product as pairs, and the sign of an odd power of a
/// negative number. Special values as in C99 F.9.4.4: `x⁰ = 1ʸ = 1` even for NaN, `(-1)^±∞ = 1`, NaN
/// for a negative finite `x` and a `y` that isn't an integer.
#[cfg_attr(optimized, inline(always))]
pub fn powf<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let size = m.abs(x);
    let log = ln_pair(m, &size);
    let zero_base = m.equals(&size, 0.0);
    let infinite_base = m.equals(&size, f64::INFINITY);
    let log_high = m.replace(&log.0, &zero_base, f64::NEG_INFINITY);
    let log_high = m.replace(&log_high, &infinite_base, f64::INFINITY);
    let (high, low) = m.product(y, &log_high);
    let low = m.fma(y, &log.1, &low);
    let power = exp_pair(m, &(high, low));
    let one_base = m.equals(&size, 1.0);
    let power = m.replace(&power, &one_base, 1.0);
    let (integer, odd) = parity(m, y);
    let zero = m.int(0);
    let bits = m.to_bits(x);
    let negative_bit = m.int_lt(&bits, &zero);
    let minus = m.neg(&power);
    let turned = m.both(&negative_bit, &odd);
    let power = m.select(&turned, &minus, &power);
    let negative = m.below(x, 0.0);
    let finite = m.not(&infinite_base);
    let fraction = m.not(&integer);
    let undefined = m.both(&negative, &fraction);
    let undefined = m.both(&undefined, &finite);
    let nan_x = m.is_nan(x);
    let nan_y = m.is_nan(y);
    let nan = m.either(&nan_x, &nan_y);
    let undefined = m.either(&undefined, &nan);
    let power = m.replace(&power, &undefined, f64::NAN);
    let zeroth = m.equals(y, 0.0);
    let one = m.equals(x, 1.0);
    let unit = m.either(&zeroth, &one);
    m.replace(&power, &unit, 1.0)
}

/// Up to this size of `n`, `xⁿ` is a product of pairs, in bits of `n` below this many.
const PRODUCT_BITS: u32 = 6;

/// The highest bit set in the size of a nonzero `n`.
#[cfg_attr(optimized, inline(always))]
fn top_bit(n: i32) -> u32 {
    31 - n.unsigned_abs().leading_zeros()
}

/// `xⁿ` for `-2 ≤ n ≤ 3` by multiplication, of `1/x` for a negative `n`; `None` for other `n`.
#[cfg_attr(optimized, inline(always))]
fn small_known_power<A: Machine>(m: &mut A, x: &A::F, n: i32) -> Option<A::F> {
    let one = m.float(1.0);
    let base = if n < 0 { m.div(&one, x) } else { x.clone() };
    match n {
        0 => Some(one),
        1 | -1 => Some(base),
        2 | -2 => Some(m.mul(&base, &base)),
        3 => {
            let square = m.mul(x, x);
            Some(m.mul(&square, x))
        }
        _ => None,
    }
}

/// `xⁿ` for an `n` that is known when the function is written down: by multiplication from -2 to 3, of
/// pairs up to ±63 (`1/x` being a pair too), with [`powf`] beyond and where a product leaves the range.
/// On 64-bit machines; the same bits as [`powi`].
#[cfg_attr(optimized, inline(always))]
pub fn known_power<A: Machine>(m: &mut A, x: &A::F, n: i32) -> A::F {
    if let Some(power) = small_known_power(m, x, n) {
        return power;
    }
    let y = m.float(f64::from(n));
    if top_bit(n) >= PRODUCT_BITS {
        return powf(m, x, &y);
    }
    let base = (x.clone(), m.float(0.0));
    let base = if n < 0 { reciprocal(m, &base) } else { base };
    let mut power = base.clone();
    for bit in (0..top_bit(n)).rev() {
        power = m.pair_product(&power, &power);
        if n.unsigned_abs() >> bit & 1 == 1 {
            power = m.pair_product(&power, &base);
        }
    }
    let outside = outside(m, &power.0);
    let product = m.add(&power.0, &power.1);
    let [power] = m.rarely(&outside, [product], |m| [powf(m, x, &y)]);
    power
}

/// A product of pairs isn't to be trusted: too near to overflow and underflow, or NaN.
#[cfg_attr(optimized, inline(always))]
fn outside<A: Machine>(m: &mut A, product: &A::F) -> A::M {
    let size = m.abs(product);
    let above = m.above(&size, 1e-280);
    let below = m.below(&size, 1e300);
    let inside = m.both(&above, &below);
    m.not(&inside)
}

/// An integer's size, and whether it is negative.
#[cfg_attr(optimized, inline(always))]
fn magnitude<A: Machine>(m: &mut A, n: &A::I) -> (A::I, A::M) {
    let zero = m.int(0);
    let negative = m.int_lt(n, &zero);
    let minus = m.int_sub(&zero, n);
    (m.select_int(&negative, &minus, n), negative)
}

/// A bit of an integer is set.
#[cfg_attr(optimized, inline(always))]
fn bit<A: Machine>(m: &mut A, n: &A::I, bit: u32) -> A::M {
    let shifted = m.shr(n, bit);
    m.odd(&shifted)
}

/// `xⁿ` for `-2 ≤ n ≤ 3` by multiplication, of `1/x` for a negative `n`; anything for other `n`.
#[cfg_attr(optimized, inline(always))]
pub fn small_power<A: Machine>(m: &mut A, x: &A::F, n: &A::I) -> A::F {
    let one = m.float(1.0);
    let inverse = m.div(&one, x);
    let (size, negative) = magnitude(m, n);
    let base = m.select(&negative, &inverse, x);
    let square = m.mul(&base, &base);
    let mut power = m.mul(&square, &base);
    for (count, lower) in [(2, &square), (1, &base), (0, &one)] {
        let count = m.int(count);
        let here = m.int_eq(&size, &count);
        power = m.select(&here, lower, &power);
    }
    power
}

/// `xⁿ`: [`small_power`] from -2 to 3, products of pairs up to ±63, [`powf`] beyond. On 64-bit
/// machines; `n` is an `i32`.
#[cfg_attr(optimized, inline(always))]
pub fn powi<A: Machine>(m: &mut A, x: &A::F, n: &A::I) -> A::F {
    let small = small_power(m, x, n);
    let (size, negative) = magnitude(m, n);
    let base = (x.clone(), m.float(0.0));
    let inverse = reciprocal(m, &base);
    let base = either(m, &negative, &inverse, &base);
    let mut power = (m.float(1.0), m.float(0.0));
    for i in (0..PRODUCT_BITS).rev() {
        power = m.pair_product(&power, &power);
        let longer = m.pair_product(&power, &base);
        let set = bit(m, &size, i);
        power = either(m, &set, &longer, &power);
    }
    let product = m.add(&power.0, &power.1);
    let y = m.from_int(n);
    let distance = m.plus(&y, -0.5);
    let distance = m.abs(&distance);
    let near = m.below(&distance, 3.0);
    let large = far(m, &size);
    let outside = outside(m, &power.0);
    let other = m.either(&large, &outside);
    let not_near = m.not(&near);
    let other = m.both(&other, &not_near);
    let power = m.select(&near, &small, &product);
    let [power] = m.rarely(&other, [power], |m| [powf(m, x, &y)]);
    power
}

/// The size of an exponent is beyond what products are for.
#[cfg_attr(optimized, inline(always))]
fn far<A: Machine>(m: &mut A, size: &A::I) -> A::M {
    let most = m.int((1 << PRODUCT_BITS) - 1);
    // the size of the least `i32` is positive on a 64-bit machine
    m.int_lt(&most, size)
}

/// `xⁿ` for `f32`, an `n` that is known when the function is written down and isn't from -2 to 3: in
/// `f64`, by multiplication up to ±63, where the product's error is nothing and its range is enough.
#[cfg_attr(optimized, inline(always))]
pub fn large_known_power_single<A: Convert>(m: &mut A, x: &A::Narrow, n: i32) -> A::Narrow {
    let x = m.widen(x);
    let power = if top_bit(n) >= PRODUCT_BITS {
        let y = m.float(f64::from(n));
        powf(m, &x, &y)
    } else {
        let one = m.float(1.0);
        let base = if n < 0 { m.div(&one, &x) } else { x };
        let mut power = base.clone();
        for bit in (0..top_bit(n)).rev() {
            power = m.mul(&power, &power);
            if n.unsigned_abs() >> bit & 1 == 1 {
                power = m.mul(&power, &base);
            }
        }
        power
    };
    m.narrow(&power)
}

/// `xⁿ` for `f32` beyond [`small_power`]: the same bits as [`large_known_power_single`].
#[cfg_attr(optimized, inline(always))]
pub fn large_power_single<A: Convert>(m: &mut A, x: &A::Narrow, n: &A::I) -> A::Narrow {
    let x = m.widen(x);
    let (size, negative) = magnitude(m, n);
    let one = m.float(1.0);
    let inverse = m.div(&one, &x);
    let base = m.select(&negative, &inverse, &x);
    let mut power = one;
    for i in (0..PRODUCT_BITS).rev() {
        power = m.mul(&power, &power);
        let longer = m.mul(&power, &base);
        let set = bit(m, &size, i);
        power = m.select(&set, &longer, &power);
    }
    let large = far(m, &size);
    let [power] = m.rarely(&large, [power], |m| {
        let y = m.from_int(n);
        [powf(m, &x, &y)]
    });
    m.narrow(&power)
}
