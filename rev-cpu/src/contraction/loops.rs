//! Plain loops, in the order that suits memory: the index with the shortest strides innermost.

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
        let reach = |letter: &usize| {
            let strides = self.steps.iter().map(|s| s[*letter].unsigned_abs());
            let long = self.space.extents()[*letter] > 1;
            (long, strides.fold(0, usize::saturating_add))
        };
        // letters of one value are outermost, whatever their strides
        letters[..count].sort_by_key(|l| {
            let (long, reach) = reach(l);
            (long, std::cmp::Reverse(reach))
        });
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

    /// One row of `n` terms, into one element or into as many.
    fn innermost(&self, letter: usize, n: usize, at: &Offsets, put: &mut impl FnMut(&Self, isize, &S)) {
        let factors = self.formula.factors();
        let steps: [isize; 3] = std::array::from_fn(|k| self.steps[k][letter]);
        // SAFETY: the offsets come from indices in range of the factors' shapes.
        let lead = |offset: isize| unsafe { (*self.lead.offset(at[1] + offset)).clone() };
        // SAFETY: as above.
        let other = |offset: isize| unsafe { *self.rest[0].offset(at[2] + offset) };
        let plain = factors.iter().all(|factor| !factor.conj);
        match factors.len() {
            1 if plain => self.row(steps, n, at[0], |[l, _], k| lead(l * k), put),
            2 if plain => self.row(steps, n, at[0], |[l, r], k| lead(l * k).scale(other(r * k)), put),
            _ => {
                let term = |_, k| {
                    let mut here = *at;
                    self.step(&mut here, letter, k);
                    self.term(&here)
                };
                self.row(steps, n, at[0], term, put);
            }
        }
    }

    /// A row of terms that are given by the factors' steps and the place in the row. Rows of neighbours are compiled
    /// on their own, and for wide vectors.
    #[inline(always)]
    fn row(
        &self,
        [target, lead, other]: [isize; 3],
        n: usize,
        at: isize,
        term: impl Fn([isize; 2], isize) -> S,
        put: &mut impl FnMut(&Self, isize, &S),
    ) {
        let n = n as isize;
        if target == 0 {
            let total = fusing(|| match [lead, other] {
                [1, 1] => total(n, |k| term([1, 1], k)),
                steps => total(n, |k| term(steps, k)),
            });
            return put(self, at, &total);
        }
        fusing(|| match [target, lead, other] {
            [1, 1, 0] => (0..n).for_each(|k| self.put(at + k, &term([1, 0], k))),
            [1, 0, 1] => (0..n).for_each(|k| self.put(at + k, &term([0, 1], k))),
            [target, lead, other] => (0..n).for_each(|k| self.put(at + target * k, &term([lead, other], k))),
        });
    }
}

/// The sum of a row of terms.
#[inline(always)]
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
