//! Values brought into lanes: loop variables, results of calls for one lane after the other, shadows of
//! arrays.

use rev_core::lanes::{self, Isa, Laned, Mask, Pack, Portable, WIDTH};
use rev_core::scalar::{Integer, Primal};

use super::index::Lin;
use crate::arrays::Shaped;

/// What stands for a value in each lane.
pub trait LaneValue {
    /// The type of one lane's value.
    type Value: Laned;
    /// All lanes' values.
    fn spread<S: Isa>(self, s: S) -> Pack<Self::Value>;
}

impl<I: Integer + Laned> LaneValue for Lin<I> {
    type Value = I;
    #[cfg_attr(optimized, inline(always))]
    fn spread<S: Isa>(self, s: S) -> Pack<I> {
        self.pack(s)
    }
}

impl<P: Laned> LaneValue for Pack<P> {
    type Value = P;
    #[cfg_attr(optimized, inline(always))]
    fn spread<S: Isa>(self, _: S) -> Pack<P> {
        self
    }
}

/// The loop variable, or a pack, as a pack.
#[cfg_attr(optimized, inline(always))]
pub fn spread<S: Isa, V: LaneValue>(s: S, v: V) -> Pack<V::Value> {
    v.spread(s)
}

/// What a function gives for each active lane, in order; inactive lanes hold a copy of an active one's.
/// The first lane as an error for which it gives `None`, and 0 where no lane is active.
#[cfg_attr(optimized, inline(always))]
pub fn each<S: Isa, M: Mask, R: Laned>(
    s: S,
    m: M,
    mut f: impl FnMut(usize) -> Option<R>,
) -> Result<Pack<R>, usize> {
    let mut all = None;
    for k in 0..S::LANES {
        if m.bits(s) >> k & 1 != 0 {
            let value = f(k).ok_or(k)?;
            match &mut all {
                None => all = Some(lanes::broadcast(s, value)),
                Some(all) => lanes::set(all, k, value),
            }
        }
    }
    all.ok_or(0)
}

/// Elements that are packs.
pub trait Packed {
    /// What one lane has.
    type Value: Primal;
    /// The pack.
    fn pack(&self) -> &Pack<Self::Value>;
}

impl<P: Primal> Packed for Pack<P> {
    type Value = P;
    fn pack(&self) -> &Pack<P> {
        self
    }
}

/// Zero shadows for an array of which each lane has its own. `None` when there is no memory for them.
pub fn zero_shadows<'a, H, const N: usize>(like: H) -> Option<H::Like<Pack<ShadowOf<H::Element, N>>>>
where
    H: Shaped<'a, Element: Packed>,
{
    like.like(|e| lanes::zero_shadow::<_, _, N>(Portable::<WIDTH>, e.pack()))
}

/// Zeros in the shape of an array of which each lane has its own. `None` when there is no memory for them.
pub fn zeros_like<'a, H>(like: H) -> Option<H::Like<Pack<<H::Element as Packed>::Value>>>
where
    H: Shaped<'a, Element: Packed>,
{
    like.like(|e| lanes::zero_like(Portable::<WIDTH>, e.pack()))
}

/// The same of its own in each lane, for an array that all lanes share.
pub fn spread_zeros_like<'a, H>(like: H) -> Option<H::Like<Pack<H::Element>>>
where
    H: Shaped<'a, Element: Primal>,
{
    like.like(|e| lanes::broadcast(Portable::<WIDTH>, e.zero_like()))
}

/// The shadow of one lane of packs.
pub type ShadowOf<E, const N: usize> = <<E as Packed>::Value as Primal>::Shadow<N>;

/// Zero shadows of its own in each lane, for an array that all lanes share. `None` when there is no memory
/// for them.
pub fn spread_zero_shadows<'a, H, const N: usize>(
    like: H,
) -> Option<H::Like<Pack<<H::Element as Primal>::Shadow<N>>>>
where
    H: Shaped<'a, Element: Primal>,
{
    like.like(|e| lanes::broadcast(Portable::<WIDTH>, e.zero_shadow()))
}
