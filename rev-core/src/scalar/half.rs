//! `f16` and `bf16` as scalars: stored in 16 bits, computed with in `f32`.
//!
//! Every value of these types is one of their numbers. An operation takes its arguments to `f32`,
//! which is exact, computes there, and rounds its result once, to nearest, ties to even. For
//! `+ - * /` and the square root that is the correctly rounded operation of the format itself: `f32`
//! has more than twice the digits and two (Figueroa, *When is double rounding innocuous?*, 1995).
//! What isn't a number becomes the one NaN `0x7e00` (`f16`), `0x7fc0` (`bf16`), whatever the
//! processor's own NaN is; a change of sign only moves the sign bit. Cotangents are kept in `f32`
//! ([`WideBatch`]): a sum of many terms would stop growing in 8 or 11 bits.

use super::integer::linear_scalar;
use super::{bf16, f16, Field, Linear, Num, Primal, Real, Ring, Scalar, Zero};
use crate::ir::{ScalarType, Type};
use crate::lanes::LaneByLane;
use crate::tolerance::Tolerances;
use crate::value::Value;
use std::marker::PhantomData;

/// A type that is stored in 16 bits and computed with in `f32`.
pub trait Half: Real {
    /// The same number, exactly.
    fn widen(self) -> f32;
    /// The nearest number of this type, of two the one with an even last bit; infinite from half a
    /// unit beyond the largest on; one NaN for all.
    fn narrow(v: f32) -> Self;
}

macro_rules! through_f32 {
    ($class:ident: $($name:ident)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name(self) -> Self {
            Self::narrow($class::$name(self.widen()))
        }
    )*};
    ($class:ident 2: $($name:ident)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name(self, b: Self) -> Self {
            Self::narrow($class::$name(self.widen(), b.widen()))
        }
    )*};
}

/// An elementary function.
macro_rules! by_single {
    ($class:ident $name:ident($first:ident $($more:ident)*) $doc:literal) => {
        #[cfg_attr(optimized, inline(always))]
        fn $name(self $(, $more: Self)*) -> Self {
            Self::narrow($class::$name(self.widen() $(, $more.widen())*))
        }
    };
}

macro_rules! halves {
    ($($t:ident $variant:ident;)*) => {$(
        impl Half for $t {
            #[cfg_attr(optimized, inline(always))]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[cfg_attr(optimized, inline(always))]
            fn narrow(v: f32) -> Self {
                if v.is_nan() { $t::NAN } else { $t::from_f32(v) }
            }
        }

        impl Zero for $t {
            #[cfg_attr(optimized, inline(always))]
            fn zero() -> Self {
                $t::ZERO
            }
        }

        impl Linear for $t {
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

        impl Scalar for $t {
            fn ir_type() -> Type {
                Type::Scalar(ScalarType::$variant)
            }
            fn to_value(self) -> Value {
                Value::$variant(self)
            }
            fn from_value(value: &Value) -> Option<Self> {
                if let Value::$variant(v) = value { Some(*v) } else { None }
            }
            #[cfg_attr(optimized, inline(always))]
            fn to_number(self) -> Num {
                Num::Float(self.widen().into())
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_number(num: Num) -> Self {
                Self::narrow(f32::from_number(num))
            }
            #[cfg_attr(optimized, inline(always))]
            fn is_close(self, expected: Self, tolerances: &Tolerances, held: Option<f64>) -> bool {
                tolerances.$t.admits(self.to_f64(), expected.to_f64(), held)
            }
            #[cfg_attr(optimized, inline(always))]
            fn modulus(self) -> f64 {
                self.to_f64().abs()
            }
        }

        impl Ring for $t {
            through_f32!(Ring: unit);
            through_f32!(Ring 2: plus minus times);
            #[cfg_attr(optimized, inline(always))]
            fn negated(self) -> Self {
                -self
            }
            /// Rounded to `f32` first, then to this type.
            #[cfg_attr(optimized, inline(always))]
            fn fused(self, b: Self, c: Self) -> Self {
                Self::narrow(self.widen().mul_add(b.widen(), c.widen()))
            }
            #[cfg_attr(optimized, inline(always))]
            fn absolute(self) -> Self {
                $t::from_bits(self.to_bits() & 0x7fff)
            }
            #[cfg_attr(optimized, inline(always))]
            fn one() -> Self {
                $t::ONE
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_int(v: i128) -> Self {
                Self::narrow(v as f32)
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_usize(n: usize) -> Self {
                Self::narrow(n as f32)
            }
            #[cfg_attr(optimized, inline(always))]
            fn times_exact(self, k: Self) -> Option<Self> {
                (k != $t::ZERO).then(|| self.times(k))
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_exact(self, k: Self) -> Option<Self> {
                (k != $t::ZERO).then(|| self.over(k))
            }
            #[cfg_attr(optimized, inline(always))]
            fn times_int(self, k: i64) -> Option<Self> {
                self.widen().times_int(k).map(Self::narrow)
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_int(self, k: i64) -> Option<Self> {
                self.widen().over_int(k).map(Self::narrow)
            }
        }

        impl Field for $t {
            type Real = Self;
            through_f32!(Field: sqrt recip arg);
            each_elementary!(Field by_single (Field));
            through_f32!(Field 2: over);
            #[cfg_attr(optimized, inline(always))]
            fn from_f64(v: f64) -> Self {
                Self::narrow(v as f32)
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_real(re: Self) -> Self {
                re
            }
            #[cfg_attr(optimized, inline(always))]
            fn powi(self, n: i32) -> Self {
                Self::narrow(Field::powi(self.widen(), n))
            }
            #[cfg_attr(optimized, inline(always))]
            fn re(self) -> Self {
                self
            }
            #[cfg_attr(optimized, inline(always))]
            fn im(self) -> Self {
                $t::ZERO
            }
            #[cfg_attr(optimized, inline(always))]
            fn abs2(self) -> Self {
                self.times(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn norm(self) -> Self {
                self.absolute()
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg_gradient(self) -> Self {
                $t::ZERO
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_real<const N: usize>(c: <Self as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N> {
                c.scale(t)
            }
        }

        impl Real for $t {
            through_f32!(Real: floor ceil round trunc ln_gamma);
            each_elementary!(Real by_single (Real));
            #[cfg_attr(optimized, inline(always))]
            fn to_f64(self) -> f64 {
                self.widen().into()
            }
            #[cfg_attr(optimized, inline(always))]
            fn pi() -> Self {
                $t::PI
            }
            #[cfg_attr(optimized, inline(always))]
            fn copysign(self, b: Self) -> Self {
                $t::from_bits(self.to_bits() & 0x7fff | b.to_bits() & 0x8000)
            }
            fn polygamma(k: i32, x: Self) -> Self {
                Self::narrow(Real::polygamma(k, x.widen()))
            }
        }
    )*};
}
halves! {
    f16 F16;
    bf16 Bf16;
}

/// The shadow of a number that is stored in 16 bits: `N` cotangents in `f32`.
#[derive(Debug)]
#[repr(transparent)]
pub struct WideBatch<T, const N: usize>(pub [f32; N], PhantomData<fn() -> T>);

impl<T, const N: usize> WideBatch<T, N> {
    /// These cotangents.
    #[cfg_attr(optimized, inline(always))]
    pub fn new(lanes: [f32; N]) -> Self {
        WideBatch(lanes, PhantomData)
    }

    #[cfg_attr(optimized, inline(always))]
    fn map(self, f: impl FnMut(f32) -> f32) -> Self {
        Self::new(self.0.map(f))
    }
}

impl<T> WideBatch<T, 1> {
    /// The only cotangent.
    #[cfg_attr(optimized, inline(always))]
    pub fn get(self) -> f32 {
        self.0[0]
    }
}

impl<T> From<f32> for WideBatch<T, 1> {
    #[cfg_attr(optimized, inline(always))]
    fn from(v: f32) -> Self {
        Self::new([v])
    }
}

impl<T, const N: usize> Clone for WideBatch<T, N> {
    #[cfg_attr(optimized, inline(always))]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for WideBatch<T, N> {}
impl<T, const N: usize> PartialEq for WideBatch<T, N> {
    #[cfg_attr(optimized, inline(always))]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T, const N: usize> Default for WideBatch<T, N> {
    fn default() -> Self {
        Self::zero()
    }
}
impl<T, const N: usize> Zero for WideBatch<T, N> {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        Self::new([0.0; N])
    }
}

impl<T: Half, const N: usize> Linear for WideBatch<T, N> {
    type Over = T;
    type Part = Self;
    type InLanes = LaneByLane;

    #[cfg_attr(optimized, inline(always))]
    fn accumulate(&mut self, v: &Self) {
        for k in 0..N {
            self.0[k] += v.0[k];
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn deduct(&mut self, v: &Self) {
        for k in 0..N {
            self.0[k] -= v.0[k];
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn negate(&mut self) {
        *self = self.map(|v| -v);
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_zero(&mut self) {
        *self = Self::zero();
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_zero(&self) -> bool {
        self.0.iter().all(|v| *v == 0.0)
    }
    #[cfg_attr(optimized, inline(always))]
    fn width() -> usize {
        N
    }
    #[cfg_attr(optimized, inline(always))]
    fn component(&self, k: usize) -> Num {
        self.0[k].to_number()
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_component(&mut self, k: usize, v: Num) {
        self.0[k] = f32::from_number(v);
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale(self, c: T) -> Self {
        let c = c.widen();
        self.map(|v| v * c)
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb(self, c: T) -> Self {
        let c = c.widen();
        self.map(|v| if v == 0.0 { v } else { v * c })
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant(self, c: f64) -> Self {
        self.map(|v| v * c as f32)
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact(self, c: T) -> Option<Self> {
        Some(self.scale(c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact(self, c: T) -> Option<Self> {
        let c = c.widen();
        (c != 0.0).then(|| self.map(|v| v / c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_int(self, k: i64) -> Option<Self> {
        Some(self.map(|v| v * k as f32))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int(self, k: i64) -> Option<Self> {
        (k != 0).then(|| self.map(|v| v / k as f32))
    }
    #[cfg_attr(optimized, inline(always))]
    fn real_part(self) -> Self {
        self
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_real_part(re: Self) -> Self {
        re
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value that bits stand for, from the definition of the format: `None` for NaN.
    fn value(bits: u16, precision: i32, exponents: i32) -> Option<f64> {
        let magnitude = i32::from(bits & 0x7fff);
        let (hidden, top) = (1 << (precision - 1), (1 << exponents) - 1);
        let (exponent, fraction) = (magnitude / hidden, magnitude % hidden);
        let bias = top / 2;
        let size = match exponent {
            e if e == top && fraction != 0 => return None,
            e if e == top => f64::INFINITY,
            0 => f64::from(fraction) * 2f64.powi(2 - bias - precision),
            e => f64::from(hidden + fraction) * 2f64.powi(e + 1 - bias - precision),
        };
        Some(if bits & 0x8000 == 0 { size } else { -size })
    }

    fn every<T: Half>(precision: i32, exponents: i32, from: fn(u16) -> T, to: fn(T) -> u16, nan: u16) {
        let top = ((1u16 << exponents) - 1) << (precision - 1);
        for bits in 0..=u16::MAX {
            let wide = from(bits).widen();
            let Some(exact) = value(bits, precision, exponents) else {
                assert!(wide.is_nan() && to(T::narrow(wide)) == nan, "{bits:#06x}");
                continue;
            };
            assert_eq!(f64::from(wide).to_bits(), exact.to_bits(), "{bits:#06x}");
            assert_eq!(to(T::narrow(wide)), bits);
            if bits & 0x7fff >= top {
                continue;
            }
            // half-way to the next number away from zero, which after the largest is infinite
            let above = match value(bits + 1, precision, exponents) {
                Some(v) if v.is_finite() => v,
                _ => 2.0 * exact - value(bits - 1, precision, exponents).unwrap(),
            };
            let middle = (exact / 2.0 + above / 2.0) as f32;
            let (toward, away) = (f32::from_bits(middle.to_bits() - 1), f32::from_bits(middle.to_bits() + 1));
            let even = bits + (bits & 1);
            assert_eq!(
                [toward, middle, away].map(|v| to(T::narrow(v))),
                [bits, even, bits + 1],
                "{bits:#06x} to {middle:e}"
            );
        }
    }

    #[test]
    fn every_number_is_widened_exactly_and_every_middle_rounded_to_even() {
        every(11, 5, f16::from_bits, f16::to_bits, 0x7e00);
        every(8, 8, bf16::from_bits, bf16::to_bits, 0x7fc0);
    }

    /// Sums and products as exact rational numbers of `f64`, rounded by the definition above.
    #[test]
    fn arithmetic_is_correctly_rounded() {
        let mut bits = 1u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (a, b) = (f16::from_bits((bits >> 16) as u16), f16::from_bits((bits >> 3) as u16));
            if a.is_nan() || b.is_nan() {
                continue;
            }
            let (x, y) = (a.to_f64(), b.to_f64());
            // of two numbers of 11 bits and exponents from -24 to 15, exact in `f64`
            for (found, exact) in [(a.plus(b), x + y), (a.minus(b), x - y), (a.times(b), x * y)] {
                let off = |v: f16| (v.to_f64() - exact).abs();
                if exact.is_nan() {
                    assert_eq!(found.to_bits(), 0x7e00);
                } else if exact.abs() < 65520.0 {
                    let (up, down) = (f16::from_bits(found.to_bits() + 1), found.to_bits().wrapping_sub(1));
                    assert!(off(found) <= off(up), "{a} {b}");
                    assert!(found == f16::ZERO || off(found) <= off(f16::from_bits(down)), "{a} {b}");
                } else {
                    assert_eq!(found, f16::from_f64(exact.signum()).times(f16::INFINITY), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn cotangents_are_kept_in_f32() {
        let mut sum = WideBatch::<bf16, 1>::zero();
        for _ in 0..10_000 {
            sum.accumulate(&WideBatch::from(1.0).scale(bf16::from_f32(0.1)));
        }
        let tenth = f64::from(bf16::from_f32(0.1).to_f32());
        approx::assert_abs_diff_eq!(f64::from(sum.get()), 1e4 * tenth, epsilon = 0.1);
        // in 8 bits such a sum stops growing
        let stopped = (0..10_000).fold(bf16::ZERO, |s, _| s.plus(bf16::from_f32(0.1)));
        assert!(stopped.to_f32() <= 64.0);
        assert_eq!(std::mem::size_of::<WideBatch<f16, 3>>(), 12);
    }
}
