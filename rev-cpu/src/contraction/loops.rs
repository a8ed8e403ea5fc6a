//! Plain loops, in the order that suits memory: the index with the shortest strides innermost.

use std::cmp::Reverse;
use std::ops::Range;

use rev_core::ops::{Part, MAX_FACTORS, MAX_LETTERS};
use rev_core::scalar::{Linear, Ring};

use super::{Offsets, Sums};
use crate::lanes::fusing;

/// Sums of one row that are kept side by side, so that one addition needn't wait for the other.
const LANES: usize = 8;

/// The letters of a formula, outermost first.
struct Nest {
    letters: [usize; MAX_LETTERS],
    count: usize,
}

impl<S: Linear> Sums<'_, S>
where
    S::Over: Ring,
{
    /// Adds every term to its element.
    pub(super) fn plain(&self) {
        let nest = self.nest();
        let mut index = [0; MAX_LETTERS];
        self.nested(&nest, 0, &mut [0; MAX_FACTORS + 1], &mut index, &mut |sums, at, value| {
            sums.put(at, value);
        });
    }

    /// The sum of all terms.
    pub(super) fn plain_scalar(&self) -> S {
        let nest = self.nest();
        let mut total = S::zero();
        let mut index = [0; MAX_LETTERS];
        if self.space.work() > 0 {
            self.nested(&nest, 0, &mut [0; MAX_FACTORS + 1], &mut index, &mut |_, _, value| {
                total.accumulate(value);
            });
        }
        total
    }

    fn nest(&self) -> Nest {
        let count = self.space.extents().len();
        let mut letters = [0; MAX_LETTERS];
        letters.iter_mut().enumerate().for_each(|(k, l)| *l = k);
        // letters of one value are outermost, whatever their strides
        let extents = self.space.extents();
        let reach: [(bool, Reverse<usize>); MAX_LETTERS] = std::array::from_fn(|letter| {
            let strides = self.steps.iter().map(|s| s[letter].unsigned_abs());
            (extents.get(letter).is_some_and(|n| *n > 1), Reverse(strides.fold(0, usize::saturating_add)))
        });
        letters[..count].sort_by_key(|letter| reach[*letter]);
        Nest { letters, count }
    }

    /// The terms of the letters from a depth on, those outside of it at `index`.
    fn nested(
        &self,
        nest: &Nest,
        depth: usize,
        at: &mut Offsets,
        index: &mut [usize; MAX_LETTERS],
        put: &mut impl FnMut(&Self, isize, &S),
    ) {
        if depth == nest.count {
            return put(self, at[0], &self.term(at));
        }
        let letter = nest.letters[depth];
        let values = self.values(nest, depth, index);
        let start = *at;
        self.step(at, letter, values.start as isize);
        if depth + 1 == nest.count {
            if !values.is_empty() {
                self.innermost(letter, values.len(), at, put);
            }
        } else {
            for value in values {
                index[letter] = value;
                self.nested(nest, depth + 1, at, index, put);
                self.step(at, letter, 1);
            }
        }
        *at = start;
    }

    /// The values of a depth's letter at which every operand takes part, as far as the letters outside of it say.
    fn values(&self, nest: &Nest, depth: usize, index: &[usize; MAX_LETTERS]) -> Range<usize> {
        let letter = nest.letters[depth];
        let mut values = 0..self.space.extents()[letter];
        if !self.parts {
            return values;
        }
        let known = |other: usize| nest.letters[..depth].contains(&other);
        let operands = std::iter::once(&self.formula.target).chain(self.formula.factors());
        for (k, operand) in operands.enumerate().filter(|(_, operand)| operand.part != Part::Whole) {
            let &[row, column] = self.space.positions(k) else { continue };
            let (row, column) = (usize::from(row), usize::from(column));
            let (part, other) = match (row == letter, column == letter) {
                (true, true) if !operand.part.has(0, 0) => return 0..0,
                (true, false) => (operand.part, column),
                (false, true) => (operand.part.transposed(), row),
                _ => continue,
            };
            if known(other) {
                let rows = rows(part, index[other], values.end);
                values = values.start.max(rows.start)..values.end.min(rows.end);
            }
        }
        values.start..values.end.max(values.start)
    }

    /// One row of `n` terms, into one element or into as many. Rows of neighbours are compiled on their own, and for
    /// wide vectors; so pointers are passed by value: what is written could change those that are read from memory.
    fn innermost(&self, letter: usize, n: usize, at: &Offsets, put: &mut impl FnMut(&Self, isize, &S)) {
        let factors = self.formula.factors();
        let [target, left, right] = std::array::from_fn(|k| self.steps[k][letter]);
        let plain = factors.iter().all(|factor| !factor.conj);
        let (lead, other) = (self.lead.wrapping_offset(at[1]), self.rest[0].wrapping_offset(at[2]));
        // SAFETY: the offsets come from indices in range of the factors' shapes.
        let lead = move |k: isize| unsafe { (*lead.offset(k)).clone() };
        // SAFETY: as above.
        let other = move |k: isize| unsafe { *other.offset(k) };
        let n = n as isize;
        match (factors.len(), plain) {
            (1, true) => match (target, left) {
                (1, 1) => self.row(1, n, at[0], lead, put),
                _ => self.row(target, n, at[0], move |k| lead(left * k), put),
            },
            (2, true) => match (target, left, right) {
                (0 | 1, 1, 1) => self.row(target, n, at[0], move |k| lead(k).scale(other(k)), put),
                (1, 1, 0) => {
                    let factor = other(0);
                    self.row(1, n, at[0], move |k| lead(k).scale(factor), put);
                }
                (1, 0, 1) => {
                    let factor = lead(0);
                    self.row(1, n, at[0], move |k| factor.clone().scale(other(k)), put);
                }
                _ => self.row(target, n, at[0], move |k| lead(left * k).scale(other(right * k)), put),
            },
            _ => {
                let term = |k| {
                    let mut here = *at;
                    self.step(&mut here, letter, k);
                    self.term(&here)
                };
                self.row(target, n, at[0], term, put);
            }
        }
    }

    /// A row of terms, given by the place in the row.
    #[cfg_attr(optimized, inline(always))]
    fn row(
        &self,
        target: isize,
        n: isize,
        at: isize,
        term: impl Fn(isize) -> S,
        put: &mut impl FnMut(&Self, isize, &S),
    ) {
        if target == 0 {
            return put(self, at, &fusing(move || total(n, term)));
        }
        let first = self.target.wrapping_offset(at);
        // SAFETY: the offset comes from an index in range of the target's shape; nothing else reaches the element
        // meanwhile (see the type).
        let element = move |k: isize| unsafe { &mut *first.offset(target * k) };
        if self.add {
            fusing(move || (0..n).for_each(|k| element(k).accumulate(&term(k))));
        } else {
            fusing(move || (0..n).for_each(|k| element(k).deduct(&term(k))));
        }
    }
}

/// The sum of a row of terms.
#[cfg_attr(optimized, inline(always))]
fn total<S: Linear>(n: isize, term: impl Fn(isize) -> S) -> S {
    let mut sums: [S; LANES] = std::array::from_fn(|_| S::zero());
    let whole = n - n % LANES as isize;
    for first in (0..whole).step_by(LANES) {
        sums.iter_mut().zip(first..).for_each(|(sum, k)| sum.accumulate(&term(k)));
    }
    sums.iter_mut().zip(whole..n).for_each(|(sum, k)| sum.accumulate(&term(k)));
    let mut total = S::zero();
    sums.iter().for_each(|sum| total.accumulate(sum));
    total
}

/// The rows, less than `extent`, in which a column's elements take part.
fn rows(part: Part, column: usize, extent: usize) -> Range<usize> {
    match part {
        Part::Whole => 0..extent,
        Part::Lower => column..extent,
        Part::StrictLower => column + 1..extent,
        Part::Upper => 0..column + 1,
        Part::StrictUpper => 0..column,
    }
}
