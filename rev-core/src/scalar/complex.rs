//! Complex numbers over any real scalar. The formulas are the textbook ones, written on the parts;
//! division scales by the larger part (Smith 1962), so that it doesn't overflow half-way.

use super::{ComplexShadow, Field, Linear, Num, Primal, Real, Ring, Scalar, Zero};
use crate::ir::Type;
use crate::lanes::{self, ComplexParts, Isa, Pack};
use crate::tolerance::Tolerances;
use crate::value::Value;
use num_complex::Complex;

impl<T: Real> Zero for Complex<T> {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        Complex { re: T::zero(), im: T::zero() }
    }
}

impl<T: Real> Linear for Complex<T> {
    type Over = Self;
    type Part = T;
    type InLanes = ComplexParts;

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
    fn unscale_exact(self, c: Self) -> Option<Self> {
        self.over_exact(c)
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
    fn conjugate(self) -> Self {
        Ring::conj(self)
    }
    #[cfg_attr(optimized, inline(always))]
    fn real_part(self) -> T {
        self.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn imaginary_part(self) -> T {
        self.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_real_part(re: T) -> Self {
        Complex { re, im: T::zero() }
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_imaginary_part(im: T) -> Self {
        Complex { re: T::zero(), im }
    }
}

impl<T: Real> Scalar for Complex<T> {
    fn ir_type() -> Type {
        Type::Complex(Box::new(T::ir_type()))
    }
    fn to_value(self) -> Value {
        let re = self.re.to_value();
        Value::complex(re, self.im.to_value()).unwrap_or(re)
    }
    fn from_value(value: &Value) -> Option<Self> {
        let (re, im) = value.parts()?;
        Some(Complex { re: T::from_value(&re)?, im: T::from_value(&im)? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn to_number(self) -> Num {
        Num::Complex(self.re.to_f64(), self.im.to_f64())
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_number(num: Num) -> Self {
        let im = if let Num::Complex(_, im) = num { im } else { 0.0 };
        Complex { re: T::from_number(num), im: T::from_number(Num::Float(im)) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_close(self, expected: Self, tolerances: &Tolerances, held: Option<f64>) -> bool {
        self.re.is_close(expected.re, tolerances, held) && self.im.is_close(expected.im, tolerances, held)
    }
    #[cfg_attr(optimized, inline(always))]
    fn modulus(self) -> f64 {
        let (re, im) = (self.re.modulus(), self.im.modulus());
        if re > im || re.is_nan() {
            re
        } else {
            im
        }
    }
}

impl<T: Real> Ring for Complex<T> {
    #[cfg_attr(optimized, inline(always))]
    fn plus(self, b: Self) -> Self {
        Complex { re: self.re.plus(b.re), im: self.im.plus(b.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus(self, b: Self) -> Self {
        Complex { re: self.re.minus(b.re), im: self.im.minus(b.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn times(self, b: Self) -> Self {
        Complex {
            re: self.re.times(b.re).minus(self.im.times(b.im)),
            im: self.re.times(b.im).plus(self.im.times(b.re)),
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn negated(self) -> Self {
        Complex { re: self.re.negated(), im: self.im.negated() }
    }
    #[cfg_attr(optimized, inline(always))]
    fn fused(self, b: Self, c: Self) -> Self {
        Complex {
            re: self.im.negated().fused(b.im, self.re.fused(b.re, c.re)),
            im: self.im.fused(b.re, self.re.fused(b.im, c.im)),
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn fused_from(self, b: Self, c: Self) -> Self {
        Complex {
            re: self.im.negated().fused_from(b.im, self.re.fused_from(b.re, c.re)),
            im: self.im.fused_from(b.re, self.re.fused_from(b.im, c.im)),
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn absolute(self) -> Self {
        Self::from_real(Field::norm(self))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unit(self) -> Self {
        let r = Field::norm(self);
        if r == T::zero() {
            Self::zero()
        } else {
            Complex { re: self.re.over(r), im: self.im.over(r) }
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn conj(self) -> Self {
        Complex { re: self.re, im: self.im.negated() }
    }
    #[cfg_attr(optimized, inline(always))]
    fn one() -> Self {
        Self::from_real(T::one())
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_int(v: i128) -> Self {
        Self::from_real(T::from_int(v))
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_usize(n: usize) -> Self {
        Self::from_real(T::from_usize(n))
    }
    #[cfg_attr(optimized, inline(always))]
    fn times_exact(self, k: Self) -> Option<Self> {
        (k != Self::zero()).then(|| self.times(k))
    }
    #[cfg_attr(optimized, inline(always))]
    fn over_exact(self, k: Self) -> Option<Self> {
        (k != Self::zero()).then(|| self.over(k))
    }
    #[cfg_attr(optimized, inline(always))]
    fn times_int(self, k: i64) -> Option<Self> {
        Some(Complex { re: self.re.times_int(k)?, im: self.im.times_int(k)? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn over_int(self, k: i64) -> Option<Self> {
        Some(Complex { re: self.re.over_int(k)?, im: self.im.over_int(k)? })
    }
}

/// `a/2`.
#[cfg_attr(optimized, inline(always))]
fn half<T: Real>(a: T) -> T {
    a.times(T::from_f64(0.5))
}

impl<T: Real> Field for Complex<T> {
    type Real = T;
    #[cfg_attr(optimized, inline(always))]
    fn from_f64(v: f64) -> Self {
        Self::from_real(T::from_f64(v))
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_real(re: T) -> Self {
        Complex { re, im: T::zero() }
    }
    #[inline]
    fn over(self, b: Self) -> Self {
        if b.re.absolute() >= b.im.absolute() {
            let r = b.im.over(b.re);
            let d = b.re.plus(b.im.times(r));
            Complex {
                re: self.re.plus(self.im.times(r)).over(d),
                im: self.im.minus(self.re.times(r)).over(d),
            }
        } else {
            let r = b.re.over(b.im);
            let d = b.re.times(r).plus(b.im);
            Complex {
                re: self.re.times(r).plus(self.im).over(d),
                im: self.im.times(r).minus(self.re).over(d),
            }
        }
    }
    /// The branch with a real part that isn't negative; the half that would cancel is computed from
    /// the other one.
    #[inline]
    fn sqrt(self) -> Self {
        if self == Self::zero() {
            return self;
        }
        let t = half(self.re.absolute().plus(Field::norm(self))).sqrt();
        let s = half(self.im.absolute().over(t));
        let (re, im) = if self.re >= T::zero() { (t, s) } else { (s, t) };
        Complex { re, im: im.copysign(self.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn recip(self) -> Self {
        Self::one().over(self)
    }
    #[inline]
    fn exp(self) -> Self {
        let r = self.re.exp();
        Complex { re: r.times(self.im.cos()), im: r.times(self.im.sin()) }
    }
    #[inline]
    fn ln(self) -> Self {
        Complex { re: Field::norm(self).ln(), im: Field::arg(self) }
    }
    #[inline]
    fn sin(self) -> Self {
        Complex { re: self.re.sin().times(self.im.cosh()), im: self.re.cos().times(self.im.sinh()) }
    }
    #[inline]
    fn cos(self) -> Self {
        Complex { re: self.re.cos().times(self.im.cosh()), im: self.re.sin().times(self.im.sinh()).negated() }
    }
    /// `(sin 2a + i sinh 2b) / (cos 2a + cosh 2b)`; for a large `b` that is `±i`.
    #[inline]
    fn tan(self) -> Self {
        let (a, b) = (self.re.plus(self.re), self.im.plus(self.im));
        if b.absolute() > T::from_f64(80.0) {
            return Complex { re: T::zero(), im: T::one().copysign(b) };
        }
        let d = a.cos().plus(b.cosh());
        Complex { re: a.sin().over(d), im: b.sinh().over(d) }
    }
    #[inline]
    fn sinh(self) -> Self {
        Complex { re: self.re.sinh().times(self.im.cos()), im: self.re.cosh().times(self.im.sin()) }
    }
    #[inline]
    fn cosh(self) -> Self {
        Complex { re: self.re.cosh().times(self.im.cos()), im: self.re.sinh().times(self.im.sin()) }
    }
    /// `tanh z = -i tan(iz)`.
    #[inline]
    fn tanh(self) -> Self {
        let t = Field::tan(Complex { re: self.im.negated(), im: self.re });
        Complex { re: t.im, im: t.re.negated() }
    }
    #[cfg_attr(optimized, inline(always))]
    fn re(self) -> T {
        self.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn im(self) -> T {
        self.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn abs2(self) -> T {
        self.re.times(self.re).plus(self.im.times(self.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn norm(self) -> T {
        self.re.hypot(self.im)
    }
    #[cfg_attr(optimized, inline(always))]
    fn arg(self) -> T {
        self.im.atan2(self.re)
    }
    #[cfg_attr(optimized, inline(always))]
    fn arg_gradient(self) -> Self {
        let r = Field::norm(self);
        if r == T::zero() {
            Self::zero()
        } else {
            Complex { re: self.im.negated().over(r).over(r), im: self.re.over(r).over(r) }
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_real<const N: usize>(c: <T as Primal>::Shadow<N>, t: Self) -> Self::Shadow<N> {
        ComplexShadow { re: c.clone().scale(t.re), im: c.scale(t.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn re_in_lanes<S: Isa>(_: S, z: Pack<Self>) -> Pack<T> {
        z.0.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn im_in_lanes<S: Isa>(_: S, z: Pack<Self>) -> Pack<T> {
        z.0.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn abs2_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<T> {
        let re = lanes::mul(s, z.0.re, z.0.re);
        lanes::add(s, re, lanes::mul(s, z.0.im, z.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn norm_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<T> {
        lanes::hypot(s, z.0.re, z.0.im)
    }
    #[cfg_attr(optimized, inline(always))]
    fn arg_in_lanes<S: Isa>(s: S, z: Pack<Self>) -> Pack<T> {
        lanes::atan2(s, z.0.im, z.0.re)
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_real_in_lanes<S: Isa, const N: usize>(
        s: S,
        c: Pack<<T as Primal>::Shadow<N>>,
        t: Pack<Self>,
    ) -> Pack<Self::Shadow<N>> {
        Pack(ComplexShadow { re: lanes::scale(s, c.clone(), t.0.re), im: lanes::scale(s, c, t.0.im) })
    }
}
