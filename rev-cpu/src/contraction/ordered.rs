//! Sums in the order that the language fixes: the same bits on any number of threads and every device.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rev_core::ops::{Part, MAX_FACTORS, MAX_LETTERS};
use rev_core::scalar::{Linear, Ring};
use rev_core::tree;

use crate::context::{Context, Mode};

use super::{Offsets, Sums};

type Index = [usize; MAX_LETTERS];

impl<S: Linear + Send + Sync> Sums<'_, S>
where
    S::Over: Ring,
{
    /// Each element of the target gets its sum.
    pub(super) fn ordered<C: Mode>(&self, cx: Context<'_, C>) {
        let Some(&first) = self.space.extents().first().filter(|_| self.space.free() > 0) else {
            return self.elements(0, &mut [0; MAX_FACTORS + 1], &mut [0; MAX_LETTERS]);
        };
        let row = |value: usize| {
            let (mut at, mut index) = ([0; MAX_FACTORS + 1], [0; MAX_LETTERS]);
            self.step(&mut at, 0, value as isize);
            index[0] = value;
            self.elements(1, &mut at, &mut index);
        };
        // rows of a target without repeated letters are separate, and no other has its own letter
        if cx.workers() > 1 && self.space.work() >= cx.parallel_from() {
            let next = AtomicUsize::new(0);
            let rows = || std::iter::repeat_with(|| next.fetch_add(1, Relaxed)).take_while(|k| *k < first);
            cx.at_once((0..cx.workers()).map(|_| || rows().for_each(row)));
        } else {
            (0..first).for_each(row);
        }
    }

    fn elements(&self, letter: usize, at: &mut Offsets, index: &mut Index) {
        if letter == self.space.free() {
            if self.takes_part_target(index) {
                let sum = self.sum(letter, at, index);
                self.put(at[0], &sum);
            }
            return;
        }
        self.along(letter, at, index, &mut |at, index| self.elements(letter + 1, at, index));
    }

    fn takes_part_target(&self, index: &Index) -> bool {
        match self.space.positions(0) {
            [row, column] => {
                self.formula.target.part.has(index[usize::from(*row)], index[usize::from(*column)])
            }
            _ => true,
        }
    }

    /// Calls `f` for each value of a letter.
    #[cfg_attr(optimized, inline(always))]
    fn along(
        &self,
        letter: usize,
        at: &mut Offsets,
        index: &mut Index,
        f: &mut impl FnMut(&mut Offsets, &mut Index),
    ) {
        let (start, extent) = (*at, self.space.extents()[letter]);
        for value in 0..extent {
            index[letter] = value;
            f(at, index);
            self.step(at, letter, 1);
        }
        *at = start;
    }

    /// The sum over the letters from `letter` on, from zero; where there are none, the term.
    pub(super) fn sum(&self, letter: usize, at: &mut Offsets, index: &mut Index) -> S {
        let whole = self.formula.factors().iter().all(|f| f.part == Part::Whole);
        if letter == self.space.extents().len() && whole {
            return self.term(at);
        }
        let mut total = S::zero();
        self.add_terms(letter, at, index, &mut total);
        total
    }

    fn add_terms(&self, letter: usize, at: &mut Offsets, index: &mut Index, total: &mut S) {
        if letter == self.space.extents().len() {
            if !self.parts || self.takes_part(index, 1) {
                total.accumulate(&self.term(at));
            }
            return;
        }
        self.along(letter, at, index, &mut |at, index| self.add_terms(letter + 1, at, index, total));
    }

    /// The sum that is a scalar: along the tree of parallel loops.
    pub(super) fn ordered_scalar<C: Mode>(&self, cx: Context<'_, C>) -> S {
        let Some(&n) = self.space.extents().first() else {
            return self.sum(0, &mut [0; MAX_FACTORS + 1], &mut [0; MAX_LETTERS]);
        };
        let single = self.space.extents().len() == 1;
        let block = |b: usize| {
            let mut total = S::zero();
            for k in tree::block(n, b) {
                let (mut at, mut index) = ([0; MAX_FACTORS + 1], [0; MAX_LETTERS]);
                self.step(&mut at, 0, k as isize);
                index[0] = k;
                if single {
                    self.add_terms(1, &mut at, &mut index, &mut total);
                } else {
                    total.accumulate(&self.sum(1, &mut at, &mut index));
                }
            }
            total
        };
        let count = tree::blocks(n);
        let parts = if self.space.work() >= cx.parallel_from() { cx.workers() } else { 1 };
        let size = count.div_ceil(parts.max(1)).max(1);
        let mut blocks = vec![S::zero(); count];
        let part = |(from, sums): (usize, &mut [S])| {
            sums.iter_mut().zip(from * size..).for_each(|(sum, b)| *sum = block(b));
        };
        cx.at_once(blocks.chunks_mut(size).enumerate().map(|sums| || part(sums)));
        tree::pairwise(blocks, |a, b| a.accumulate(b)).unwrap_or_else(S::zero)
    }
}
