//! Integers and `bool` as scalars. Arithmetic wraps: it is a ring modulo 2ⁿ, so `+=` loses nothing.

use super::{Integer, Linear, Num, Ring, Scalar, Zero};
use crate::ir::{ScalarType, Type};
use crate::tolerance::Tolerances;
use crate::value::Value;

/// `Linear` for a scalar, in terms of its ring operations; `$part` its real part's type.
macro_rules! linear_scalar {
    ($part:ty) => {
        type Over = Self;
        type Part = $part;
        type InLanes = <Self as crate::lanes::Laned>::Rows;

        #[cfg_attr(optimized, inline(always))]
        fn accumulate(&mut self, v: &Self) {
            *self = self.plus(*v);
        }
        #[cfg_attr(optimized, inline(always))]
        fn deduct(&mut self, v: &Self) {
            *self = self.minus(*v);
        }
        #[cfg_attr(optimized, inline(always))]
        fn negate(&mut self) {
            *self = self.negated();
        }
        #[cfg_attr(optimized, inline(always))]
        fn set_zero(&mut self) {
            *self = Self::zero();
        }
        #[cfg_attr(optimized, inline(always))]
        fn is_zero(&self) -> bool {
            *self == Self::zero()
        }
        #[cfg_attr(optimized, inline(always))]
        fn width() -> usize {
            1
        }
        #[cfg_attr(optimized, inline(always))]
        fn component(&self, _: usize) -> Num {
            self.to_number()
        }
        #[cfg_attr(optimized, inline(always))]
        fn set_component(&mut self, _: usize, v: Num) {
            *self = Self::from_number(v);
        }
        #[cfg_attr(optimized, inline(always))]
        fn scale(self, c: Self) -> Self {
            self.times(c)
        }
        #[cfg_attr(optimized, inline(always))]
        fn accumulate_product(&mut self, v: Self, c: Self) {
            *self = v.fused(c, *self);
        }
        #[cfg_attr(optimized, inline(always))]
        fn deduct_product(&mut self, v: Self, c: Self) {
            *self = v.fused_from(c, *self);
        }
        #[cfg_attr(optimized, inline(always))]
        fn absorb(self, c: Self) -> Self {
            if self.is_zero() {
                self
            } else {
                self.times(c)
            }
        }
        #[cfg_attr(optimized, inline(always))]
        fn scale_exact(self, c: Self) -> Option<Self> {
            self.times_exact(c)
        }
        #[cfg_attr(optimized, inline(always))]
        fn scale_int(self, k: i64) -> Option<Self> {
            self.times_int(k)
        }
        #[cfg_attr(optimized, inline(always))]
        fn unscale_int(self, k: i64) -> Option<Self> {
            self.over_int(k)
        }
        #[cfg_attr(optimized, inline(always))]
        fn unscale_exact(self, c: Self) -> Option<Self> {
            self.over_exact(c)
        }
    };
}
pub(super) use linear_scalar;

macro_rules! integers {
    ($($t:ident $unsigned:ident $variant:ident $num:ident $wide:ident;)*) => {$(
        impl Zero for $t {
            #[cfg_attr(optimized, inline(always))]
            fn zero() -> Self {
                0
            }
        }

        impl Linear for $t {
            linear_scalar!(Self);
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
                Num::$num(self as $wide)
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_number(num: Num) -> Self {
                match num {
                    Num::Int(v) => v as $t,
                    Num::Uint(v) => v as $t,
                    Num::Wide(v) => v as $t,
                    Num::WideUint(v) => v as $t,
                    Num::Float(v) | Num::Complex(v, _) => v as $t,
                    Num::Fixed(v) => {
                        let whole = v.to_integer();
                        <$t>::try_from(whole).unwrap_or(if whole < 0 { <$t>::MIN } else { <$t>::MAX })
                    }
                }
            }
            #[cfg_attr(optimized, inline(always))]
            fn is_close(self, expected: Self, _: &Tolerances, _: Option<f64>) -> bool {
                self == expected
            }
            #[cfg_attr(optimized, inline(always))]
            fn modulus(self) -> f64 {
                (self as f64).abs()
            }
        }

        impl Ring for $t {
            #[cfg_attr(optimized, inline(always))]
            fn plus(self, b: Self) -> Self {
                self.wrapping_add(b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn minus(self, b: Self) -> Self {
                self.wrapping_sub(b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn times(self, b: Self) -> Self {
                self.wrapping_mul(b)
            }
            #[cfg_attr(optimized, inline(always))]
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
            #[cfg_attr(optimized, inline(always))]
            fn fused(self, b: Self, c: Self) -> Self {
                self.wrapping_mul(b).wrapping_add(c)
            }
            #[cfg_attr(optimized, inline(always))]
            #[allow(unused_comparisons)]
            fn absolute(self) -> Self {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[cfg_attr(optimized, inline(always))]
            fn unit(self) -> Self {
                #[allow(unused_comparisons)]
                if self < 0 { (0 as $t).wrapping_sub(1) } else { (self != 0) as $t }
            }
            #[cfg_attr(optimized, inline(always))]
            fn one() -> Self {
                1
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_int(v: i128) -> Self {
                v as $t
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_usize(n: usize) -> Self {
                n as $t
            }
            #[cfg_attr(optimized, inline(always))]
            fn times_exact(self, k: Self) -> Option<Self> {
                if k == 0 { None } else { self.checked_mul(k) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_exact(self, k: Self) -> Option<Self> {
                if self.checked_rem(k)? == 0 { self.checked_div(k) } else { None }
            }
            #[cfg_attr(optimized, inline(always))]
            fn times_int(self, k: i64) -> Option<Self> {
                self.checked_mul(<$t>::try_from(k).ok()?)
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_int(self, k: i64) -> Option<Self> {
                self.over_exact(<$t>::try_from(k).ok()?)
            }
        }

        impl Integer for $t {
            #[cfg_attr(optimized, inline(always))]
            fn quotient(self, b: Self) -> Option<Self> {
                if b == 0 { None } else { Some(self.wrapping_div(b)) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn remainder(self, b: Self) -> Option<Self> {
                if b == 0 { None } else { Some(self.wrapping_rem(b)) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn bits_and(self, b: Self) -> Self {
                self & b
            }
            #[cfg_attr(optimized, inline(always))]
            fn bits_or(self, b: Self) -> Self {
                self | b
            }
            #[cfg_attr(optimized, inline(always))]
            fn shift_left(self, n: i32) -> Self {
                self.checked_shl(n as u32).unwrap_or(0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn shift_right(self, n: i32) -> Self {
                self.checked_shr(n as u32).unwrap_or(self >> (<$t>::BITS - 1) >> 1)
            }
        }
    )*};
}
integers! {
    i8 u8 I8 Int i64;
    i16 u16 I16 Int i64;
    i32 u32 I32 Int i64;
    i64 u64 I64 Int i64;
    isize usize Isize Int i64;
    i128 u128 I128 Wide i128;
    u8 u8 U8 Uint u64;
    u16 u16 U16 Uint u64;
    u32 u32 U32 Uint u64;
    u64 u64 U64 Uint u64;
    usize usize Usize Uint u64;
    u128 u128 U128 WideUint u128;
}

impl Zero for bool {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        false
    }
}

impl Scalar for bool {
    fn ir_type() -> Type {
        Type::BOOL
    }
    fn to_value(self) -> Value {
        Value::Bool(self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Bool(v) = value {
            Some(*v)
        } else {
            None
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn to_number(self) -> Num {
        Num::Uint(self as u64)
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_number(num: Num) -> Self {
        num.to_f64() != 0.0
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_close(self, expected: Self, _: &Tolerances, _: Option<f64>) -> bool {
        self == expected
    }
    #[cfg_attr(optimized, inline(always))]
    fn modulus(self) -> f64 {
        0.0
    }
}
