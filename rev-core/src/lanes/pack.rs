//! Values of any type, one for each lane.

use super::rows::Rows;
use super::{Isa, LaneByLane, LaneMask, Layout, Mask, Portable, Vector, WIDTH};
use crate::scalar::{FixedI128, FixedI32, FixedI64, Fraction128, Fraction32, Fraction64, Primal};
use std::fmt::Debug;

/// One value for each lane.
pub struct Pack<P: Laned>(pub P::Lanes);

impl<P: Laned> Debug for Pack<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: Laned> Clone for Pack<P> {
    #[cfg_attr(optimized, inline(always))]
    fn clone(&self) -> Self {
        P::cloned(self)
    }
}

impl<P: Laned> Copy for Pack<P> where P::Lanes: Copy {}

/// A type whose values can be kept in lanes: every type of value and of shadow.
#[diagnostic::on_unimplemented(
    message = "[R0612] `{Self}` isn't a type whose values a reversible function can have",
    label = "of this type",
    note = "a struct is one under `#[derive(Clone, Debug, Reversible)]`, with `T: Scalar` for its type parameters"
)]
pub trait Laned: Clone {
    /// One value for each lane.
    type Lanes: Clone + Debug + Send + Sync;
    /// How the functions of this module compute with them.
    type Rows: Rows<Self>;
    /// How it lies in memory.
    const LAYOUT: Layout = Layout::LANES;

    /// A clone, element by element; of numbers, which are copied, the vector at once, and of several packs each. It is inlined where
    /// a clone of the standard library is a call, for each element, of code that isn't compiled for the instruction set.
    #[cfg_attr(optimized, inline(always))]
    fn cloned(pack: &Pack<Self>) -> Pack<Self> {
        Pack(pack.0.clone())
    }
    /// The same value in every lane, register by register.
    fn broadcast<S: Isa>(s: S, v: Self) -> Pack<Self>;
    /// The value in lane `k`, which is less than [`WIDTH`](super::WIDTH).
    fn lane(pack: &Pack<Self>, k: usize) -> Self;
    /// Sets the value in lane `k`, which is less than [`WIDTH`](super::WIDTH).
    fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self);
    /// The lanes of which a number is NaN, or infinite where `finite` asks for it. None of an exact type, nor of a shadow.
    #[cfg_attr(optimized, inline(always))]
    fn astray<S: Isa>(s: S, pack: &Pack<Self>, finite: bool) -> LaneMask {
        let _ = (s, pack, finite);
        0
    }
    /// The lanes in which one of many may be so: at least those.
    #[cfg_attr(optimized, inline(always))]
    fn may_be_astray<S: Isa>(s: S, packs: &[Pack<Self>]) -> LaneMask {
        let _ = (s, packs);
        LaneMask::MAX
    }
    /// `a` in the lanes of the mask, `b` in the others.
    #[cfg_attr(optimized, inline(always))]
    fn select<S: Isa>(s: S, mask: LaneMask, a: Pack<Self>, b: Pack<Self>) -> Pack<Self> {
        let _ = s;
        let mut result = b;
        for k in 0..S::LANES {
            if mask >> k & 1 == 1 {
                Self::set_lane(&mut result, k, Self::lane(&a, k));
            }
        }
        result
    }
}

/// The same value in every lane, where the instruction set isn't known.
#[cfg_attr(optimized, inline(always))]
pub fn splat<P: Laned>(v: P) -> Pack<P> {
    P::broadcast(Portable::<WIDTH>, v)
}

/// The same value in every lane, register by register.
#[cfg_attr(optimized, inline(always))]
pub fn broadcast<S: Isa, P: Laned>(s: S, v: P) -> Pack<P> {
    P::broadcast(s, v)
}

/// The value in lane `k`.
#[cfg_attr(optimized, inline(always))]
pub fn get<P: Laned>(pack: &Pack<P>, k: usize) -> P {
    P::lane(pack, k)
}

/// Sets the value in lane `k`.
#[cfg_attr(optimized, inline(always))]
pub fn set<P: Laned>(pack: &mut Pack<P>, k: usize, v: P) {
    P::set_lane(pack, k, v);
}

/// The first active lane of which a number is NaN, or infinite where `finite` asks for it.
#[cfg_attr(optimized, inline(always))]
pub fn astray<S: Isa, P: Laned>(s: S, m: impl Mask, pack: &Pack<P>, finite: bool) -> Option<usize> {
    let found = P::astray(s, pack, finite) & m.bits(s);
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// Zero cotangents for the value in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn zero_shadow<S: Isa, P: Primal, const N: usize>(s: S, like: &Pack<P>) -> Pack<P::Shadow<N>> {
    P::zero_shadow_lanes(s, like)
}

/// Zeros of the shape of the value in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn zero_like<S: Isa, P: Primal>(s: S, like: &Pack<P>) -> Pack<P> {
    Laned::broadcast(s, P::lane(like, 0).zero_like())
}

/// A pack made lane by lane; lanes that don't run hold what the first does.
#[cfg_attr(optimized, inline(always))]
pub(crate) fn collect<S: Isa, P: Laned>(s: S, value: impl Fn(usize) -> P) -> Pack<P> {
    let mut pack = P::broadcast(s, value(0));
    for k in 1..S::LANES {
        P::set_lane(&mut pack, k, value(k));
    }
    pack
}

/// [`Laned`] for types of which each lane is a value by itself, computed with one after the other.
macro_rules! lane_by_lane {
    ($($(#[$attribute:meta])* [$($generics:tt)*] $t:ty $(: $word:literal)? $(, $float:ident)?;)*) => {$(
        $(#[$attribute])*
        impl<$($generics)*> Laned for $t {
            type Lanes = Vector<$t>;
            type Rows = LaneByLane;
            // SAFETY: a scalar is one word, any bits of which are a value, and its vector all lanes' words.
            $(const LAYOUT: Layout = unsafe { Layout::words($word) };)?

            #[cfg_attr(optimized, inline(always))]
            fn broadcast<S: $crate::lanes::Isa>(_: S, v: Self) -> $crate::lanes::Pack<Self> {
                Pack(Vector::splat(v))
            }
            #[cfg_attr(optimized, inline(always))]
            fn lane(pack: &Pack<Self>, k: usize) -> Self {
                pack.0 .0[k].clone()
            }
            #[cfg_attr(optimized, inline(always))]
            fn set_lane(pack: &mut Pack<Self>, k: usize, v: Self) {
                pack.0 .0[k] = v;
            }
            $(
                #[cfg_attr(optimized, inline(always))]
                fn astray<S: Isa>(_: S, pack: &Pack<Self>, finite: bool) -> LaneMask {
                    let is_astray = |v: $t| v.$float() || finite && v.is_infinite();
                    (0..S::LANES).fold(0, |mask, k| mask | LaneMask::from(is_astray(pack.0 .0[k])) << k)
                }
            )?
        }
    )*};
}

lane_by_lane! {
    #[cfg(not(target_pointer_width = "64"))] [] isize;
    #[cfg(not(target_pointer_width = "64"))] [] usize;
    [] i8: 1; [] i16: 2; [] i128; [] u8: 1; [] u16: 2; [] u128;
    [] crate::scalar::f16: 2, is_nan; [] crate::scalar::bf16: 2, is_nan;
    [T: crate::scalar::Half, const N: usize] crate::scalar::WideBatch<T, N>;
    [F: Fraction32] FixedI32<F>;
    [F: Fraction64] FixedI64<F>;
    [F: Fraction128] FixedI128<F>;
    [] crate::scalar::FixedPoint;
    [T: Clone + Debug + Send + Sync] Vec<T>;
    [T: Clone + Debug + Send + Sync] crate::value::Stack<T>;
    [T: Clone + Debug + Send + Sync, D: ndarray::Dimension] ndarray::Array<T, D>;
}
