//! The values that a counted loop visits, as something that can be counted, reversed and split.

use std::iter::Rev;
use std::ops::Range;

use rev_core::scalar::{rt, Integer};

use crate::lanes::Lin;

/// `first, first + stride, …`: `count` values. The stride is negative for a descending loop (for
/// unsigned types: wraps around).
#[derive(Clone, Copy, Debug)]
pub struct Steps<I> {
    first: I,
    stride: I,
    count: usize,
    /// Whether they descend. (A stride of -1 may also be the largest step of an unsigned number.)
    reversed: bool,
}

/// The values of a loop that can be cut in two.
pub trait Visits: Copy + Send + Sync + IntoIterator {
    /// Whether values that follow each other upwards are one apart, whatever the loop.
    const CONSECUTIVE: bool;
    /// The number of values.
    fn count(self) -> usize;
    /// The first `k` values and the rest.
    fn split_at(self, k: usize) -> (Self, Self);
    /// The first `width` values as lanes, and how much further the next ones are. A loop that runs down
    /// in steps of one visits its lanes upwards, in the order of memory.
    fn group(self, width: usize) -> (Lin<Self::Item>, Self::Item);
    /// How they are numbered.
    fn numbering(self) -> Numbering;
}

/// The first of the values that a loop visits, and how far apart they are: enough to tell the number of each.
/// Values of 128 bits are those with the same bits.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    first: i128,
    /// At least 1.
    step: u128,
    reversed: bool,
}

impl Numbering {
    /// How many values come before one that is visited.
    #[inline]
    pub fn of(self, value: i128) -> u64 {
        let (from, to) = if self.reversed { (value, self.first) } else { (self.first, value) };
        let reach = to.wrapping_sub(from) as u128;
        match (self.step, u64::try_from(reach), u64::try_from(self.step)) {
            (1, _, _) => reach as u64,
            // 64 bits are divided faster
            (_, Ok(reach), Ok(step)) => reach / step,
            (step, _, _) => (reach / step) as u64,
        }
    }
}

/// `start..end`, as the compiler knows it best.
#[derive(Clone, Copy, Debug)]
pub struct Up<I> {
    start: I,
    end: I,
}

/// `(start..end).rev()`
#[derive(Clone, Copy, Debug)]
pub struct Down<I> {
    start: I,
    end: I,
}

macro_rules! consecutive {
    ($($name:ident |$v:ident| $iter:expr, $item:ty, |$all:ident, $k:ident| $split:expr, $group:expr, $numbering:expr;)*) => {$(
        impl<I: Integer> $name<I> {
            /// The values.
            #[cfg_attr(optimized, inline(always))]
            pub fn new(start: I, end: I) -> Self {
                $name { start, end }
            }
        }

        impl<I: Integer> IntoIterator for $name<I>
        where
            Range<I>: DoubleEndedIterator<Item = I>,
        {
            type Item = I;
            type IntoIter = $item;
            #[cfg_attr(optimized, inline(always))]
            fn into_iter(self) -> Self::IntoIter {
                let $v = self.start..self.end;
                $iter
            }
        }

        impl<I: Integer> Visits for $name<I>
        where
            Range<I>: DoubleEndedIterator<Item = I>,
        {
            const CONSECUTIVE: bool = true;
            #[inline]
            fn count(self) -> usize {
                if self.start < self.end { wide(self.end.minus(self.start)) as usize } else { 0 }
            }
            #[inline]
            fn split_at(self, k: usize) -> (Self, Self) {
                let $all = self;
                let $k = I::from_usize(k.min(self.count()));
                $split
            }
            #[cfg_attr(optimized, inline(always))]
            fn group(self, width: usize) -> (Lin<I>, I) {
                let ($all, width) = (self, I::from_usize(width));
                $group(width)
            }
            fn numbering(self) -> Numbering {
                let (first, reversed): (I, bool) = $numbering(self);
                Numbering { first: rt::cast(first), step: 1, reversed }
            }
        }
    )*};
}
consecutive! {
    Up |range| range, Range<I>, |all, k| {
        let middle = all.start.plus(k);
        (Up { end: middle, ..all }, Up { start: middle, ..all })
    }, |width| (Lin { first: all.start, step: I::one() }, width), |all: Self| (all.start, false);
    Down |range| range.rev(), Rev<Range<I>>, |all, k| {
        let middle = all.end.minus(k);
        (Down { start: middle, ..all }, Down { end: middle, ..all })
    }, |width: I| (Lin { first: all.end.minus(width), step: I::one() }, width.negated()),
        |all: Self| (all.end.minus(I::one()), true);
}

impl<I: Integer> Steps<I> {
    /// The values `start, start + step, …` below `end` (up to `end` if `inclusive`). With
    /// `from_end` the steps are counted from the last value of the range down; with `reversed` the
    /// values come in descending order. `None` for a step below 1. A step may be wider than the
    /// values: as far as it reaches, it is one between their unsigned twins.
    #[cfg_attr(optimized, inline(always))]
    pub fn new<S: Integer>(
        start: I,
        end: I,
        inclusive: bool,
        step: S,
        from_end: bool,
        reversed: bool,
    ) -> Option<Self> {
        if step < S::one() {
            return None;
        }
        let empty = if inclusive { end < start } else { end <= start };
        if empty {
            return Some(Steps { first: start, stride: I::one(), count: 0, reversed });
        }
        let last = if inclusive { end } else { end.minus(I::one()) };
        // wrapping differences are right as unsigned numbers even where they don't fit the type
        let reach = last.minus(start);
        let (trips, skipped) = divided(reach, step);
        let count = trips.saturating_add(1);
        let (low, high) = if from_end { (start.plus(skipped), last) } else { (start, last.minus(skipped)) };
        let stride: I = rt::cast(step);
        let (first, stride) = if reversed { (high, stride.negated()) } else { (low, stride) };
        Some(Steps { first, stride, count, reversed })
    }
}

/// `reach / step` as a count, and the rest, where `reach` is an unsigned number in the bits of its type.
#[cfg_attr(optimized, inline(always))]
fn divided<I: Integer, S: Integer>(reach: I, step: S) -> (usize, I) {
    let same: I = rt::cast(step);
    let fits = same >= I::one() && rt::cast::<I, S>(same) == step;
    match (fits && reach >= I::zero(), reach.quotient(same), reach.remainder(same)) {
        (true, Some(q), Some(r)) => (rt::cast(q), r),
        // a range longer than half of a signed type's values, or a step that is
        _ => {
            let (reach, step) = (wide(reach), wide(step).max(1));
            (usize::try_from(reach / step).unwrap_or(usize::MAX), I::from_int((reach % step) as i128))
        }
    }
}

impl<I: Integer> Visits for Steps<I> {
    const CONSECUTIVE: bool = false;
    #[cfg_attr(optimized, inline(always))]
    fn count(self) -> usize {
        self.count
    }
    #[inline]
    fn split_at(self, k: usize) -> (Self, Self) {
        let k = k.min(self.count);
        let second = self.first.plus(self.stride.times(I::from_usize(k)));
        (Steps { count: k, ..self }, Steps { first: second, count: self.count - k, ..self })
    }
    #[cfg_attr(optimized, inline(always))]
    fn group(self, width: usize) -> (Lin<I>, I) {
        let width = I::from_usize(width);
        let down = self.reversed && self.stride == I::one().negated();
        let lanes = match down {
            true => Lin { first: self.first.minus(width.minus(I::one())), step: I::one() },
            false => Lin { first: self.first, step: self.stride },
        };
        (lanes, self.stride.times(width))
    }
    fn numbering(self) -> Numbering {
        let step = if self.reversed { self.stride.negated() } else { self.stride };
        Numbering { first: rt::cast(self.first), step: wide(step).max(1), reversed: self.reversed }
    }
}

/// The bits of an integer as an unsigned number.
fn wide<I: Integer>(v: I) -> u128 {
    let bits = 8 * std::mem::size_of::<I>() as u32;
    rt::cast::<I, u128>(v) & (u128::MAX >> (128 - bits))
}

impl<I: Integer> Iterator for Steps<I> {
    type Item = I;

    #[cfg_attr(optimized, inline(always))]
    fn next(&mut self) -> Option<I> {
        self.count = self.count.checked_sub(1)?;
        let value = self.first;
        self.first = self.first.plus(self.stride);
        Some(value)
    }

    #[cfg_attr(optimized, inline(always))]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visited(end: i32, inclusive: bool, step: i32, from_end: bool, reversed: bool) -> Vec<i32> {
        Steps::new(1, end, inclusive, step, from_end, reversed).unwrap().collect()
    }

    #[test]
    fn steps_count_from_either_end_in_either_order() {
        assert_eq!(visited(4, true, 2, false, false), [1, 3]);
        assert_eq!(visited(4, true, 2, false, true), [3, 1]);
        assert_eq!(visited(4, true, 2, true, true), [4, 2]);
        assert_eq!(visited(4, true, 2, true, false), [2, 4]);
        assert_eq!(visited(4, false, 1, false, false), [1, 2, 3]);
        assert_eq!(visited(4, false, 9, false, true), [1]);
        assert!(visited(1, false, 1, false, false).is_empty());
        assert!(visited(0, true, 1, false, true).is_empty());
        assert!(Steps::new(1, 4, true, 0, false, false).is_none());
    }

    #[test]
    fn ranges_at_the_edges_of_a_type() {
        let all: Vec<u8> = Steps::new(0u8, 255, true, 1, false, true).unwrap().collect();
        assert_eq!((all.len(), all[0], all[255]), (256, 255, 0));
        let wide: Vec<i8> = Steps::new(-128i8, 127, true, 100, false, false).unwrap().collect();
        assert_eq!(wide, [-128, -28, 72]);
        assert_eq!(Steps::new(i64::MIN, i64::MAX, false, 1i64 << 62, false, false).unwrap().count, 4);
    }

    /// What `Steps` visits, of a type and between bounds, as numbers.
    macro_rules! visits {
        ($t:ty, $start:expr, $end:expr, $inclusive:expr, $step:expr, $from_end:expr, $reversed:expr) => {{
            let steps = Steps::<$t>::new($start, $end, $inclusive, $step, $from_end, $reversed).unwrap();
            let values: Vec<$t> = steps.collect();
            for (k, value) in values.iter().enumerate() {
                assert_eq!(steps.numbering().of(*value as i128), k as u64);
            }
            values
        }};
    }

    #[test]
    fn steps_of_any_width_visit_what_rust_visits() {
        macro_rules! of {
            ($($t:ident)*) => {$({
                let all = [$t::MIN, $t::MIN + 1, 0, 1, $t::MAX / 2, $t::MAX - 1, $t::MAX];
                let steps = [3, 100, 127, 128, 200, 255, 256, 1 << 31, 3 << 61, 1 << 63, usize::MAX];
                for (start, end) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
                    for step in steps {
                        let reach = if start < end { wide(end.wrapping_sub(start)) } else { 0 };
                        if reach / step as u128 > 300 {
                            continue;
                        }
                        let v = |inclusive, from_end, reversed| {
                            visits!($t, start, end, inclusive, step, from_end, reversed)
                        };
                        let text = format!("{start}..{end} by {step}");
                        assert_eq!(v(false, false, false), (start..end).step_by(step).collect::<Vec<_>>(), "{text}");
                        assert_eq!(v(true, false, false), (start..=end).step_by(step).collect::<Vec<_>>(), "{text}");
                        assert_eq!(v(false, true, true), (start..end).rev().step_by(step).collect::<Vec<_>>(), "{text}");
                        assert_eq!(v(true, true, true), (start..=end).rev().step_by(step).collect::<Vec<_>>(), "{text}");
                        let mut up = (start..=end).step_by(step).collect::<Vec<_>>();
                        up.reverse();
                        assert_eq!(v(true, false, true), up, "{text}");
                        let mut down = (start..=end).rev().step_by(step).collect::<Vec<_>>();
                        down.reverse();
                        assert_eq!(v(true, true, false), down, "{text}");
                    }
                }
            })*};
        }
        of!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
        // wider than a `usize`
        assert_eq!(visits!(i8, -128, 127, true, u128::MAX, false, false), [-128]);
        assert_eq!(visits!(u128, 0, u128::MAX, true, 1u128 << 127, false, true), [1 << 127, 0]);
        assert_eq!(visits!(i128, i128::MIN, i128::MAX, true, u128::MAX, true, true), [i128::MAX, i128::MIN]);
    }

    #[test]
    fn lanes_of_steps_that_look_like_steps_down() {
        for (first, step) in [(-128i8, 255u32), (-128, 200)] {
            let steps = Steps::new(first, 127, true, step, false, false).unwrap();
            let lanes = steps.group(16).0;
            assert_eq!([lanes.at(0), lanes.at(1)], [first, first.wrapping_add(step as i8)]);
        }
        let lanes = Steps::new(0u8, 255, true, 255u8, false, false).unwrap().group(16).0;
        assert_eq!([lanes.at(0), lanes.at(1)], [0, 255]);
    }

    #[test]
    fn parts_visit_the_same_values() {
        let all = Steps::new(0usize, 10, false, 3, false, true).unwrap();
        for k in 0..6 {
            let (a, b) = all.split_at(k);
            assert_eq!(a.chain(b).collect::<Vec<_>>(), [9, 6, 3, 0]);
        }
        for k in 0..5 {
            let (a, b) = Down::new(-1i8, 2).split_at(k);
            assert_eq!(a.into_iter().chain(b).collect::<Vec<_>>(), [1, 0, -1]);
            let (a, b) = Up::new(-100i8, 100).split_at(k);
            assert_eq!((a.count(), b.count()), (k, 200 - k));
        }
    }
}
