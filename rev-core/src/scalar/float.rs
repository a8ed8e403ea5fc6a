//! `f32` and `f64` as scalars. Their functions are those of [`crate::math`], which every device computes
//! alike; only exact operations are the processor's own.

use super::integer::linear_scalar;
use super::{Field, Linear, Num, Primal, Real, Ring, Scalar, Zero};
use crate::ir::{ScalarType, Type};
use crate::lanes::{self, Isa, Pack};
use crate::math::cpu::{double, single};
use crate::tolerance::Tolerances;
use crate::value::Value;

/// An elementary function of one width.
macro_rules! by_algorithm {
    ($functions:ident $name:ident($first:ident $($more:ident)*) $doc:literal) => {
        #[cfg_attr(optimized, inline(always))]
        fn $name(self $(, $more: Self)*) -> Self {
            $functions::$name(self $(, $more)*)
        }
    };
}

macro_rules! floats {
    ($($t:ident $variant:ident $functions:ident $fixed:ident;)*) => {$(
        impl Zero for $t {
            #[cfg_attr(optimized, inline(always))]
            fn zero() -> Self {
                0.0
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
                Num::Float(self as f64)
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_number(num: Num) -> Self {
                match num {
                    Num::Int(v) => v as $t,
                    Num::Uint(v) => v as $t,
                    Num::Wide(v) => v as $t,
                    Num::WideUint(v) => v as $t,
                    Num::Float(v) | Num::Complex(v, _) => v as $t,
                    Num::Fixed(v) => v.$fixed(),
                }
            }
            #[cfg_attr(optimized, inline(always))]
            fn is_close(self, expected: Self, tolerances: &Tolerances, held: Option<f64>) -> bool {
                tolerances.$t.admits(self as f64, expected as f64, held)
            }
            #[cfg_attr(optimized, inline(always))]
            fn modulus(self) -> f64 {
                self.abs() as f64
            }
        }

        impl Ring for $t {
            #[cfg_attr(optimized, inline(always))]
            fn plus(self, b: Self) -> Self {
                self + b
            }
            #[cfg_attr(optimized, inline(always))]
            fn minus(self, b: Self) -> Self {
                self - b
            }
            #[cfg_attr(optimized, inline(always))]
            fn times(self, b: Self) -> Self {
                self * b
            }
            #[cfg_attr(optimized, inline(always))]
            fn negated(self) -> Self {
                -self
            }
            #[cfg_attr(optimized, inline(always))]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[cfg_attr(optimized, inline(always))]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[cfg_attr(optimized, inline(always))]
            fn unit(self) -> Self {
                if self == 0.0 { 0.0 } else { <$t>::signum(self) }
            }
            #[cfg_attr(optimized, inline(always))]
            fn one() -> Self {
                1.0
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
                (k != 0.0).then_some(self * k)
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_exact(self, k: Self) -> Option<Self> {
                (k != 0.0).then_some(self / k)
            }
            #[cfg_attr(optimized, inline(always))]
            fn times_int(self, k: i64) -> Option<Self> {
                Some(self * k as $t)
            }
            #[cfg_attr(optimized, inline(always))]
            fn over_int(self, k: i64) -> Option<Self> {
                (k != 0).then_some(self / k as $t)
            }
        }

        impl Field for $t {
            type Real = Self;
            #[cfg_attr(optimized, inline(always))]
            fn from_f64(v: f64) -> Self {
                v as $t
            }
            #[cfg_attr(optimized, inline(always))]
            fn from_real(re: Self) -> Self {
                re
            }
            #[cfg_attr(optimized, inline(always))]
            fn over(self, b: Self) -> Self {
                self / b
            }
            #[cfg_attr(optimized, inline(always))]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn recip(self) -> Self {
                1.0 / self
            }
            #[cfg_attr(optimized, inline(always))]
            fn powi(self, n: i32) -> Self {
                $functions::powi(self, n)
            }
            each_elementary!(Field by_algorithm ($functions));
            #[cfg_attr(optimized, inline(always))]
            fn sin_cos(self) -> (Self, Self) {
                $functions::sin_cos(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn re(self) -> Self {
                self
            }
            #[cfg_attr(optimized, inline(always))]
            fn im(self) -> Self {
                0.0
            }
            #[cfg_attr(optimized, inline(always))]
            fn abs2(self) -> Self {
                self * self
            }
            #[cfg_attr(optimized, inline(always))]
            fn norm(self) -> Self {
                self.abs()
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg(self) -> Self {
                $functions::atan2(0.0, self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg_gradient(self) -> Self {
                0.0
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_real<const N: usize>(c: <Self as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N> {
                c.scale(t)
            }
            #[cfg_attr(optimized, inline(always))]
            fn re_in_lanes<S: Isa>(_: S, z: Pack<Self>) -> Pack<Self> {
                z
            }
            #[cfg_attr(optimized, inline(always))]
            fn im_in_lanes<S: Isa>(s: S, _: Pack<Self>) -> Pack<Self> {
                lanes::broadcast(s, 0.0)
            }
            #[cfg_attr(optimized, inline(always))]
            fn abs2_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self> {
                lanes::mul(s, z, z)
            }
            #[cfg_attr(optimized, inline(always))]
            fn norm_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self> {
                lanes::abs(s, z)
            }
            #[cfg_attr(optimized, inline(always))]
            fn arg_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<Self> {
                lanes::atan2(s, lanes::broadcast(s, 0.0), z)
            }
            #[cfg_attr(optimized, inline(always))]
            fn scale_real_in_lanes<S: Isa, const N: usize>(
                s: S,
                c: Pack<Self::Shadow<N>>,
                t: Pack<Self>,
            ) -> Pack<Self::Shadow<N>> {
                lanes::scale(s, c, t)
            }
        }

        impl Real for $t {
            #[cfg_attr(optimized, inline(always))]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[cfg_attr(optimized, inline(always))]
            fn pi() -> Self {
                std::$t::consts::PI
            }
            #[cfg_attr(optimized, inline(always))]
            fn floor(self) -> Self {
                <$t>::floor(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn ceil(self) -> Self {
                <$t>::ceil(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn round(self) -> Self {
                <$t>::round(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn trunc(self) -> Self {
                <$t>::trunc(self)
            }
            #[cfg_attr(optimized, inline(always))]
            fn copysign(self, b: Self) -> Self {
                <$t>::copysign(self, b)
            }
            each_elementary!(Real by_algorithm ($functions));
            fn ln_gamma(self) -> Self {
                $functions::ln_gamma(self)
            }
            fn polygamma(k: i32, x: Self) -> Self {
                $functions::polygamma(k, x)
            }
        }
    )*};
}
floats! {
    f32 F32 single to_f32;
    f64 F64 double to_f64;
}
