//! How a parallel loop is cut in the deterministic mode: into the leaves of [`rev_core::tree`], one copy of the targets
//! for each, which are added up pairwise. And how a loop keeps the order of these sums whose iterations run one after the other
//! on one thread, on the variables themselves.

use std::ops::Range;

use rev_core::error::Error;
use rev_core::tree;

use crate::context::{Context, Mode, Restoring};
use crate::fail;
use crate::parallel::{Parts, Target};

/// The number of copies: one for each leaf. A loop without iterations has one.
pub(crate) fn copies(count: usize) -> usize {
    tree::blocks(count).max(1)
}

/// Runs a loop of so many iterations on up to `workers` threads.
///
/// # Errors
///
/// Of the failing leaf that comes first in the range; or that there is no memory for copies.
pub(crate) fn sum(
    cx: Context<'_, Restoring>,
    parts: &dyn Parts,
    count: usize,
    workers: usize,
) -> Result<(), Error> {
    let inner = cx.with_workers(cx.workers() / workers.max(1));
    Tree { cx: inner, parts, count, parallel: workers > 1 }.grow(0..copies(count))?;
    parts.merge(0, 1, cx.workers());
    Ok(())
}

/// A loop on its way through the tree.
struct Tree<'a> {
    cx: Context<'a, Restoring>,
    parts: &'a dyn Parts,
    count: usize,
    parallel: bool,
}

impl Tree<'_> {
    /// Runs some leaves, whose sum is then in the first one's copy. The left part takes the largest power of two of
    /// leaves that leaves something over, which makes the sums pairwise.
    fn grow(&self, leaves: Range<usize>) -> Result<(), Error> {
        let copy = |leaf: usize| leaf + 1;
        let workers = self.cx.workers();
        if leaves.len() <= 1 {
            if !self.parts.reserve(copy(leaves.start)) {
                return Err(fail::no_copy());
            }
            self.parts.complete(copy(leaves.start));
            return self.parts.run(tree::block(self.count, leaves.start), copy(leaves.start), workers);
        }
        let middle = leaves.start + leaves.len().next_power_of_two() / 2;
        let (left, right) = (leaves.start..middle, middle..leaves.end);
        if self.parallel {
            let (mut first, mut second) = (Ok(()), Ok(()));
            self.cx.join(&mut || first = self.grow(left.clone()), &mut || second = self.grow(right.clone()));
            first?;
            second?;
        } else {
            self.grow(left)?;
            self.grow(right)?;
        }
        self.parts.merge(copy(leaves.start), copy(middle), workers);
        Ok(())
    }
}

/// The sums of a loop whose iterations run in order. In the deterministic mode what they add to is set to zero for each leaf, and has
/// afterwards the total added that the tree gives; else nothing is done.
#[derive(Debug)]
pub struct SumsInOrder<K> {
    /// How many iterations there are to the next leaf.
    left: usize,
    /// What the targets held before.
    before: Option<K>,
    /// Sums of so many leaves each, a power of two, from left to right.
    sums: Vec<(usize, K)>,
}

impl<K> SumsInOrder<K> {
    /// Before the loop.
    #[inline]
    pub fn new<C: Mode>(cx: Context<'_, C>) -> SumsInOrder<K> {
        SumsInOrder { left: usize::from(cx.deterministic()), before: None, sums: Vec::new() }
    }

    /// Counts an iteration that begins. Whether it is the first one of a leaf: then [`begin_leaf`](Self::begin_leaf) follows.
    #[inline]
    pub fn are_at_leaf(&mut self) -> bool {
        // from 0, where no leaf ever begins
        self.left = self.left.wrapping_sub(1);
        self.left == 0
    }

    /// Sets the targets to zero, and keeps what they held.
    ///
    /// # Errors
    ///
    /// No memory for copies.
    pub fn begin_leaf<A: Target<Copy = K>, C: Mode>(
        &mut self,
        cx: Context<'_, C>,
        targets: A,
    ) -> Result<(), Error> {
        self.left = tree::BLOCK;
        let mut held = targets.reserve().ok_or_else(fail::no_copy)?;
        A::complete(&mut held);
        targets.exchange(&mut held);
        match self.before {
            None => self.before = Some(held),
            Some(_) => self.add_leaf(cx, targets, held),
        }
        Ok(())
    }

    /// Whether there was an iteration: then [`finish`](Self::finish) follows.
    pub fn have_begun(&self) -> bool {
        self.before.is_some()
    }

    /// Adds the total to what the targets held before, after the last iteration, also where that failed.
    pub fn finish<A: Target<Copy = K>, C: Mode>(mut self, cx: Context<'_, C>, targets: A) {
        let Some(mut held) = self.before.take() else { return };
        targets.exchange(&mut held);
        self.add_leaf(cx, targets, held);
        let Some((_, mut total)) = self.sums.pop() else { return };
        while let Some((_, earlier)) = self.sums.pop() {
            total = sum_of(cx, targets, earlier, total);
        }
        targets.merge(cx, &mut total);
    }

    /// Adds up leaves as soon as their neighbours are there, so that few sums are held.
    fn add_leaf<A: Target<Copy = K>, C: Mode>(&mut self, cx: Context<'_, C>, targets: A, leaf: K) {
        let (mut leaves, mut total) = (1, leaf);
        while let Some((_, earlier)) = self.sums.pop_if(|(n, _)| *n == leaves) {
            (leaves, total) = (2 * leaves, sum_of(cx, targets, earlier, total));
        }
        self.sums.push((leaves, total));
    }
}

/// A copy of targets with a later one added.
fn sum_of<A: Target, C: Mode>(
    cx: Context<'_, C>,
    targets: A,
    mut earlier: A::Copy,
    mut later: A::Copy,
) -> A::Copy {
    // SAFETY: the handle isn't used after this.
    if let Some(over) = unsafe { targets.of(&mut earlier) } {
        over.merge(cx, &mut later);
    }
    earlier
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // tests
mod tests {
    use rev_core::tolerance::Options;

    use super::*;
    use crate::context::Run;
    use crate::parallel::{By, Sum};
    use crate::view::Single;

    #[test]
    fn sums_in_order_are_those_of_the_tree() {
        let term = |i: usize| (0.7 * i as f64).sin() * 10f64.powi((i % 7) as i32);
        for deterministic in [true, false] {
            for leaves in [0, 1, 2, 3, 5, 8, 11] {
                let n = (leaves * tree::BLOCK).saturating_sub(leaves % 3);
                let options = Options { deterministic, ..Options::default() };
                let run = Run::new(&options);
                let cx = run.context::<Restoring>();
                let mut sum = 0.25;
                let mut sums = SumsInOrder::new(cx);
                for i in 0..n {
                    if sums.are_at_leaf() {
                        sums.begin_leaf(cx, By(Sum, Single::new(&mut sum))).unwrap();
                    }
                    sum += term(i);
                }
                assert_eq!(sums.have_begun(), deterministic && n > 0);
                sums.finish(cx, By(Sum, Single::new(&mut sum)));
                let leaf = |b| tree::block(n, b).map(term).fold(0.0, |sum, x| sum + x);
                let total = tree::pairwise((0..tree::blocks(n)).map(leaf).collect(), |a, b| *a += b);
                let expected = match deterministic {
                    true => 0.25 + total.unwrap_or(0.0),
                    false => (0..n).fold(0.25, |sum, i| sum + term(i)),
                };
                assert_eq!(sum, expected, "{leaves}");
            }
        }
    }
}
