//! The exactly reversible scalar: 64-bit fixed point with 43 fraction bits.
//!
//! `+` and `-` wrap modulo 2⁶⁴ and are therefore exact inverses of each other: a program of updates
//! comes back bit for bit, however long it is. Range ±2²⁰ (1 048 576), resolution 2⁻⁴³ (1.1e-13).
//! Products and quotients are rounded to nearest, halves up; the other functions go through `f64`
//! and are rounded to nearest. Every operation gives the same result each time, which is all that
//! exact reversal needs. What has no value is the nearest end of the range (`1/0`), or 0 (`0/0`).

use super::integer::linear_scalar;
use super::{Field, Linear, Num, Primal, Real, Ring, Scalar, Zero};
use crate::ir::{ScalarType, Type};
use crate::math::cpu::double;
use crate::tolerance::Tolerances;
use crate::value::Value;
use fixed::types::extra::U43;
use fixed::FixedI64;

/// 64-bit fixed point with 43 fraction bits.
pub type Fixed43 = FixedI64<U43>;

/// The nearest fixed-point number; NaN becomes 0 and what is out of range the end of the range.
#[inline]
fn fixed(v: f64) -> Fixed43 {
    if v.is_nan() {
        Fixed43::ZERO
    } else {
        Fixed43::saturating_from_num(v)
    }
}

/// `n/d` rounded to nearest (halves up), saturating; 0 for 0/0.
#[inline]
fn quotient(n: i64, d: i64) -> Fixed43 {
    if d == 0 {
        return match n.signum() {
            0 => Fixed43::ZERO,
            1 => Fixed43::MAX,
            _ => Fixed43::MIN,
        };
    }
    let (n, d) = if d < 0 { (-i128::from(n), -i128::from(d)) } else { (i128::from(n), i128::from(d)) };
    let q = ((n << 44) + d).div_euclid(2 * d);
    Fixed43::from_bits(q.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

impl Zero for Fixed43 {
    #[inline(always)]
    fn zero() -> Self {
        Fixed43::ZERO
    }
}

impl Linear for Fixed43 {
    linear_scalar!(Self);
    #[inline(always)]
    fn real_part(self) -> Self {
        self
    }
    #[inline(always)]
    fn from_real_part(re: Self) -> Self {
        re
    }
}

impl Scalar for Fixed43 {
    fn ir_type() -> Type {
        Type::Scalar(ScalarType::Fixed43)
    }
    fn to_value(self) -> Value {
        Value::Fixed43(self)
    }
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Fixed43(v) = value {
            Some(*v)
        } else {
            None
        }
    }
    #[inline(always)]
    fn to_number(self) -> Num {
        Num::Fixed(self)
    }
    #[inline]
    fn from_number(num: Num) -> Self {
        match num {
            Num::Int(v) => Fixed43::saturating_from_num(v),
            Num::Uint(v) => Fixed43::saturating_from_num(v),
            Num::Wide(v) => Fixed43::saturating_from_num(v),
            Num::WideUint(v) => Fixed43::saturating_from_num(v),
            Num::Float(v) | Num::Complex(v, _) => fixed(v),
            Num::Fixed(v) => v,
        }
    }
    #[inline(always)]
    fn is_close(self, expected: Self, _: &Tolerances, _: Option<f64>) -> bool {
        self == expected
    }
    #[inline(always)]
    fn modulus(self) -> f64 {
        self.to_num::<f64>().abs()
    }
}

impl Ring for Fixed43 {
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        self.wrapping_add(b)
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        self.wrapping_sub(b)
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        let product = i128::from(self.to_bits()) * i128::from(b.to_bits());
        Fixed43::from_bits(((product + (1 << 42)) >> 43) as i64)
    }
    #[inline(always)]
    fn negated(self) -> Self {
        self.wrapping_neg()
    }
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        self.times(b).plus(c)
    }
    #[inline(always)]
    fn fused_from(self, b: Self, c: Self) -> Self {
        c.minus(self.times(b))
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        self.wrapping_abs()
    }
    #[inline(always)]
    fn unit(self) -> Self {
        self.signum()
    }
    #[inline(always)]
    fn one() -> Self {
        Fixed43::ONE
    }
    #[inline(always)]
    fn from_int(v: i128) -> Self {
        Fixed43::saturating_from_num(v)
    }
    #[inline(always)]
    fn from_usize(n: usize) -> Self {
        Fixed43::saturating_from_num(n)
    }
    #[inline]
    fn times_exact(self, k: Self) -> Option<Self> {
        let product = i128::from(self.to_bits()) * i128::from(k.to_bits());
        let exact = product & ((1 << 43) - 1) == 0 && k != Fixed43::ZERO;
        i64::try_from(product >> 43).ok().filter(|_| exact).map(Fixed43::from_bits)
    }
    #[inline]
    fn over_exact(self, k: Self) -> Option<Self> {
        let (n, d) = (i128::from(self.to_bits()) << 43, i128::from(k.to_bits()));
        if n.checked_rem(d)? != 0 {
            return None;
        }
        i64::try_from(n / d).ok().map(Fixed43::from_bits)
    }
    #[inline]
    fn times_int(self, k: i64) -> Option<Self> {
        self.to_bits().checked_mul(k).map(Fixed43::from_bits)
    }
    #[inline]
    fn over_int(self, k: i64) -> Option<Self> {
        if self.to_bits().checked_rem(k)? != 0 {
            return None;
        }
        self.to_bits().checked_div(k).map(Fixed43::from_bits)
    }
}

/// A function through `f64`.
macro_rules! through_f64 {
    ($class:ident $name:ident($first:ident $($more:ident)*) $($doc:literal)?) => {
        #[inline]
        fn $name(self $(, $more: Self)*) -> Self {
            fixed(<f64 as $class>::$name(self.to_num() $(, $more.to_num())*))
        }
    };
}

impl Field for Fixed43 {
    type Real = Self;
    through_f64!(Field sqrt(x));
    each_elementary!(Field through_f64 (Field));
    #[inline]
    fn from_f64(v: f64) -> Self {
        fixed(v)
    }
    #[inline(always)]
    fn from_real(re: Self) -> Self {
        re
    }
    #[inline]
    fn over(self, b: Self) -> Self {
        quotient(self.to_bits(), b.to_bits())
    }
    #[inline]
    fn recip(self) -> Self {
        Fixed43::ONE.over(self)
    }
    #[inline(always)]
    fn re(self) -> Self {
        self
    }
    #[inline(always)]
    fn im(self) -> Self {
        Fixed43::ZERO
    }
    #[inline(always)]
    fn abs2(self) -> Self {
        self.times(self)
    }
    #[inline(always)]
    fn norm(self) -> Self {
        self.absolute()
    }
    #[inline]
    fn arg(self) -> Self {
        if self.is_negative() {
            Self::pi()
        } else {
            Fixed43::ZERO
        }
    }
    #[inline(always)]
    fn arg_gradient(self) -> Self {
        Fixed43::ZERO
    }
    #[inline(always)]
    fn scale_real<const N: usize>(c: <Self as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N> {
        c.scale(t)
    }
}

impl Real for Fixed43 {
    each_elementary!(Real through_f64 (Real));
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.to_num()
    }
    #[inline(always)]
    fn pi() -> Self {
        Fixed43::PI
    }
    #[inline]
    fn floor(self) -> Self {
        self.wrapping_floor()
    }
    #[inline]
    fn ceil(self) -> Self {
        self.wrapping_ceil()
    }
    #[inline]
    fn round(self) -> Self {
        self.wrapping_round()
    }
    #[inline]
    fn trunc(self) -> Self {
        self.round_to_zero()
    }
    #[inline]
    fn copysign(self, b: Self) -> Self {
        let a = self.wrapping_abs();
        if b.is_negative() {
            a.wrapping_neg()
        } else {
            a
        }
    }
    fn ln_gamma(self) -> Self {
        fixed(double::ln_gamma(self.to_num()))
    }
    fn polygamma(k: i32, x: Self) -> Self {
        fixed(double::polygamma(k, x.to_num()))
    }
}
