//! The shadows of scalars: each cotangent is a pack of its own.

use super::each::{each_part, made};
use super::InParts;
use crate::lanes::number::from_longs;
use crate::lanes::{div, eq, Each, Isa, LaneMask, LinearRows, Numbers, Pack};
use crate::scalar::{Batch, Complex, ComplexShadow, Linear, NoShadow, Real};

/// `self` and a cotangent of `b`, one after the other.
macro_rules! in_parts {
    ($($name:ident($a:ident $($b:ident)*) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, $a: Pack<Batch<T, N>> $(, $b: Pack<Batch<T, N>>)*) -> Pack<Batch<T, N>> {
            Pack(made!(N, k => $value(s, $a.0[k] $(, $b.0[k])*)))
        }
    )*};
}

impl<T: Real, const N: usize> LinearRows<Batch<T, N>> for InParts {
    in_parts! {
        plus(a b) => T::InLanes::plus;
        minus(a b) => T::InLanes::minus;
        negated(a) => T::InLanes::negated;
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<Batch<T, N>>) -> Batch<T, N> {
        Batch(made!(N, k => T::InLanes::sum(s, a.0[k])))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale<S: Isa>(s: S, a: Pack<Batch<T, N>>, c: Pack<T>) -> Pack<Batch<T, N>> {
        Pack(made!(N, k => T::InLanes::scale(s, a.0[k], c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product<S: Isa>(s: S, v: Pack<Batch<T, N>>, c: Pack<T>) -> Batch<T, N> {
        Batch(made!(N, k => T::InLanes::sum_product(s, v.0[k], c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn plus_product<S: Isa>(
        s: S,
        to: Pack<Batch<T, N>>,
        v: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Pack<Batch<T, N>> {
        Pack(made!(N, k => T::InLanes::plus_product(s, to.0[k], v.0[k], c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus_product<S: Isa>(
        s: S,
        from: Pack<Batch<T, N>>,
        v: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Pack<Batch<T, N>> {
        Pack(made!(N, k => T::InLanes::minus_product(s, from.0[k], v.0[k], c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb<S: Isa>(s: S, a: Pack<Batch<T, N>>, c: Pack<T>) -> Pack<Batch<T, N>> {
        Pack(made!(N, k => T::InLanes::absorb(s, a.0[k], c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant<S: Isa>(s: S, a: Pack<Batch<T, N>>, c: f64) -> Pack<Batch<T, N>> {
        Self::scale(s, a, T::broadcast(s, T::from_f64(c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact<S: Isa>(s: S, _: LaneMask, a: Pack<Batch<T, N>>, c: Pack<T>) -> Option<Pack<Batch<T, N>>> {
        Some(Self::scale(s, a, c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact<S: Isa>(
        s: S,
        mask: LaneMask,
        a: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Option<Pack<Batch<T, N>>> {
        if eq(s, c, T::broadcast(s, T::zero())).0 & mask != 0 {
            return None;
        }
        Some(Pack(made!(N, k => div(s, a.0[k], c))))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_int<S: Isa>(
        s: S,
        _: LaneMask,
        a: Pack<Batch<T, N>>,
        n: impl Each<i64>,
    ) -> Option<Pack<Batch<T, N>>> {
        Some(Self::scale(s, a, from_longs(s, n)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int<S: Isa>(
        s: S,
        mask: LaneMask,
        a: Pack<Batch<T, N>>,
        n: impl Each<i64>,
    ) -> Option<Pack<Batch<T, N>>> {
        Self::unscale_exact(s, mask, a, from_longs(s, n))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_conj<S: Isa>(_: S, a: Pack<Batch<T, N>>) -> Pack<Batch<T, N>> {
        a
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_re<S: Isa>(_: S, a: Pack<Batch<T, N>>) -> Pack<Batch<T, N>> {
        a
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_re<S: Isa>(_: S, re: Pack<Batch<T, N>>) -> Pack<Batch<T, N>> {
        re
    }
    #[cfg_attr(optimized, inline(always))]
    fn cotangents<S: Isa>(s: S, a: &Pack<Batch<T, N>>, k: usize) -> Option<Numbers> {
        T::InLanes::cotangents(s, &a.0[k], 0)
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_cotangents<S: Isa>(s: S, a: &mut Pack<Batch<T, N>>, k: usize, n: Numbers) {
        T::InLanes::set_cotangents(s, &mut a.0[k], 0, n);
    }
}

/// A pack of complex shadows.
#[cfg_attr(optimized, inline(always))]
fn parts<P: Linear<Part = P>>(re: Pack<P>, im: Pack<P>) -> Pack<ComplexShadow<P>>
where
    P::Over: Real,
{
    Pack(ComplexShadow { re, im })
}

impl<P: Linear<Part = P>> LinearRows<ComplexShadow<P>> for InParts
where
    P::Over: Real,
{
    #[cfg_attr(optimized, inline(always))]
    fn plus<S: Isa>(s: S, a: Pack<ComplexShadow<P>>, b: Pack<ComplexShadow<P>>) -> Pack<ComplexShadow<P>> {
        parts(P::InLanes::plus(s, a.0.re, b.0.re), P::InLanes::plus(s, a.0.im, b.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus<S: Isa>(s: S, a: Pack<ComplexShadow<P>>, b: Pack<ComplexShadow<P>>) -> Pack<ComplexShadow<P>> {
        parts(P::InLanes::minus(s, a.0.re, b.0.re), P::InLanes::minus(s, a.0.im, b.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn negated<S: Isa>(s: S, a: Pack<ComplexShadow<P>>) -> Pack<ComplexShadow<P>> {
        parts(P::InLanes::negated(s, a.0.re), P::InLanes::negated(s, a.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<ComplexShadow<P>>) -> ComplexShadow<P> {
        ComplexShadow { re: P::InLanes::sum(s, a.0.re), im: P::InLanes::sum(s, a.0.im) }
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale<S: Isa>(s: S, a: Pack<ComplexShadow<P>>, c: Pack<Complex<P::Over>>) -> Pack<ComplexShadow<P>> {
        let (a, c) = (a.0, c.0);
        let re = P::InLanes::scale(s, a.re.clone(), c.re);
        let im = P::InLanes::scale(s, a.re, c.im);
        let turned = P::InLanes::scale(s, a.im.clone(), c.im);
        let kept = P::InLanes::scale(s, a.im, c.re);
        parts(P::InLanes::minus(s, re, turned), P::InLanes::plus(s, im, kept))
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb<S: Isa>(s: S, a: Pack<ComplexShadow<P>>, c: Pack<Complex<P::Over>>) -> Pack<ComplexShadow<P>> {
        let (a, c) = (a.0, c.0);
        let re = P::InLanes::absorb(s, a.re.clone(), c.re);
        let im = P::InLanes::absorb(s, a.re, c.im);
        let turned = P::InLanes::absorb(s, a.im.clone(), c.im);
        let kept = P::InLanes::absorb(s, a.im, c.re);
        parts(P::InLanes::minus(s, re, turned), P::InLanes::plus(s, im, kept))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_conj<S: Isa>(s: S, a: Pack<ComplexShadow<P>>) -> Pack<ComplexShadow<P>> {
        parts(a.0.re, P::InLanes::negated(s, a.0.im))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_re<S: Isa>(_: S, a: Pack<ComplexShadow<P>>) -> Pack<P> {
        a.0.re
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_im<S: Isa>(_: S, a: Pack<ComplexShadow<P>>) -> Pack<P> {
        a.0.im
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_re<S: Isa>(s: S, re: Pack<P>) -> Pack<ComplexShadow<P>> {
        parts(re, P::broadcast(s, P::zero()))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_im<S: Isa>(s: S, im: Pack<P>) -> Pack<ComplexShadow<P>> {
        parts(P::broadcast(s, P::zero()), im)
    }
}

/// Nothing is added to nothing.
impl<T> LinearRows<NoShadow<T>> for InParts {
    #[cfg_attr(optimized, inline(always))]
    fn plus<S: Isa>(_: S, _: Pack<NoShadow<T>>, _: Pack<NoShadow<T>>) -> Pack<NoShadow<T>> {
        Pack(())
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus<S: Isa>(_: S, _: Pack<NoShadow<T>>, _: Pack<NoShadow<T>>) -> Pack<NoShadow<T>> {
        Pack(())
    }
    #[cfg_attr(optimized, inline(always))]
    fn negated<S: Isa>(_: S, _: Pack<NoShadow<T>>) -> Pack<NoShadow<T>> {
        Pack(())
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(_: S, _: Pack<NoShadow<T>>) -> NoShadow<T> {
        NoShadow::NEW
    }
}
