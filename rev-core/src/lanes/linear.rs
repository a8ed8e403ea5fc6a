//! The operations that values and shadows share, on packs.

use super::pack::collect;
use super::{Each, Isa, LaneByLane, LaneMask, Laned, Numbers, Pack, WIDTH};
use crate::scalar::{Field, Linear, Ring};

/// How packs of `T` are added, scaled and summed. Every method has a body, which goes lane by lane.
pub trait LinearRows<T: Linear> {
    /// `a + b`
    #[cfg_attr(optimized, inline(always))]
    fn plus<S: Isa>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<T> {
        collect(s, |k| {
            let mut sum = T::lane(&a, k);
            sum.accumulate(&T::lane(&b, k));
            sum
        })
    }
    /// `a - b`
    #[cfg_attr(optimized, inline(always))]
    fn minus<S: Isa>(s: S, a: Pack<T>, b: Pack<T>) -> Pack<T> {
        collect(s, |k| {
            let mut difference = T::lane(&a, k);
            difference.deduct(&T::lane(&b, k));
            difference
        })
    }
    /// `-a`
    #[cfg_attr(optimized, inline(always))]
    fn negated<S: Isa>(s: S, a: Pack<T>) -> Pack<T> {
        collect(s, |k| {
            let mut a = T::lane(&a, k);
            a.negate();
            a
        })
    }
    /// The sum of all lanes: of the upper half and the lower half, and so on.
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<T>) -> T {
        let _ = s;
        let mut lanes: [T; WIDTH] = std::array::from_fn(|k| T::lane(&a, k));
        let mut count = S::LANES;
        while count > 1 {
            count /= 2;
            let (low, high) = lanes.split_at_mut(count);
            low.iter_mut().zip(high).for_each(|(a, b)| a.accumulate(b));
        }
        let [first, ..] = lanes;
        first
    }
    /// `rt::scale` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn scale<S: Isa>(s: S, a: Pack<T>, c: Pack<T::Over>) -> Pack<T>
    where
        T::Over: Ring,
    {
        collect(s, |k| T::lane(&a, k).scale(Laned::lane(&c, k)))
    }
    /// The sum of `v·c` over all lanes.
    #[cfg_attr(optimized, inline(always))]
    fn sum_product<S: Isa>(s: S, v: Pack<T>, c: Pack<T::Over>) -> T
    where
        T::Over: Ring,
    {
        Self::sum(s, Self::scale(s, v, c))
    }
    /// [`Linear::accumulate_product`] of `to` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn plus_product<S: Isa>(s: S, to: Pack<T>, v: Pack<T>, c: Pack<T::Over>) -> Pack<T>
    where
        T::Over: Ring,
    {
        collect(s, |k| {
            let mut to = T::lane(&to, k);
            to.accumulate_product(T::lane(&v, k), Laned::lane(&c, k));
            to
        })
    }
    /// [`Linear::deduct_product`] of `from` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn minus_product<S: Isa>(s: S, from: Pack<T>, v: Pack<T>, c: Pack<T::Over>) -> Pack<T>
    where
        T::Over: Ring,
    {
        collect(s, |k| {
            let mut from = T::lane(&from, k);
            from.deduct_product(T::lane(&v, k), Laned::lane(&c, k));
            from
        })
    }
    /// [`Linear::scale_constant`] in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant<S: Isa>(s: S, a: Pack<T>, c: f64) -> Pack<T>
    where
        T::Over: Field,
    {
        collect(s, |k| T::lane(&a, k).scale_constant(c))
    }
    /// `rt::absorb` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn absorb<S: Isa>(s: S, a: Pack<T>, c: Pack<T::Over>) -> Pack<T>
    where
        T::Over: Ring,
    {
        collect(s, |k| T::lane(&a, k).absorb(Laned::lane(&c, k)))
    }
    /// [`Linear::scale_exact`] in the lanes of the mask; `None` if it is so in one of them.
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact<S: Isa>(s: S, mask: LaneMask, a: Pack<T>, c: Pack<T::Over>) -> Option<Pack<T>>
    where
        T::Over: Ring,
    {
        let _ = s;
        exact(mask, a, |k, a| a.scale_exact(Laned::lane(&c, k)))
    }
    /// [`Linear::unscale_exact`] in the lanes of the mask; `None` if it is so in one of them.
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact<S: Isa>(s: S, mask: LaneMask, a: Pack<T>, c: Pack<T::Over>) -> Option<Pack<T>>
    where
        T::Over: Ring,
    {
        let _ = s;
        exact(mask, a, |k, a| a.unscale_exact(Laned::lane(&c, k)))
    }
    /// [`Linear::scale_int`] in the lanes of the mask; `None` if it is so in one of them.
    #[cfg_attr(optimized, inline(always))]
    fn scale_int<S: Isa>(s: S, mask: LaneMask, a: Pack<T>, n: impl Each<i64>) -> Option<Pack<T>>
    where
        T::Over: Ring,
    {
        let _ = s;
        exact(mask, a, |k, a| a.scale_int(n.at(k)))
    }
    /// [`Linear::unscale_int`] in the lanes of the mask; `None` if it is so in one of them.
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int<S: Isa>(s: S, mask: LaneMask, a: Pack<T>, n: impl Each<i64>) -> Option<Pack<T>>
    where
        T::Over: Ring,
    {
        let _ = s;
        exact(mask, a, |k, a| a.unscale_int(n.at(k)))
    }
    /// `rt::shadow_conj` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shadow_conj<S: Isa>(s: S, a: Pack<T>) -> Pack<T>
    where
        T::Over: Ring,
    {
        collect(s, |k| T::lane(&a, k).conjugate())
    }
    /// `rt::shadow_re` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shadow_re<S: Isa>(s: S, a: Pack<T>) -> Pack<T::Part>
    where
        T::Over: Field,
    {
        collect(s, |k| T::lane(&a, k).real_part())
    }
    /// `rt::shadow_im` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shadow_im<S: Isa>(s: S, a: Pack<T>) -> Pack<T::Part>
    where
        T::Over: Field,
    {
        collect(s, |k| T::lane(&a, k).imaginary_part())
    }
    /// `rt::shadow_from_re` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_re<S: Isa>(s: S, re: Pack<T::Part>) -> Pack<T>
    where
        T::Over: Field,
    {
        collect(s, |k| T::from_real_part(Laned::lane(&re, k)))
    }
    /// `rt::shadow_from_im` in each lane.
    #[cfg_attr(optimized, inline(always))]
    fn shadow_from_im<S: Isa>(s: S, im: Pack<T::Part>) -> Pack<T>
    where
        T::Over: Field,
    {
        collect(s, |k| T::from_imaginary_part(Laned::lane(&im, k)))
    }
    /// The `k`-th cotangents of shadows of scalars, as [`Linear::component`] has them; `None` where each
    /// lane is converted by itself.
    #[cfg_attr(optimized, inline(always))]
    fn cotangents<S: Isa>(s: S, a: &Pack<T>, k: usize) -> Option<Numbers> {
        let _ = (s, a, k);
        None
    }
    /// Sets the `k`-th cotangents of shadows of scalars.
    #[cfg_attr(optimized, inline(always))]
    fn set_cotangents<S: Isa>(s: S, a: &mut Pack<T>, k: usize, n: Numbers) {
        let _ = s;
        for lane in 0..S::LANES {
            let mut v = T::lane(a, lane);
            Linear::set_component(&mut v, k, n.at(lane));
            T::set_lane(a, lane, v);
        }
    }
}

/// What can fail, in the lanes of the mask; the others keep what they have.
#[cfg_attr(optimized, inline(always))]
fn exact<T: Laned>(mask: LaneMask, mut a: Pack<T>, f: impl Fn(usize, T) -> Option<T>) -> Option<Pack<T>> {
    for k in 0..WIDTH {
        if mask >> k & 1 == 1 {
            let v = f(k, T::lane(&a, k))?;
            T::set_lane(&mut a, k, v);
        }
    }
    Some(a)
}

impl<T: Linear> LinearRows<T> for LaneByLane {}

/// `a + b` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn plus<S: Isa, P: Linear>(s: S, a: Pack<P>, b: Pack<P>) -> Pack<P> {
    P::InLanes::plus(s, a, b)
}

/// `a - b` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn minus<S: Isa, P: Linear>(s: S, a: Pack<P>, b: Pack<P>) -> Pack<P> {
    P::InLanes::minus(s, a, b)
}

/// `-a` in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn negated<S: Isa, P: Linear>(s: S, a: Pack<P>) -> Pack<P> {
    P::InLanes::negated(s, a)
}
