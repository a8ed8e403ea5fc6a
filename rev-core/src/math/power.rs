//! Powers and the hypotenuse.

use super::exponential::exp_pair;
use super::inverse::normal_scale;
use super::logarithm::ln_pair;
use super::machine::{Convert, Machine};
use super::steps::Steps;

/// `√(x² + y²)`, scaled by a power of two; infinite where either is, even beside NaN.
#[inline(always)]
pub fn hypot<A: Machine>(m: &mut A, x: &A::F, y: &A::F) -> A::F {
    let x = m.abs(x);
    let y = m.abs(y);
    let swap = m.lt(&x, &y);
    let large = m.select(&swap, &y, &x);
    let small = m.select(&swap, &x, &y);
    let (down, up) = normal_scale(m, &large);
    let a = m.mul(&large, &down);
    let b = m.mul(&small, &down);
    let square = m.mul(&b, &b);
    let square = m.fma(&a, &a, &square);
    let root = m.sqrt(&square);
    let y_infinite = m.equals(&y, f64::INFINITY);
    let x_infinite = m.equals(&x, f64::INFINITY);
    let infinite = m.either(&x_infinite, &y_infinite);
    let length = m.mul(&root, &up);
    m.replace(&length, &infinite, f64::INFINITY)
}

/// `y` is an integer; it is an odd one. Infinities and what is beyond the precision are even.
#[inline(always)]
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
#[inline(always)]
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

/// `xⁿ` for `-2 ≤ n ≤ 3` by multiplication, of `1/x` for a negative `n`; anything for other `n`.
#[inline(always)]
pub fn small_power<A: Machine>(m: &mut A, x: &A::F, n: &A::I) -> A::F {
    let one = m.float(1.0);
    let inverse = m.div(&one, x);
    let zero = m.int(0);
    let negative = m.int_lt(n, &zero);
    let base = m.select(&negative, &inverse, x);
    let minus = m.int_sub(&zero, n);
    let size = m.select_int(&negative, &minus, n);
    let square = m.mul(&base, &base);
    let mut power = m.mul(&square, &base);
    for (count, lower) in [(2, &square), (1, &base), (0, &one)] {
        let count = m.int(count);
        let here = m.int_eq(&size, &count);
        power = m.select(&here, lower, &power);
    }
    power
}

/// `xⁿ`: [`small_power`] from -2 to 3, [`powf`] beyond. On 64-bit machines; `n` is an `i32`.
#[inline(always)]
pub fn powi<A: Machine>(m: &mut A, x: &A::F, n: &A::I) -> A::F {
    let y = m.from_int(n);
    let small = small_power(m, x, n);
    let distance = m.plus(&y, -0.5);
    let distance = m.abs(&distance);
    let large = m.above(&distance, 2.5);
    let [power] = m.rarely(&large, [small], |m| [powf(m, x, &y)]);
    power
}

/// `xⁿ` for `f32` beyond [`small_power`]: in `f64`, where `n` is exact.
#[inline(always)]
pub fn large_power_single<A: Convert>(m: &mut A, x: &A::Narrow, n: &A::I) -> A::Narrow {
    let x = m.widen(x);
    let y = m.from_int(n);
    let power = powf(m, &x, &y);
    m.narrow(&power)
}
