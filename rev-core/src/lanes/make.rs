//! Packs from parts, and what is done lane by lane.

use super::{Isa, Laned, Mask, Pack, Vector, WIDTH};
use crate::scalar::Zero;

/// Zero in every lane.
#[cfg_attr(optimized, inline(always))]
pub fn zero<S: Isa, P: Laned + Zero>(s: S) -> Pack<P> {
    P::broadcast(s, P::zero())
}

/// The number of each lane.
#[cfg_attr(optimized, inline(always))]
pub fn numbers() -> Pack<i32> {
    const NUMBERS: Vector<i32> = {
        let mut numbers = [0; WIDTH];
        let mut k = 0;
        while k < WIDTH {
            numbers[k] = k as i32;
            k += 1;
        }
        Vector(numbers)
    };
    Pack(NUMBERS)
}

/// Packs side by side.
pub trait Parts {
    /// The tuple of which each lane has one.
    type Whole: Laned;
    /// The pack of tuples.
    fn together(self) -> Pack<Self::Whole>;
}

macro_rules! tuples {
    ($(($($part:ident)*))*) => {$(
        impl<$($part: Laned),*> Parts for ($(Pack<$part>,)*)
        where
            ($($part,)*): Laned<Lanes = Self>,
        {
            type Whole = ($($part,)*);
            #[cfg_attr(optimized, inline(always))]
            fn together(self) -> Pack<Self::Whole> {
                Pack(self)
            }
        }
    )*};
}
tuples! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
}

/// A tuple of packs as a pack of tuples.
#[cfg_attr(optimized, inline(always))]
pub fn tuple<T: Parts>(parts: T) -> Pack<T::Whole> {
    parts.together()
}

/// An array of packs as a pack of arrays.
#[cfg_attr(optimized, inline(always))]
pub fn array<P: Laned, const K: usize>(parts: [Pack<P>; K]) -> Pack<[P; K]> {
    Pack(parts)
}

/// An array of equal elements in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn repeat<P: Laned, const K: usize>(v: Pack<P>) -> Pack<[P; K]> {
    Pack(std::array::from_fn(|_| v.clone()))
}

/// The active lanes in which it holds.
#[cfg_attr(optimized, inline(always))]
pub fn within<S: Isa>(s: S, m: impl Mask, c: &Pack<bool>) -> Pack<bool> {
    Pack(m.bits(s) & c.0)
}

/// The active lanes in which it doesn't hold.
#[cfg_attr(optimized, inline(always))]
pub fn without<S: Isa>(s: S, m: impl Mask, c: &Pack<bool>) -> Pack<bool> {
    Pack(m.bits(s) & !c.0)
}

/// The active lanes, in order.
#[cfg_attr(optimized, inline(always))]
pub fn active<S: Isa>(s: S, m: impl Mask) -> impl Iterator<Item = usize> {
    let bits = m.bits(s);
    (0..S::LANES).filter(move |k| bits >> k & 1 == 1)
}

/// The lowest active lane, 0 where none is.
#[cfg_attr(optimized, inline(always))]
pub fn first_active<S: Isa>(s: S, m: impl Mask) -> usize {
    m.bits(s).trailing_zeros() as usize % WIDTH
}
