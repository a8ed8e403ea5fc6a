//! Indices of lanes: the same in every lane, growing from lane to lane by a step, or one of each
//! lane's own; and where in memory a tuple of them leads.

use rev_core::error::Error;
use rev_core::lanes::{self, Isa, LaneMask, Laned, Pack, WIDTH};
use rev_core::scalar::Integer;

use crate::fail::{Absent, At};

/// An integer that is `first + k · step` in lane `k`, wrapping around: a loop variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lin<I> {
    /// Lane 0's.
    pub first: I,
    /// From lane to lane.
    pub step: I,
}

impl<I: Integer> Lin<I> {
    /// Lane `k`'s.
    #[cfg_attr(optimized, inline(always))]
    pub fn at(self, k: usize) -> I {
        self.first.plus(self.step.times(I::from_usize(k)))
    }

    /// `self + v`
    #[cfg_attr(optimized, inline(always))]
    pub fn plus(self, v: I) -> Self {
        Lin { first: self.first.plus(v), ..self }
    }

    /// `self - v`
    #[cfg_attr(optimized, inline(always))]
    pub fn minus(self, v: I) -> Self {
        Lin { first: self.first.minus(v), ..self }
    }

    /// `self · v`
    #[cfg_attr(optimized, inline(always))]
    pub fn times(self, v: I) -> Self {
        Lin { first: self.first.times(v), step: self.step.times(v) }
    }
}

impl<I: Integer + Laned> Lin<I> {
    /// All lanes.
    #[cfg_attr(optimized, inline(always))]
    pub fn pack<S: Isa>(self, s: S) -> Pack<I> {
        s.near(|| {
            let steps = lanes::mul(s, lanes::cast(s, lanes::numbers()), lanes::broadcast(s, self.step));
            lanes::add(s, lanes::broadcast(s, self.first), steps)
        })
    }
}

/// Where the elements of an access lie, in bytes from the first element of the array.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Lane 0's, as far as it doesn't vary freely.
    pub(super) start: isize,
    /// From lane to lane.
    pub(super) step: isize,
    /// What each lane has besides; only where an index varies freely.
    pub(super) each: Option<Pack<usize>>,
}

impl Places {
    /// Lane `k`'s.
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn at(&self, k: usize) -> isize {
        let linear = self.start.wrapping_add(self.step.wrapping_mul(k as isize));
        match &self.each {
            Some(each) => linear.wrapping_add(lanes::get(each, k) as isize),
            None => linear,
        }
    }

    /// All lanes', without the start.
    #[cfg(target_arch = "x86_64")]
    #[cfg_attr(optimized, inline(always))]
    pub(super) fn all<S: Isa, X: Pattern>(&self, s: S) -> Pack<usize> {
        if let (Some(each), false) = (self.each, X::LINEAR) {
            return each;
        }
        let linear = Lin { first: 0usize, step: self.step as usize }.pack(s);
        match self.each {
            Some(each) => lanes::add(s, linear, each),
            None => linear,
        }
    }
}

/// How the lanes of an index differ. None of the two: not at all.
pub trait Pattern: Copy {
    /// There is a part that grows from lane to lane by one step.
    const LINEAR: bool;
    /// There is a part that varies freely.
    const VARYING: bool;
    /// The compiler knows how far the lanes' elements are apart, if it is always the same.
    const KNOWN: bool = true;
}

/// A pattern of which the compiler knows nothing more.
#[derive(Clone, Copy)]
pub(super) struct Unknown<X>(X);

impl<X: Pattern> Pattern for Unknown<X> {
    const LINEAR: bool = X::LINEAR;
    const VARYING: bool = X::VARYING;
    const KNOWN: bool = X::VARYING;
}

/// The index along one axis.
pub trait Index: Pattern {
    /// Lane `k`'s.
    fn at(self, k: usize) -> usize;
    /// The lanes of a mask in which it isn't less than the extent of the axis.
    fn beyond<S: Isa>(self, s: S, m: LaneMask, extent: usize) -> LaneMask;
    /// Moves places by this index of an axis whose neighbours are `stride` bytes apart.
    fn shift<S: Isa>(self, s: S, stride: isize, places: &mut Places);
}

macro_rules! pattern {
    ($index:ty, $linear:literal, $varying:literal) => {
        impl Pattern for $index {
            const LINEAR: bool = $linear;
            const VARYING: bool = $varying;
        }
    };
}
pattern!(usize, false, false);
pattern!(Lin<usize>, true, false);
pattern!(Pack<usize>, false, true);
pattern!(&Pack<usize>, false, true);

impl Index for usize {
    #[cfg_attr(optimized, inline(always))]
    fn at(self, _: usize) -> usize {
        self
    }
    #[cfg_attr(optimized, inline(always))]
    fn beyond<S: Isa>(self, _: S, m: LaneMask, extent: usize) -> LaneMask {
        match self < extent {
            true => 0,
            false => m,
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn shift<S: Isa>(self, _: S, stride: isize, places: &mut Places) {
        places.start = places.start.wrapping_add((self as isize).wrapping_mul(stride));
    }
}

/// Steps up to here don't wrap around on their way through the lanes.
const SMALL: usize = usize::MAX / (4 * WIDTH);

impl Index for Lin<usize> {
    #[cfg_attr(optimized, inline(always))]
    fn at(self, k: usize) -> usize {
        Lin::at(self, k)
    }
    #[cfg_attr(optimized, inline(always))]
    fn beyond<S: Isa>(self, _: S, m: LaneMask, extent: usize) -> LaneMask {
        let (first, last) = (m.trailing_zeros() as usize, m.checked_ilog2().unwrap_or(0) as usize);
        let in_range = match self.step {
            // one comparison, with what is the same for all groups
            1 => Lin::at(self, first) < extent.saturating_sub(last.saturating_sub(first)),
            // the mask's first and last lane in range, and everything between them between the two
            _ => {
                let steady = (self.step as isize).unsigned_abs() <= SMALL && extent <= isize::MAX as usize;
                steady && Lin::at(self, first) < extent && Lin::at(self, last) < extent
            }
        };
        match in_range {
            true => 0,
            false => beyond_one_by_one(self, m, extent),
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn shift<S: Isa>(self, s: S, stride: isize, places: &mut Places) {
        self.first.shift(s, stride, places);
        places.step = places.step.wrapping_add((self.step as isize).wrapping_mul(stride));
    }
}

/// What is gone through before an error only.
#[cold]
#[inline(never)]
fn beyond_one_by_one(index: Lin<usize>, m: LaneMask, extent: usize) -> LaneMask {
    (0..WIDTH).filter(|&k| m >> k & 1 != 0 && index.at(k) >= extent).fold(0, |all, k| all | 1 << k)
}

impl Index for Pack<usize> {
    #[cfg_attr(optimized, inline(always))]
    fn at(self, k: usize) -> usize {
        lanes::get(&self, k)
    }
    #[cfg_attr(optimized, inline(always))]
    fn beyond<S: Isa>(self, s: S, m: LaneMask, extent: usize) -> LaneMask {
        m & !lanes::lt(s, self, lanes::broadcast(s, extent)).0
    }
    #[cfg_attr(optimized, inline(always))]
    fn shift<S: Isa>(self, s: S, stride: isize, places: &mut Places) {
        let moved = lanes::mul(s, self, lanes::broadcast(s, stride as usize));
        places.each = Some(match places.each {
            Some(each) => lanes::add(s, each, moved),
            None => moved,
        });
    }
}

impl Index for &Pack<usize> {
    #[cfg_attr(optimized, inline(always))]
    fn at(self, k: usize) -> usize {
        Index::at(*self, k)
    }
    #[cfg_attr(optimized, inline(always))]
    fn beyond<S: Isa>(self, s: S, m: LaneMask, extent: usize) -> LaneMask {
        (*self).beyond(s, m, extent)
    }
    #[cfg_attr(optimized, inline(always))]
    fn shift<S: Isa>(self, s: S, stride: isize, places: &mut Places) {
        (*self).shift(s, stride, places);
    }
}

/// The indices along all `R` axes of an array.
pub trait Indices<const R: usize>: Pattern {
    /// The lanes of a mask in which one isn't less than its axis' extent.
    fn beyond<S: Isa>(self, s: S, m: LaneMask, shape: &[usize; R]) -> LaneMask;
    /// Where they lead, for elements that are `strides` bytes apart along the axes.
    fn places<S: Isa>(self, s: S, strides: &[isize; R]) -> Places;
    /// Lane `k`'s.
    fn in_lane(self, k: usize) -> [usize; R];
}

/// That an array of a shape has no element that the lane `k` asked for.
#[cfg_attr(optimized, inline(always))]
pub fn absent<const R: usize>(
    at: &At,
    place: &'static str,
    shape: [usize; R],
    index: impl Indices<R>,
    k: usize,
) -> Error {
    Absent { index: index.in_lane(k), shape }.error(at, place)
}

#[cfg_attr(optimized, inline(always))]
fn origin() -> Places {
    Places { start: 0, step: 0, each: None }
}

impl<I: Index, const R: usize> Pattern for [I; R] {
    const LINEAR: bool = I::LINEAR;
    const VARYING: bool = I::VARYING;
}

impl<I: Index, const R: usize> Indices<R> for [I; R] {
    #[cfg_attr(optimized, inline(always))]
    fn beyond<S: Isa>(self, s: S, m: LaneMask, shape: &[usize; R]) -> LaneMask {
        let mut beyond = 0;
        for k in 0..R {
            beyond |= self[k].beyond(s, m, shape[k]);
        }
        beyond
    }
    #[cfg_attr(optimized, inline(always))]
    fn places<S: Isa>(self, s: S, strides: &[isize; R]) -> Places {
        let mut places = origin();
        for k in 0..R {
            self[k].shift(s, strides[k], &mut places);
        }
        places
    }
    #[cfg_attr(optimized, inline(always))]
    fn in_lane(self, k: usize) -> [usize; R] {
        self.map(|index| index.at(k))
    }
}

macro_rules! tuples {
    ($($r:literal: $($i:ident $k:tt)*;)*) => {$(
        impl<$($i: Index),*> Pattern for ($($i,)*) {
            const LINEAR: bool = false $(|| $i::LINEAR)*;
            const VARYING: bool = false $(|| $i::VARYING)*;
        }

        impl<$($i: Index),*> Indices<$r> for ($($i,)*) {
            #[cfg_attr(optimized, inline(always))]
            fn beyond<S: Isa>(self, s: S, m: LaneMask, shape: &[usize; $r]) -> LaneMask {
                0 $(| self.$k.beyond(s, m, shape[$k]))*
            }
            #[cfg_attr(optimized, inline(always))]
            fn places<S: Isa>(self, s: S, strides: &[isize; $r]) -> Places {
                let mut places = origin();
                $(self.$k.shift(s, strides[$k], &mut places);)*
                places
            }
            #[cfg_attr(optimized, inline(always))]
            fn in_lane(self, k: usize) -> [usize; $r] {
                [$(self.$k.at(k)),*]
            }
        }
    )*};
}
tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
}
