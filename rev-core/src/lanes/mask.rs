//! Truth values in lanes, and which lanes are active.

use super::rows::Rows;
use super::{Isa, LaneMask, Laned, Pack, WIDTH};

impl Laned for bool {
    /// Bit `k` is lane `k`.
    type Lanes = LaneMask;
    type Rows = Bits;

    #[cfg_attr(optimized, inline(always))]
    fn broadcast<S: Isa>(_: S, v: bool) -> Pack<bool> {
        Pack(if v { LaneMask::MAX } else { 0 })
    }
    #[cfg_attr(optimized, inline(always))]
    fn lane(pack: &Pack<bool>, k: usize) -> bool {
        pack.0 >> k & 1 == 1
    }
    #[cfg_attr(optimized, inline(always))]
    fn set_lane(pack: &mut Pack<bool>, k: usize, v: bool) {
        pack.0 = pack.0 & !(1 << k) | LaneMask::from(v) << k;
    }
    #[cfg_attr(optimized, inline(always))]
    fn select<S: Isa>(_: S, mask: LaneMask, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
        Pack(a.0 & mask | b.0 & !mask)
    }
}

/// Truth values are computed with as bits.
#[derive(Debug)]
pub struct Bits;

impl Rows<bool> for Bits {
    #[cfg_attr(optimized, inline(always))]
    fn eq<S: Isa>(_: S, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
        Pack(!(a.0 ^ b.0))
    }
    #[cfg_attr(optimized, inline(always))]
    fn ne<S: Isa>(_: S, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
        Pack(a.0 ^ b.0)
    }
    #[cfg_attr(optimized, inline(always))]
    fn bit_xor<S: Isa>(_: S, a: Pack<bool>, b: Pack<bool>) -> Pack<bool> {
        Pack(a.0 ^ b.0)
    }
}

/// Lanes that take part in something.
pub trait Mask: Copy {
    /// Whether nobody looks at what packs hold in the other lanes, so that values may be put in all of them. The compiler
    /// knows the answer where the code is inlined.
    fn is_all(self) -> bool;
    /// The number of lanes of a group that isn't full, which are the first ones.
    #[cfg_attr(optimized, inline(always))]
    fn part(self) -> Option<usize> {
        None
    }
    /// Whether it is every lane that runs.
    #[cfg_attr(optimized, inline(always))]
    fn is_whole(self) -> bool {
        self.is_all() && self.part().is_none()
    }
    /// Bit `k` is lane `k`; no bit of a lane that doesn't run.
    fn bits<S: Isa>(self, s: S) -> LaneMask;
}

/// Every lane.
#[derive(Clone, Copy, Debug)]
pub struct All;

impl Mask for All {
    #[cfg_attr(optimized, inline(always))]
    fn is_all(self) -> bool {
        true
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits<S: Isa>(self, _: S) -> LaneMask {
        S::ALL
    }
}

/// The lanes of a group of iterations: every lane, or the first ones. One code may serve both: memory, sums over the lanes and checks
/// ask which it is, at run time, and nothing else does.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    part: Option<usize>,
}

impl Group {
    /// Every lane.
    #[cfg_attr(optimized, inline(always))]
    pub fn whole() -> Group {
        Group { part: None }
    }

    /// The first `n` lanes.
    #[cfg_attr(optimized, inline(always))]
    pub fn first(n: usize) -> Group {
        Group { part: Some(n) }
    }
}

impl Mask for Group {
    #[cfg_attr(optimized, inline(always))]
    fn is_all(self) -> bool {
        true
    }
    #[cfg_attr(optimized, inline(always))]
    fn part(self) -> Option<usize> {
        self.part
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits<S: Isa>(self, _: S) -> LaneMask {
        match self.part {
            None => S::ALL,
            Some(n) => first(n).0,
        }
    }
}

impl Mask for Pack<bool> {
    #[cfg_attr(optimized, inline(always))]
    fn is_all(self) -> bool {
        false
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits<S: Isa>(self, _: S) -> LaneMask {
        self.0
    }
}

impl Mask for &Pack<bool> {
    #[cfg_attr(optimized, inline(always))]
    fn is_all(self) -> bool {
        false
    }
    #[cfg_attr(optimized, inline(always))]
    fn bits<S: Isa>(self, _: S) -> LaneMask {
        self.0
    }
}

/// The first `n` lanes.
#[cfg_attr(optimized, inline(always))]
pub fn first(n: usize) -> Pack<bool> {
    Pack(if n < WIDTH { (1 << n) - 1 } else { LaneMask::MAX })
}

/// Whether it holds in some lane.
#[cfg_attr(optimized, inline(always))]
pub fn any(m: &Pack<bool>) -> bool {
    m.0 != 0
}

/// The first active lane in which two truth values differ.
#[cfg_attr(optimized, inline(always))]
pub fn unlike<S: Isa>(s: S, m: impl Mask, a: &Pack<bool>, b: &Pack<bool>) -> Option<usize> {
    let found = (a.0 ^ b.0) & m.bits(s);
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// `a` in the lanes of the mask, `b` in the others.
#[cfg_attr(optimized, inline(always))]
pub fn select<S: Isa, P: Laned>(s: S, m: impl Mask, a: Pack<P>, b: Pack<P>) -> Pack<P> {
    P::select(s, m.bits(s), a, b)
}

/// `place = v` in the lanes of the mask.
#[cfg_attr(optimized, inline(always))]
pub fn assign<S: Isa, P: Laned>(s: S, m: impl Mask, place: &mut Pack<P>, v: Pack<P>) {
    *place = masked(s, m, v, place);
}

/// What a place holds after `v` was put there in the lanes of the mask.
#[cfg_attr(optimized, inline(always))]
pub(super) fn masked<S: Isa, M: Mask, P: Laned>(s: S, m: M, v: Pack<P>, place: &Pack<P>) -> Pack<P> {
    if m.is_all() {
        v
    } else {
        P::select(s, m.bits(s), v, place.clone())
    }
}
