//! How a parallel loop is cut in the deterministic mode: into the leaves of [`rev_core::tree`], one copy of the targets
//! for each, which are added up pairwise.

use std::ops::Range;

use rev_core::error::Error;
use rev_core::tree;

use crate::context::{Context, Restoring};
use crate::fail;
use crate::parallel::Parts;

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
