//! Sums of parallel loops in blocks, where their order is free.
//!
//! Adding `n` terms one after the other makes a rounding error that grows with `n`: in `f32` the sum of a million
//! terms keeps four or five digits. So the range is cut into blocks of about [`TERMS`] terms for each element of the
//! target. Each block adds to a copy that starts at zero, and the copies are added pairwise: the error grows with
//! [`TERMS`] and the logarithm of `n`. (The deterministic mode does the same with blocks that depend on nothing but
//! the number of iterations, [`rev_core::tree`].)

use rev_core::error::Error;

use crate::context::{Checks, Context};
use crate::fail;
use crate::parallel::Target;
use crate::steps::Visits;

/// About how many terms are added to an element one after the other.
const TERMS: usize = 256;

/// The operations for each element of the target that a block is worth making a copy for.
const WORTH_COPY: usize = 2048;

/// Runs a part of a loop on this thread. `weight` and `group` are those of [`crate::parallel::run`].
///
/// # Errors
///
/// Of the first iteration that fails.
#[inline]
pub(crate) fn run<V, A, C, F>(
    cx: Context<'_, C>,
    visits: V,
    [weight, group]: [usize; 2],
    targets: A,
    body: &F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    C: Checks,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error>,
{
    // most loops end here, without a division
    if !A::ROUNDED || visits.count().saturating_mul(weight) <= WORTH_COPY {
        return body(cx, visits, targets);
    }
    // lanes are added up by a tree, and their sum is one term
    let lanes = if cx.lanes().is_some() { group } else { 1 };
    let block = lanes.saturating_mul(length(weight, targets.cells()));
    if visits.count() <= block {
        return body(cx, visits, targets);
    }
    Blocks { cx, block, body }.apart(visits, targets)
}

/// How many iterations, or groups of lanes, make a block: few enough that an element of the target gets no more than
/// about [`TERMS`], and enough to make the copy's cost small.
fn length(weight: usize, cells: usize) -> usize {
    let (weight, cells) = (weight.max(1), cells.max(1));
    let scattered = TERMS.saturating_mul(cells) / weight;
    let paying = WORTH_COPY.saturating_mul(cells) / weight;
    scattered.max(paying.min(TERMS)).max(1)
}

/// A loop on its way through the blocks.
struct Blocks<'a, 'f, C, F> {
    cx: Context<'a, C>,
    /// The iterations of a block.
    block: usize,
    body: &'f F,
}

impl<C: Checks, F> Blocks<'_, '_, C, F> {
    /// Runs a part of the range into a copy, which is added to the target. Without memory for a copy it adds to the
    /// target.
    #[inline(never)]
    fn apart<V, A>(&self, visits: V, targets: A) -> Result<(), Error>
    where
        V: Visits,
        A: Target,
        F: Fn(Context<'_, C>, V, A) -> Result<(), Error>,
    {
        let Some(mut copy) = targets.reserve() else { return (self.body)(self.cx, visits, targets) };
        A::complete(&mut copy);
        // SAFETY: the copy lives until the body has returned, and the body keeps no handle.
        let own = unsafe { targets.of(&mut copy) };
        self.pairwise(visits, own.ok_or_else(fail::no_copy)?)?;
        targets.merge(self.cx, &mut copy);
        Ok(())
    }

    /// Runs a part of the range into a target that starts at zero: what comes first, the largest power of two of
    /// blocks that leaves something over, and then the rest.
    fn pairwise<V, A>(&self, visits: V, targets: A) -> Result<(), Error>
    where
        V: Visits,
        A: Target,
        F: Fn(Context<'_, C>, V, A) -> Result<(), Error>,
    {
        let blocks = visits.count().div_ceil(self.block);
        if blocks <= 1 {
            return (self.body)(self.cx, visits, targets);
        }
        let (first, rest) = visits.split_at(blocks.next_power_of_two() / 2 * self.block);
        self.pairwise(first, targets)?;
        self.apart(rest, targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Run, Unchecked};
    use crate::parallel::{By, Sum};
    use crate::steps::Up;
    use crate::view::Single;
    use rev_core::tolerance::Options;

    /// The sum of the numbers below `n` on one thread, and the largest number of terms of a block.
    fn summed(n: usize, weight: usize) -> (usize, usize) {
        let longest = std::sync::atomic::AtomicUsize::new(0);
        let mut total = 0usize;
        let body = |_: Context<'_, Unchecked>, visits: Up<usize>, By(_, sum): By<Sum, Single<'_, usize>>| {
            longest.fetch_max(visits.count(), std::sync::atomic::Ordering::Relaxed);
            visits.into_iter().for_each(|i| *sum.get() += i);
            Ok(())
        };
        let options = Options { threads: Some(1), ..Options::default() };
        run(Run::new(&options).context(), Up::new(0, n), [weight, 1], By(Sum, Single::new(&mut total)), &body)
            .unwrap();
        (total, longest.into_inner())
    }

    #[test]
    fn every_iteration_is_run_once_in_a_block_of_its_own() {
        for n in [0, 1, 255, 256, 257, 1000, 100_001] {
            for weight in [1, 10, 3000] {
                let (total, longest) = summed(n, weight);
                assert_eq!(total, n * n.saturating_sub(1) / 2);
                let short = length(weight, 1).max(WORTH_COPY / weight);
                assert!(longest <= short, "{n} {weight}: {longest}");
            }
        }
        assert_eq!(summed(100_001, 1).1, TERMS);
    }

    #[test]
    fn blocks_are_as_long_as_their_copies_are_worth() {
        assert_eq!([length(0, 0), length(3, 1), length(20, 1), length(5000, 1)], [256, 256, 102, 1]);
        // all elements get terms in each iteration; few of them do
        assert_eq!([length(6600, 1650), length(1000, 24_000)], [256, 6144]);
        assert_eq!(length(1, usize::MAX), usize::MAX);
    }
}
