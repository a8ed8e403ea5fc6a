//! A fixed-point number that has its format with it: what the interpreter computes with, so that it has one type for all
//! formats.

use super::{arithmetic, Held};
use crate::ir::FixedFormat;
use crate::scalar::{Field, Ring};
use num_complex::Complex;
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A fixed-point number of any format.
///
/// Numbers that are made of nothing (`zero`, `one`, literals) are of the format that a [`FormatScope`] on the thread says, and outside
/// of one of no format, which is the format of no value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FixedPoint {
    // halves, so that a value isn't larger for it
    low: u64,
    high: u64,
    format: FixedFormat,
}

impl FixedPoint {
    /// The number with the lower bits of these.
    #[cfg_attr(optimized, inline(always))]
    pub fn of_bits(bits: i128, format: FixedFormat) -> FixedPoint {
        let bits = arithmetic::wrapped(bits, format);
        FixedPoint { low: bits as u64, high: (bits >> 64) as u64, format }
    }

    /// The bits, of the sign as many as an `i128` has room for.
    #[cfg_attr(optimized, inline(always))]
    pub fn to_bits(self) -> i128 {
        i128::from(self.high as i64) << 64 | i128::from(self.low)
    }

    /// The format.
    #[cfg_attr(optimized, inline(always))]
    pub fn format(self) -> FixedFormat {
        self.format
    }

    /// The integer part, cut off towards zero.
    #[cfg_attr(optimized, inline(always))]
    pub fn to_integer(self) -> i128 {
        arithmetic::to_integer(self.to_bits(), self.format)
    }

    /// The nearest `f64`.
    #[cfg_attr(optimized, inline(always))]
    pub fn to_f64(self) -> f64 {
        arithmetic::to_f64(self.to_bits(), self.format)
    }

    /// The nearest `f32`.
    #[cfg_attr(optimized, inline(always))]
    pub fn to_f32(self) -> f32 {
        arithmetic::to_f32(self.to_bits(), self.format)
    }

    /// The distance of two numbers of the format that are next to each other.
    pub fn resolution(self) -> f64 {
        arithmetic::resolution(self.format)
    }
}

/// A complex number over two fixed-point numbers of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedPair {
    re: [u64; 2],
    im: [u64; 2],
    format: FixedFormat,
}

impl FixedPair {
    /// The complex number over two parts; `None` where their formats differ.
    pub fn new(re: FixedPoint, im: FixedPoint) -> Option<FixedPair> {
        let of = |v: FixedPoint| [v.low, v.high];
        (re.format == im.format).then_some(FixedPair { re: of(re), im: of(im), format: re.format })
    }

    /// The complex number.
    pub fn get(self) -> Complex<FixedPoint> {
        let part = |[low, high]: [u64; 2]| FixedPoint { low, high, format: self.format };
        Complex { re: part(self.re), im: part(self.im) }
    }

    /// The format of its parts.
    pub fn format(self) -> FixedFormat {
        self.format
    }
}

thread_local! {
    static FORMAT: Cell<FixedFormat> = const { Cell::new(FixedFormat::NONE) };
}

/// While it lives, the format of new [`FixedPoint`]s on this thread.
#[must_use]
pub struct FormatScope {
    before: Option<FixedFormat>,
}

impl FormatScope {
    /// The scope of a format; without one nothing changes.
    pub fn of(format: Option<FixedFormat>) -> FormatScope {
        FormatScope { before: format.map(|format| FORMAT.replace(format)) }
    }
}

impl Drop for FormatScope {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            FORMAT.set(before);
        }
    }
}

impl Held for FixedPoint {
    fn current() -> FixedFormat {
        FORMAT.get()
    }
    #[cfg_attr(optimized, inline(always))]
    fn new(bits: i128, format: FixedFormat) -> Self {
        FixedPoint::of_bits(bits, format)
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits(self) -> i128 {
        self.to_bits()
    }
    #[cfg_attr(optimized, inline(always))]
    fn own(self) -> FixedFormat {
        self.format
    }
}

impl PartialOrd for FixedPoint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.to_bits().partial_cmp(&other.to_bits())
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident $assign:ident $assigned:ident = $method:ident;)*) => {$(
        impl $operator for FixedPoint {
            type Output = Self;
            fn $name(self, b: Self) -> Self {
                self.$method(b)
            }
        }
        impl $assign for FixedPoint {
            fn $assigned(&mut self, b: Self) {
                *self = self.$method(b);
            }
        }
    )*};
}
operators! {
    Add add AddAssign add_assign = plus;
    Sub sub SubAssign sub_assign = minus;
    Mul mul MulAssign mul_assign = times;
    Div div DivAssign div_assign = over;
}

impl Neg for FixedPoint {
    type Output = Self;
    fn neg(self) -> Self {
        self.negated()
    }
}

/// As a decimal number: with the fewest digits of which the number is the nearest one of the format, as the crate `fixed` has it.
impl fmt::Display for FixedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.to_bits().unsigned_abs();
        let (fraction, unit) = (self.format.fraction(), 1u128 << self.format.fraction());
        let (mut whole, mut rest) = (size / unit, size % unit);
        // each digit makes the distance to the next number ten times as large as what is left; log₁₀ 2 is 0.30103
        let (mut digits, mut distance) = (Vec::new(), 1u128);
        for _ in 0..(fraction * 30103).div_ceil(100_000) {
            let (digit, next) = tenfold(rest, fraction);
            (rest, distance) = (next, distance * 10);
            digits.push(digit);
            if 2 * rest < distance || 2 * (unit - rest) < distance {
                break;
            }
        }
        let odd = digits.last().map_or(whole & 1 == 1, |d| d & 1 == 1);
        let mut up = rest > unit - rest || rest == unit - rest && odd;
        for digit in digits.iter_mut().rev() {
            *digit = (*digit + u8::from(up)) % 10;
            up = up && *digit == 0;
        }
        whole += u128::from(up);
        let text: String = digits.iter().map(|d| char::from(b'0' + d)).collect();
        let text = text.trim_end_matches('0');
        let point = if text.is_empty() { "" } else { "." };
        f.pad_integral(self.to_bits() >= 0, "", &format!("{whole}{point}{text}"))
    }
}

/// The integer part of ten times `rest`, which is in units of `2^-fraction`, and what is left.
fn tenfold(rest: u128, fraction: u32) -> (u8, u128) {
    const LOW: u128 = u64::MAX as u128;
    let low = 10 * (rest & LOW);
    let high = 10 * (rest >> 64) + (low >> 64);
    let all = high << 64 | low & LOW;
    let digit = if fraction < 64 { all >> fraction } else { high >> (fraction - 64) };
    (digit as u8, all & ((1 << fraction) - 1))
}

impl fmt::Debug for FixedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
