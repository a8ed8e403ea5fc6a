//! Shadows: where the cotangents of a value are kept, `N` of them side by side.

use super::{Linear, Num, Real, Ring, Zero};
use crate::lanes::InParts;
use num_complex::Complex;
use std::fmt::Debug;
use std::marker::PhantomData;

/// The shadow of a real scalar: `N` cotangents. `Batch<f64, 1>` has the layout of an `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct Batch<T, const N: usize>(pub [T; N]);

impl<T> Batch<T, 1> {
    /// Numbers as shadows of one each, where they lie.
    pub fn each_of(numbers: &[T]) -> &[Self] {
        // SAFETY: the layout of `Batch<T, 1>` is that of `[T; 1]`, which is that of `T`
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) }
    }
}

impl<T: Copy, const N: usize> Batch<T, N> {
    /// Equal cotangents.
    pub fn splat(v: T) -> Self {
        Batch([v; N])
    }

    /// A shadow with one cotangent each, from plain numbers. The vector's memory is used again.
    pub fn wrap(values: Vec<[T; N]>) -> Vec<Self> {
        values.into_iter().map(Batch).collect()
    }
}

impl<T: Copy> Batch<T, 1> {
    /// The only cotangent.
    #[cfg_attr(optimized, inline(always))]
    pub fn get(self) -> T {
        self.0[0]
    }

    /// Plain numbers from shadows of width 1. The vector's memory is used again.
    pub fn unwrap_all(shadows: Vec<Self>) -> Vec<T> {
        shadows.into_iter().map(Batch::get).collect()
    }
}

impl<T> From<T> for Batch<T, 1> {
    #[cfg_attr(optimized, inline(always))]
    fn from(v: T) -> Self {
        Batch([v])
    }
}

impl<T: Zero + Copy, const N: usize> Zero for Batch<T, N> {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        Batch([T::zero(); N])
    }
}

impl<T: Zero + Copy, const N: usize> Default for Batch<T, N> {
    fn default() -> Self {
        Self::zero()
    }
}

impl<T: Real, const N: usize> Linear for Batch<T, N> {
    type Over = T;
    type Part = Self;
    type InLanes = InParts;

    #[cfg_attr(optimized, inline(always))]
    fn accumulate(&mut self, v: &Self) {
        for k in 0..N {
            self.0[k] = self.0[k].plus(v.0[k]);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn deduct(&mut self, v: &Self) {
        for k in 0..N {
            self.0[k] = self.0[k].minus(v.0[k]);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn negate(&mut self) {
        self.0 = self.0.map(T::negated);
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_zero(&mut self) {
        *self = Self::zero();
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_zero(&self) -> bool {
        self.0.iter().all(|v| *v == T::zero())
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
        self.0[k] = T::from_number(v);
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale(self, c: T) -> Self {
        Batch(self.0.map(|v| v.times(c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn accumulate_product(&mut self, v: Self, c: T) {
        for k in 0..N {
            self.0[k] = v.0[k].fused(c, self.0[k]);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn deduct_product(&mut self, v: Self, c: T) {
        for k in 0..N {
            self.0[k] = v.0[k].fused_from(c, self.0[k]);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb(self, c: T) -> Self {
        Batch(self.0.map(|v| if v == T::zero() { v } else { v.times(c) }))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact(self, c: T) -> Option<Self> {
        Some(self.scale(c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact(self, c: T) -> Option<Self> {
        (c != T::zero()).then(|| Batch(self.0.map(|v| v.over(c))))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_int(self, k: i64) -> Option<Self> {
        Some(self.scale(T::from_int(k.into())))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int(self, k: i64) -> Option<Self> {
        self.unscale_exact(T::from_int(k.into()))
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

/// The shadow of a complex number: one shadow for each part. The gradient of a real loss `L` is
/// `∂L/∂re + i ∂L/∂im`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct ComplexShadow<S> {
    /// The cotangents of the real part.
    pub re: S,
    /// The cotangents of the imaginary part.
    pub im: S,
}

impl<S: Zero> Zero for ComplexShadow<S> {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        ComplexShadow { re: S::zero(), im: S::zero() }
    }
}

impl<S: Linear> ComplexShadow<S>
where
    S::Over: Real,
{
    /// The product with a complex number, by a way to multiply with a real one.
    #[cfg_attr(optimized, inline(always))]
    fn product(self, c: Complex<S::Over>, times: impl Fn(S, S::Over) -> S) -> Self {
        let mut re = times(self.re.clone(), c.re);
        re.deduct(&times(self.im.clone(), c.im));
        let mut im = times(self.re, c.im);
        im.accumulate(&times(self.im, c.re));
        ComplexShadow { re, im }
    }
}

impl<S: Linear<Part = S>> Linear for ComplexShadow<S>
where
    S::Over: Real,
{
    type Over = Complex<S::Over>;
    type Part = S;
    type InLanes = InParts;

    #[cfg_attr(optimized, inline(always))]
    fn accumulate(&mut self, v: &Self) {
        self.re.accumulate(&v.re);
        self.im.accumulate(&v.im);
    }
    #[cfg_attr(optimized, inline(always))]
    fn deduct(&mut self, v: &Self) {
        self.re.deduct(&v.re);
        self.im.deduct(&v.im);
    }
    #[cfg_attr(optimized, inline(always))]
    fn negate(&mut self) {
        self.re.negate();
        self.im.negate();
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_zero(&mut self) {
        self.re.set_zero();
        self.im.set_zero();
    }
    #[cfg_attr(optimized, inline(always))]
    fn is_zero(&self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }
    #[cfg_attr(optimized, inline(always))]
    fn width() -> usize {
        S::width()
    }
    #[cfg_attr(optimized, inline(always))]
    fn component(&self, k: usize) -> Num {
        Num::Complex(self.re.component(k).to_f64(), self.im.component(k).to_f64())
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_component(&mut self, k: usize, v: Num) {
        self.re.set_component(k, v);
        self.im.set_component(k, Num::Float(if let Num::Complex(_, im) = v { im } else { 0.0 }));
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale(self, c: Self::Over) -> Self {
        self.product(c, S::scale)
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb(self, c: Self::Over) -> Self {
        self.product(c, S::absorb)
    }
    /// The product with `c + 0i`.
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant(self, c: f64) -> Self {
        let mut re = self.re.clone().scale_constant(c);
        re.deduct(&self.im.clone().scale_constant(0.0));
        let mut im = self.re.scale_constant(0.0);
        im.accumulate(&self.im.scale_constant(c));
        ComplexShadow { re, im }
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact(self, c: Self::Over) -> Option<Self> {
        Some(self.scale(c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact(self, c: Self::Over) -> Option<Self> {
        Complex::one().over_exact(c).map(|r| self.scale(r))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_int(self, k: i64) -> Option<Self> {
        Some(ComplexShadow { re: self.re.scale_int(k)?, im: self.im.scale_int(k)? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int(self, k: i64) -> Option<Self> {
        Some(ComplexShadow { re: self.re.unscale_int(k)?, im: self.im.unscale_int(k)? })
    }
    #[cfg_attr(optimized, inline(always))]
    fn conjugate(mut self) -> Self {
        self.im.negate();
        self
    }
    #[cfg_attr(optimized, inline(always))]
    fn real_part(self) -> S {
        self.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn imaginary_part(self) -> S {
        self.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_real_part(re: S) -> Self {
        ComplexShadow { re, im: S::zero() }
    }
    #[cfg_attr(optimized, inline(always))]
    fn from_imaginary_part(im: S) -> Self {
        ComplexShadow { re: S::zero(), im }
    }
}

/// The shadow of a value that carries no derivative: nothing. Every operation does nothing.
pub struct NoShadow<T>(PhantomData<fn() -> T>);

impl<T> NoShadow<T> {
    /// The only value.
    pub const NEW: Self = NoShadow(PhantomData);
}

impl<T> Clone for NoShadow<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for NoShadow<T> {}
impl<T> Default for NoShadow<T> {
    fn default() -> Self {
        Self::NEW
    }
}
impl<T> PartialEq for NoShadow<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl<T> Debug for NoShadow<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NoShadow")
    }
}
impl<T> Zero for NoShadow<T> {
    #[cfg_attr(optimized, inline(always))]
    fn zero() -> Self {
        Self::NEW
    }
}

impl<T> Linear for NoShadow<T> {
    type Over = T;
    type Part = Self;
    type InLanes = InParts;

    #[cfg_attr(optimized, inline(always))]
    fn accumulate(&mut self, _: &Self) {}
    #[cfg_attr(optimized, inline(always))]
    fn deduct(&mut self, _: &Self) {}
    #[cfg_attr(optimized, inline(always))]
    fn negate(&mut self) {}
    #[cfg_attr(optimized, inline(always))]
    fn set_zero(&mut self) {}
    #[cfg_attr(optimized, inline(always))]
    fn is_zero(&self) -> bool {
        true
    }
}
