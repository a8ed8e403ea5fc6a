//! The exactly reversible scalars: fixed point of 32, 64 and 128 bits with any fraction.
//!
//! A number of `n` bits, `f` of them behind the point, is an integer in units of `2^-f` (its resolution) within `±2^(n-1-f)` (its
//! range): ±2²⁰ (1 048 576) and 2⁻⁴³ (1.1e-13) for [`Fixed43`]. At least two bits are left before the point, so that one is a number.
//!
//! `+` and `-` wrap modulo `2ⁿ` and are therefore exact inverses of each other: a program of updates
//! comes back bit for bit, however long it is. Products (which wrap too), quotients and, of 128 bits, square roots are rounded to
//! nearest, products and quotients halves up, from an intermediate that holds them exactly; the other functions go through `f64`
//! and are rounded to nearest, so that those of 128 bits have the accuracy of an `f64`: 53 bits. Every operation gives the same
//! result each time, which is all that exact reversal needs. What has no value is the nearest end of the range (`1/0`), or 0 (`0/0`,
//! the root of a negative number).

mod arithmetic;
mod point;
#[cfg(test)]
mod tests;

pub use point::{FixedPair, FixedPoint, FormatScope};

use super::integer::linear_scalar;
use super::{Field, Linear, Num, Primal, Real, Ring, Scalar, Zero};
use crate::ir::{FixedFormat, ScalarType, Type};
use crate::math::cpu::double;
use crate::tolerance::Tolerances;
use crate::value::Value;
use fixed::types::extra::{LeEqU128, LeEqU32, LeEqU64};
use fraction::*;

pub use fixed::types as formats;
pub use fixed::types::extra as fraction;
pub use fixed::types::{I16F16, I32F32, I64F64};
pub use fixed::{FixedI128, FixedI32, FixedI64};

/// 64-bit fixed point with 43 fraction bits.
pub type Fixed43 = FixedI64<U43>;

/// How many of 32 bits are behind the point: `U0` to `U30`.
#[diagnostic::on_unimplemented(
    message = "a fixed-point number of 32 bits can't have so many of them behind the point",
    label = "from `U0` to `U30`: of all bits two are left, for the sign and the number one"
)]
pub trait Fraction32: LeEqU32 + Send + Sync + 'static {}

/// How many of 64 bits are behind the point: `U0` to `U62`.
#[diagnostic::on_unimplemented(
    message = "a fixed-point number of 64 bits can't have so many of them behind the point",
    label = "from `U0` to `U62`: of all bits two are left, for the sign and the number one"
)]
pub trait Fraction64: LeEqU64 + Send + Sync + 'static {}

/// How many of 128 bits are behind the point: `U0` to `U126`.
#[diagnostic::on_unimplemented(
    message = "a fixed-point number of 128 bits can't have so many of them behind the point",
    label = "from `U0` to `U126`: of all bits two are left, for the sign and the number one"
)]
pub trait Fraction128: LeEqU128 + Send + Sync + 'static {}

macro_rules! fractions {
    ($($name:ident)*: $fractions:tt) => { $(fractions! { @ $name $fractions })* };
    (@ $name:ident [$($fraction:ident)*]) => { $(impl $name for $fraction {})* };
}
fractions! { Fraction32 Fraction64 Fraction128: [
       U0 U1 U2 U3 U4 U5 U6 U7 U8 U9 U10 U11 U12 U13 U14 U15 U16 U17 U18 U19 U20 U21 U22 U23 U24 U25 U26 U27
        U28 U29 U30
] }
fractions! { Fraction64 Fraction128: [
       U31 U32 U33 U34 U35 U36 U37 U38 U39 U40 U41 U42 U43 U44 U45 U46 U47 U48 U49 U50 U51 U52 U53 U54 U55 U56
        U57 U58 U59 U60 U61 U62
] }
fractions! { Fraction128: [
       U63 U64 U65 U66 U67 U68 U69 U70 U71 U72 U73 U74 U75 U76 U77 U78 U79 U80 U81 U82 U83 U84 U85 U86 U87 U88
        U89 U90 U91 U92 U93 U94 U95 U96 U97 U98 U99 U100 U101 U102 U103 U104 U105 U106 U107 U108 U109 U110
        U111 U112 U113 U114 U115 U116 U117 U118 U119 U120 U121 U122 U123 U124 U125 U126
] }

/// What the scalars here are made of: bits in a format, which the type says, or the number itself ([`FixedPoint`]).
trait Held: Copy {
    /// The format of new numbers.
    fn current() -> FixedFormat;
    /// The number with the lower bits of these, of a format.
    fn new(bits: i128, format: FixedFormat) -> Self;
    /// The bits.
    fn bits(self) -> i128;
    /// The format.
    fn own(self) -> FixedFormat;

    /// The same number of other bits.
    #[cfg_attr(optimized, inline(always))]
    fn with(self, bits: i128) -> Self {
        Self::new(bits, self.own())
    }
    /// Bits that a number of the same format has.
    #[cfg_attr(optimized, inline(always))]
    fn fitting(self, bits: i128) -> Option<i128> {
        (arithmetic::saturated(bits, self.own()) == bits).then_some(bits)
    }
    #[cfg_attr(optimized, inline(always))]
    fn wide(self) -> f64 {
        arithmetic::to_f64(self.bits(), self.own())
    }
    /// The nearest number of the same format.
    #[cfg_attr(optimized, inline(always))]
    fn near(self, v: f64) -> Self {
        self.with(arithmetic::from_f64(v, self.own()))
    }
}

macro_rules! held {
    ($($t:ident $fraction:ident $word:ident $bits:literal;)*) => {$(
        impl<F: $fraction> Held for $t<F> {
            #[cfg_attr(optimized, inline(always))]
            fn current() -> FixedFormat {
                const { FixedFormat::of_type($bits, F::U32) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn new(bits: i128, _: FixedFormat) -> Self {
                $t::from_bits(bits as $word)
            }
            #[cfg_attr(optimized, inline(always))]
            fn bits(self) -> i128 {
                self.to_bits().into()
            }
            #[cfg_attr(optimized, inline(always))]
            fn own(self) -> FixedFormat {
                Self::current()
            }
        }
    )*};
}
held! {
    FixedI32 Fraction32 i32 32;
    FixedI64 Fraction64 i64 64;
    FixedI128 Fraction128 i128 128;
}

/// A function through `f64`.
macro_rules! through_f64 {
    ($class:ident $name:ident($first:ident $($more:ident)*) $($doc:literal)?) => {
        #[inline]
        fn $name(self $(, $more: Self)*) -> Self {
            self.near(<f64 as $class>::$name(self.wide() $(, $more.wide())*))
        }
    };
}

macro_rules! scalars {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        impl<$($generics)*> Zero for $t {
            #[cfg_attr(optimized, inline(always))]
            fn zero() -> Self {
                Self::new(0, Self::current())
            }
        }

        impl<$($generics)*> Linear for $t {
            linear_scalar!(Self);
            #[cfg_attr(optimized, inline(always))]
            fn real_part(self) -> Self {
                self
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_real_part(re: Self) -> Self {
                re
            }
        }

        impl<$($generics)*> Scalar for $t {
            fn ir_type() -> Type {
                Type::Scalar(ScalarType::Fixed(Self::current()))
            }
            fn to_value(self) -> Value {
                Value::Fixed(FixedPoint::of_bits(self.bits(), self.own()))
            }
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Fixed(v) if v.format() == Self::current() => Some(Self::new(v.to_bits(), v.format())),
                    _ => None,
                }
            }
            #[cfg_attr(optimized, inline(always))]
            fn to_number(self) -> Num {
                Num::Fixed(FixedPoint::of_bits(self.bits(), self.own()))
            }
            #[inline]
            fn from_number(num: Num) -> Self {
                let own = Self::current();
                let bits = match num {
                    Num::Int(v) => arithmetic::from_integer(v.into(), own),
                    Num::Uint(v) => arithmetic::from_integer(v.into(), own),
                    Num::Wide(v) => arithmetic::from_integer(v, own),
                    Num::WideUint(v) => arithmetic::from_integer(v.try_into().unwrap_or(i128::MAX), own),
                    Num::Float(v) | Num::Complex(v, _) => arithmetic::from_f64(v, own),
                    Num::Fixed(v) => arithmetic::converted(v.to_bits(), v.format(), own),
                };
                Self::new(bits, own)
            }
            #[cfg_attr(optimized, inline(always))]
            fn is_close(self, expected: Self, _: &Tolerances, _: Option<f64>) -> bool {
                self == expected
            }
            #[cfg_attr(optimized, inline(always))]
            fn modulus(self) -> f64 {
                self.wide().abs()
            }
        }

        impl<$($generics)*> Ring for $t {
            #[cfg_attr(optimized, inline(always))]
            fn plus(self, b: Self) -> Self {
                self.with(self.bits().wrapping_add(b.bits()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn minus(self, b: Self) -> Self {
                self.with(self.bits().wrapping_sub(b.bits()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn times(self, b: Self) -> Self {
                self.with(arithmetic::times(self.bits(), b.bits(), self.own()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn negated(self) -> Self {
                self.with(self.bits().wrapping_neg())
            }
            #[cfg_attr(optimized, inline(always))]
            fn fused(self, b: Self, c: Self) -> Self {
                self.times(b).plus(c)
            }
            #[cfg_attr(optimized, inline(always))]
            fn fused_from(self, b: Self, c: Self) -> Self {
                c.minus(self.times(b))
            }
            #[cfg_attr(optimized, inline(always))]
            fn absolute(self) -> Self {
                self.with(self.bits().wrapping_abs())
            }
            #[cfg_attr(optimized, inline(always))]
            fn unit(self) -> Self {
                self.with(self.bits().signum() * arithmetic::one(self.own()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn one() -> Self {
                Self::new(arithmetic::one(Self::current()), Self::current())
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_int(v: i128) -> Self {
                Self::new(arithmetic::from_integer(v, Self::current()), Self::current())
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_usize(n: usize) -> Self {
                Self::from_int(n as i128)
            }
            #[inline]
            fn times_exact(self, k: Self) -> Option<Self> {
                arithmetic::times_exact(self.bits(), k.bits(), self.own()).map(|bits| self.with(bits))
            }
            #[inline]
            fn over_exact(self, k: Self) -> Option<Self> {
                arithmetic::over_exact(self.bits(), k.bits(), self.own()).map(|bits| self.with(bits))
            }
            #[inline]
            fn times_int(self, k: i64) -> Option<Self> {
                self.fitting(self.bits().checked_mul(self.fitting(k.into())?)?).map(|bits| self.with(bits))
            }
            #[inline]
            fn over_int(self, k: i64) -> Option<Self> {
                let k = self.fitting(k.into())?;
                if self.bits().checked_rem(k)? != 0 {
                    return None;
                }
                self.fitting(self.bits().checked_div(k)?).map(|bits| self.with(bits))
            }
        }

        impl<$($generics)*> Field for $t {
            type Real = Self;
            each_elementary!(Field through_f64 (Field));
            #[inline]
            fn sqrt(self) -> Self {
                if self.own().bits() == 128 {
                    return self.with(arithmetic::root(self.bits(), self.own()));
                }
                self.near(self.wide().sqrt())
            }
            #[inline]
            fn from_f64(v: f64) -> Self {
                Self::new(arithmetic::from_f64(v, Self::current()), Self::current())
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_real(re: Self) -> Self {
                re
            }
            #[inline]
            fn over(self, b: Self) -> Self {
                self.with(arithmetic::over(self.bits(), b.bits(), self.own()))
            }
            #[inline]
            fn recip(self) -> Self {
                self.with(arithmetic::over(arithmetic::one(self.own()), self.bits(), self.own()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn re(self) -> Self {
                self
            }
            #[cfg_attr(optimized, inline(always))]
            fn im(self) -> Self {
                self.with(0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn abs2(self) -> Self {
                self.times(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn norm(self) -> Self {
                self.absolute()
            }
            #[inline]
            fn arg(self) -> Self {
                self.with(if self.bits() < 0 { arithmetic::pi(self.own()) } else { 0 })
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg_gradient(self) -> Self {
                self.with(0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_real<const N: usize>(c: <Self as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N> {
                c.scale(t)
            }
        }

        impl<$($generics)*> Real for $t {
            each_elementary!(Real through_f64 (Real));
            #[cfg_attr(optimized, inline(always))]
            fn to_f64(self) -> f64 {
                self.wide()
            }
            #[cfg_attr(optimized, inline(always))]
            fn pi() -> Self {
                Self::new(arithmetic::pi(Self::current()), Self::current())
            }
            #[inline]
            fn floor(self) -> Self {
                self.with(self.bits() & !arithmetic::below_one(self.own()))
            }
            #[inline]
            fn ceil(self) -> Self {
                self.with(self.bits().wrapping_add(arithmetic::below_one(self.own()))).floor()
            }
            #[inline]
            fn round(self) -> Self {
                let size = self.absolute();
                let half = arithmetic::one(self.own()) >> 1;
                size.with(size.bits().wrapping_add(half)).floor().copysign(self)
            }
            #[inline]
            fn trunc(self) -> Self {
                if self.bits() < 0 {
                    self.ceil()
                } else {
                    self.floor()
                }
            }
            #[inline]
            fn copysign(self, b: Self) -> Self {
                let size = self.absolute();
                if b.bits() < 0 {
                    size.negated()
                } else {
                    size
                }
            }
            fn ln_gamma(self) -> Self {
                self.near(double::ln_gamma(self.wide()))
            }
            fn polygamma(k: i32, x: Self) -> Self {
                x.near(double::polygamma(k, x.wide()))
            }
        }
    )*};
}
scalars! {
    [F: Fraction32] FixedI32<F>;
    [F: Fraction64] FixedI64<F>;
    [F: Fraction128] FixedI128<F>;
    [] FixedPoint;
}
