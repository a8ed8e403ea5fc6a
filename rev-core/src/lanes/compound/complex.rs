//! Complex numbers in parts, by the formulas of the scalars. What branches in more than one place goes
//! lane by lane.

use crate::lanes::*;
use crate::scalar::{Complex, Real};

/// Complex numbers in parts.
#[derive(Debug)]
pub struct ComplexParts;

/// A pack of complex numbers.
#[cfg_attr(optimized, inline(always))]
fn number<T: Real>(re: Pack<T>, im: Pack<T>) -> Pack<Complex<T>> {
    Pack(Complex { re, im })
}

impl<T: Real> Rows<Complex<T>> for ComplexParts {
    #[cfg_attr(optimized, inline(always))]
    fn add<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        number(add(s, a.0.re, b.0.re), add(s, a.0.im, b.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn sub<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        number(sub(s, a.0.re, b.0.re), sub(s, a.0.im, b.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn mul<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        let (a, b) = (a.0, b.0);
        let re = sub(s, mul(s, a.re, b.re), mul(s, a.im, b.im));
        number(re, add(s, mul(s, a.re, b.im), mul(s, a.im, b.re)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn neg<S: Isa>(s: S, a: Pack<Complex<T>>) -> Pack<Complex<T>> {
        number(neg(s, a.0.re), neg(s, a.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn mul_add<S: Isa>(
        s: S,
        a: Pack<Complex<T>>,
        b: Pack<Complex<T>>,
        c: Pack<Complex<T>>,
    ) -> Pack<Complex<T>> {
        let (a, b, c) = (a.0, b.0, c.0);
        let re = mul_add(s, a.re, b.re, c.re);
        let re = mul_add(s, neg(s, a.im), b.im, re);
        number(re, mul_add(s, a.im, b.re, mul_add(s, a.re, b.im, c.im)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn conj<S: Isa>(s: S, z: Pack<Complex<T>>) -> Pack<Complex<T>> {
        number(z.0.re, neg(s, z.0.im))
    }
    /// Both cases of Smith's division are one, with the larger part of the divisor first.
    #[cfg_attr(optimized, inline(always))]
    fn div<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        let (a, b) = (a.0, b.0);
        let first = ge(s, abs(s, b.re), abs(s, b.im));
        let large = select(s, first, b.re, b.im);
        let small = select(s, first, b.im, b.re);
        let r = div(s, small, large);
        let d = add(s, large, mul(s, small, r));
        let own = select(s, first, a.re, a.im);
        let other = select(s, first, a.im, a.re);
        let re = add(s, own, mul(s, other, r));
        let im = sub(s, a.im, mul(s, a.re, r));
        let turned = sub(s, mul(s, a.im, r), a.re);
        number(div(s, re, d), div(s, select(s, first, im, turned), d))
    }
    #[cfg_attr(optimized, inline(always))]
    fn recip<S: Isa>(s: S, z: Pack<Complex<T>>) -> Pack<Complex<T>> {
        Self::div(s, number(T::broadcast(s, T::one()), T::broadcast(s, T::zero())), z)
    }
    #[cfg_attr(optimized, inline(always))]
    fn exp<S: Isa>(s: S, z: Pack<Complex<T>>) -> Pack<Complex<T>> {
        let r = exp(s, z.0.re);
        let cosine = mul(s, r, cos(s, z.0.im));
        number(cosine, mul(s, r, sin(s, z.0.im)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn eq<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<bool> {
        and(s, eq(s, a.0.re, b.0.re), eq(s, a.0.im, b.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn ne<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<bool> {
        not(s, Self::eq(s, a, b))
    }
}

impl<T: Real> LinearRows<Complex<T>> for ComplexParts {
    #[cfg_attr(optimized, inline(always))]
    fn plus<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        add(s, a, b)
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus<S: Isa>(s: S, a: Pack<Complex<T>>, b: Pack<Complex<T>>) -> Pack<Complex<T>> {
        sub(s, a, b)
    }
    #[cfg_attr(optimized, inline(always))]
    fn negated<S: Isa>(s: S, a: Pack<Complex<T>>) -> Pack<Complex<T>> {
        neg(s, a)
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<Complex<T>>) -> Complex<T> {
        Complex { re: T::InLanes::sum(s, a.0.re), im: T::InLanes::sum(s, a.0.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale<S: Isa>(s: S, a: Pack<Complex<T>>, c: Pack<Complex<T>>) -> Pack<Complex<T>> {
        mul(s, a, c)
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_conj<S: Isa>(s: S, a: Pack<Complex<T>>) -> Pack<Complex<T>> {
        conj(s, a)
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_re<S: Isa>(_: S, a: Pack<Complex<T>>) -> Pack<T> {
        a.0.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_im<S: Isa>(_: S, a: Pack<Complex<T>>) -> Pack<T> {
        a.0.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_re<S: Isa>(s: S, re: Pack<T>) -> Pack<Complex<T>> {
        number(re, T::broadcast(s, T::zero()))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_im<S: Isa>(s: S, im: Pack<T>) -> Pack<Complex<T>> {
        number(T::broadcast(s, T::zero()), im)
    }
}
