//! The shadows of scalars: each cotangent is a pack of its own.

use super::InParts;
use crate::lanes::number::from_longs;
use crate::lanes::{div, eq, Each, Isa, LaneMask, LinearRows, Numbers, Pack};
use crate::scalar::{Batch, Complex, ComplexShadow, Linear, NoShadow, Real};

/// `self` and a cotangent of `b`, one after the other.
macro_rules! in_parts {
    ($($name:ident($a:ident $($b:ident)*) => $value:expr;)*) => {$(
        #[cfg_attr(optimized, inline(always))]
        fn $name<S: Isa>(s: S, mut a: Pack<Batch<T, N>> $(, $b: Pack<Batch<T, N>>)*) -> Pack<Batch<T, N>> {
            for k in 0..N {
                let $a = a.0[k].clone();
                $(let $b = $b.0[k].clone();)*
                a.0[k] = $value(s, $a $(, $b)*);
            }
            a
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
        let mut sums = [T::zero(); N];
        for (sum, a) in sums.iter_mut().zip(a.0) {
            *sum = T::InLanes::sum(s, a);
        }
        Batch(sums)
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale<S: Isa>(s: S, mut a: Pack<Batch<T, N>>, c: Pack<T>) -> Pack<Batch<T, N>> {
        for a in &mut a.0 {
            *a = T::InLanes::scale(s, *a, c);
        }
        a
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum_product<S: Isa>(s: S, v: Pack<Batch<T, N>>, c: Pack<T>) -> Batch<T, N> {
        let mut sums = [T::zero(); N];
        for (sum, v) in sums.iter_mut().zip(v.0) {
            *sum = T::InLanes::sum_product(s, v, c);
        }
        Batch(sums)
    }
    #[cfg_attr(optimized, inline(always))]
    fn plus_product<S: Isa>(
        s: S,
        mut to: Pack<Batch<T, N>>,
        v: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Pack<Batch<T, N>> {
        for k in 0..N {
            to.0[k] = T::InLanes::plus_product(s, to.0[k], v.0[k], c);
        }
        to
    }
    #[cfg_attr(optimized, inline(always))]
    fn minus_product<S: Isa>(
        s: S,
        mut from: Pack<Batch<T, N>>,
        v: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Pack<Batch<T, N>> {
        for k in 0..N {
            from.0[k] = T::InLanes::minus_product(s, from.0[k], v.0[k], c);
        }
        from
    }
    #[cfg_attr(optimized, inline(always))]
    fn absorb<S: Isa>(s: S, mut a: Pack<Batch<T, N>>, c: Pack<T>) -> Pack<Batch<T, N>> {
        for a in &mut a.0 {
            *a = T::InLanes::absorb(s, *a, c);
        }
        a
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant<S: Isa>(s: S, a: Pack<Batch<T, N>>, c: f64) -> Pack<Batch<T, N>> {
        Self::scale(s, a, T::splat(T::from_f64(c)))
    }
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact<S: Isa>(s: S, _: LaneMask, a: Pack<Batch<T, N>>, c: Pack<T>) -> Option<Pack<Batch<T, N>>> {
        Some(Self::scale(s, a, c))
    }
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact<S: Isa>(
        s: S,
        mask: LaneMask,
        mut a: Pack<Batch<T, N>>,
        c: Pack<T>,
    ) -> Option<Pack<Batch<T, N>>> {
        if eq(s, c, T::splat(T::zero())).0 & mask != 0 {
            return None;
        }
        for a in &mut a.0 {
            *a = div(s, *a, c);
        }
        Some(a)
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
    fn shadow_from_re<S: Isa>(_: S, re: Pack<P>) -> Pack<ComplexShadow<P>> {
        parts(re, P::splat(P::zero()))
    }
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_im<S: Isa>(_: S, im: Pack<P>) -> Pack<ComplexShadow<P>> {
        parts(P::splat(P::zero()), im)
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
