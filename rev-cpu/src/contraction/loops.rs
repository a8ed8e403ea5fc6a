//! Plain loops, in the order that suits memory: the index with the shortest strides innermost.

use rev_core::ops::{MAX_FACTORS, MAX_LETTERS};
use rev_core::scalar::{Linear, Ring};

use super::{Offsets, Sums};

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

    fn nested(
        &self,
        nest: &Nest,
        depth: usize,
        at: &mut Offsets,
        index: &mut [usize; MAX_LETTERS],
        put: &mut impl FnMut(&Self, isize, &S),
    ) {
        if depth == nest.count {
            if !self.parts || self.takes_part(index, 0) {
                put(self, at[0], &self.term(at));
            }
            return;
        }
        let letter = nest.letters[depth];
        if depth + 1 == nest.count && !self.parts {
            return self.innermost(letter, at, put);
        }
        let start = *at;
        for value in 0..self.space.extents()[letter] {
            index[letter] = value;
            self.nested(nest, depth + 1, at, index, put);
            self.step(at, letter, 1);
        }
        *at = start;
    }

    /// One row of terms, into one element or into as many.
    fn innermost(&self, letter: usize, at: &Offsets, put: &mut impl FnMut(&Self, isize, &S)) {
        let n = self.space.extents()[letter];
        let mut here = *at;
        if self.steps[0][letter] != 0 {
            for _ in 0..n {
                put(self, here[0], &self.term(&here));
                self.step(&mut here, letter, 1);
            }
            return;
        }
        let mut sums: [S; LANES] = std::array::from_fn(|_| S::zero());
        for _ in 0..n / LANES {
            for sum in &mut sums {
                sum.accumulate(&self.term(&here));
                self.step(&mut here, letter, 1);
            }
        }
        for sum in sums.iter_mut().take(n % LANES) {
            sum.accumulate(&self.term(&here));
            self.step(&mut here, letter, 1);
        }
        let mut total = S::zero();
        sums.iter().for_each(|s| total.accumulate(s));
        put(self, at[0], &total);
    }
}
