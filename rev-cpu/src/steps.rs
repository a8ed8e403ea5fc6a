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
}

/// The values of a loop that can be cut in two.
pub trait Visits: Copy + Send + Sync + IntoIterator {
    /// The number of values.
    fn count(self) -> usize;
    /// The first `k` values and the rest.
    fn split_at(self, k: usize) -> (Self, Self);
    /// The first `width` values as lanes, and how much further the next ones are. A loop that runs down
    /// in steps of one visits its lanes upwards, in the order of memory.
    fn group(self, width: usize) -> (Lin<Self::Item>, Self::Item);
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
    ($($name:ident |$v:ident| $iter:expr, $item:ty, |$all:ident, $k:ident| $split:expr, $group:expr;)*) => {$(
        impl<I: Integer> $name<I> {
            /// The values.
            #[inline(always)]
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
            #[inline(always)]
            fn into_iter(self) -> Self::IntoIter {
                let $v = self.start..self.end;
                $iter
            }
        }

        impl<I: Integer> Visits for $name<I>
        where
            Range<I>: DoubleEndedIterator<Item = I>,
        {
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
            #[inline(always)]
            fn group(self, width: usize) -> (Lin<I>, I) {
                let ($all, width) = (self, I::from_usize(width));
                $group(width)
            }
        }
    )*};
}
consecutive! {
    Up |range| range, Range<I>, |all, k| {
        let middle = all.start.plus(k);
        (Up { end: middle, ..all }, Up { start: middle, ..all })
    }, |width| (Lin { first: all.start, step: I::one() }, width);
    Down |range| range.rev(), Rev<Range<I>>, |all, k| {
        let middle = all.end.minus(k);
        (Down { start: middle, ..all }, Down { end: middle, ..all })
    }, |width: I| (Lin { first: all.end.minus(width), step: I::one() }, width.negated());
}

impl<I: Integer> Steps<I> {
    /// The values `start, start + step, …` below `end` (up to `end` if `inclusive`). With
    /// `from_end` the steps are counted from the last value of the range down; with `reversed` the
    /// values come in descending order. `None` for a step below 1.
    #[inline(always)]
    pub fn new(start: I, end: I, inclusive: bool, step: I, from_end: bool, reversed: bool) -> Option<Self> {
        if step < I::one() {
            return None;
        }
        let empty = if inclusive { end < start } else { end <= start };
        if empty {
            return Some(Steps { first: start, stride: step, count: 0 });
        }
        let last = if inclusive { end } else { end.minus(I::one()) };
        // wrapping differences are right as unsigned numbers even where they don't fit the type
        let reach = last.minus(start);
        let skipped = remainder(reach, step);
        let count = quotient(reach, step).saturating_add(1);
        let (low, high) = if from_end { (start.plus(skipped), last) } else { (start, last.minus(skipped)) };
        Some(if reversed {
            Steps { first: high, stride: step.negated(), count }
        } else {
            Steps { first: low, stride: step, count }
        })
    }
}

/// The step of a range whose bounds are of another type. One that doesn't fit the bounds' type is
/// taken for its largest value: either reaches past the end.
#[inline]
pub fn step_of<S: Integer, I: Integer>(step: S) -> I {
    let same: I = rt::cast(step);
    if rt::cast::<I, S>(same) == step && (same < I::zero()) == (step < S::zero()) {
        return same;
    }
    let mut largest = I::one();
    loop {
        let next = largest.plus(largest).plus(I::one());
        if next <= largest {
            return largest;
        }
        largest = next;
    }
}

impl<I: Integer> Visits for Steps<I> {
    #[inline(always)]
    fn count(self) -> usize {
        self.count
    }
    #[inline]
    fn split_at(self, k: usize) -> (Self, Self) {
        let k = k.min(self.count);
        let second = self.first.plus(self.stride.times(I::from_usize(k)));
        (Steps { count: k, ..self }, Steps { first: second, count: self.count - k, ..self })
    }
    #[inline(always)]
    fn group(self, width: usize) -> (Lin<I>, I) {
        let width = I::from_usize(width);
        let down = self.stride == I::one().negated();
        let lanes = match down {
            true => Lin { first: self.first.minus(width.minus(I::one())), step: I::one() },
            false => Lin { first: self.first, step: self.stride },
        };
        (lanes, self.stride.times(width))
    }
}

/// `reach / step` as a count, where `reach` may have wrapped around into the negative.
#[inline(always)]
fn quotient<I: Integer>(reach: I, step: I) -> usize {
    match (reach < I::zero(), reach.quotient(step)) {
        (false, Some(q)) => rt::cast(q),
        // a range longer than half of a signed type's values: by unsigned arithmetic on i128
        _ => (wide(reach) / wide(step).max(1)) as usize,
    }
}

/// `reach % step` likewise.
#[inline(always)]
fn remainder<I: Integer>(reach: I, step: I) -> I {
    match (reach < I::zero(), reach.remainder(step)) {
        (false, Some(r)) => r,
        _ => I::from_int((wide(reach) % wide(step).max(1)) as i128),
    }
}

/// The bits of an integer as an unsigned number.
fn wide<I: Integer>(v: I) -> u128 {
    let bits = 8 * std::mem::size_of::<I>() as u32;
    rt::cast::<I, u128>(v) & (u128::MAX >> (128 - bits))
}

impl<I: Integer> Iterator for Steps<I> {
    type Item = I;

    #[inline(always)]
    fn next(&mut self) -> Option<I> {
        self.count = self.count.checked_sub(1)?;
        let value = self.first;
        self.first = self.first.plus(self.stride);
        Some(value)
    }

    #[inline(always)]
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
        assert_eq!(Steps::new(i64::MIN, i64::MAX, false, 1 << 62, false, false).unwrap().count, 4);
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
