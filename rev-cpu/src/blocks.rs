//! Sums of numbers of 32 bits in parallel loops, in blocks, where their order is free.
//!
//! Adding `n` terms one after the other makes a rounding error that grows with `n`: in `f32` the sum of a million
//! terms keeps four or five digits. So the range is cut into blocks of about [`TERMS`] terms for each element of the
//! target. Each block adds to a copy that starts at zero, as many of these to another copy, and those to the target: the
//! error grows with `n / TERMS²`. (The deterministic mode has blocks that depend on nothing but the number of iterations,
//! and adds them pairwise, [`rev_core::tree`].)
//!
//! The loop's body is called at two places here, so that a small one becomes part of the function around it, in which
//! the compiler sees that nothing else reaches the copy, and keeps a sum in a register.

use rev_core::error::Error;

use crate::context::{Context, Mode};
use crate::fail;
use crate::parallel::Target;
use crate::steps::Visits;

/// About how many terms are added to an element one after the other.
const TERMS: usize = 256;

/// The operations for each element of the target that a block is worth making a copy for.
const WORTH_COPY: usize = 2048;

/// Less than this part of a block isn't worth a copy, where the target holds the sums of other parts of the loop.
const LEAST: usize = 16;

/// How the sums of a loop are formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sums {
    /// In blocks.
    OfAll,
    /// In blocks, of a part of the loop: the target holds those of other parts.
    OfPart,
    /// One term after the other.
    InOrder,
}

/// Runs a loop, or a part of one, on this thread. `weight` and `group` are those of [`crate::parallel::run`].
///
/// # Errors
///
/// Of the first iteration that fails.
#[inline]
pub(crate) fn run<V, A, C, F>(
    cx: Context<'_, C>,
    visits: V,
    work: [usize; 2],
    sums: Sums,
    targets: A,
    body: F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error>,
{
    // a constant, so that what doesn't run isn't compiled
    match A::ROUNDED {
        true => in_blocks(cx, visits, work, sums, targets, body),
        false => body(cx, visits, targets),
    }
}

/// The same of numbers of 32 bits.
#[inline]
fn in_blocks<V, A, C, F>(
    cx: Context<'_, C>,
    visits: V,
    [weight, group]: [usize; 2],
    sums: Sums,
    targets: A,
    body: F,
) -> Result<(), Error>
where
    V: Visits,
    A: Target,
    C: Mode,
    F: Fn(Context<'_, C>, V, A) -> Result<(), Error>,
{
    let count = visits.count();
    // most loops need no division to know
    let block = if sums == Sums::InOrder || sums == Sums::OfAll && count.saturating_mul(weight) <= WORTH_COPY
    {
        usize::MAX
    } else {
        // lanes are added up by a tree, and their sum is one term
        let lanes = if cx.lanes().is_some() { group } else { 1 };
        lanes.saturating_mul(length(weight, targets.cells()))
    };
    // without memory for copies it goes without
    let most = if sums == Sums::OfPart { block / LEAST } else { block };
    let copies = if count > most { copy(targets).zip(copy(targets)) } else { None };
    let Some((mut of_block, mut of_blocks)) = copies else { return body(cx, visits, targets) };
    let mut rest = visits;
    let mut blocks = 0;
    while rest.count() > 0 {
        let (part, after) = rest.split_at(block.min(rest.count()));
        rest = after;
        // SAFETY: the copies live until the body has returned, and the body keeps no handle.
        let (own, sums) = unsafe { (targets.of(&mut of_block), targets.of(&mut of_blocks)) };
        body(cx, part, own.ok_or_else(fail::no_copy)?)?;
        sums.ok_or_else(fail::no_copy)?.merge(cx, &mut of_block);
        A::renew(&mut of_block);
        blocks += 1;
        if blocks % TERMS == 0 {
            targets.merge(cx, &mut of_blocks);
            A::renew(&mut of_blocks);
        }
    }
    targets.merge(cx, &mut of_blocks);
    Ok(())
}

/// A copy that starts at zero. `None` when there is no memory for it.
fn copy<A: Target>(targets: A) -> Option<A::Copy> {
    let mut copy = targets.reserve()?;
    A::complete(&mut copy);
    Some(copy)
}

/// How many iterations, or groups of lanes, make a block: few enough that an element of the target gets no more than
/// about [`TERMS`], and enough to make the copy's cost small.
fn length(weight: usize, cells: usize) -> usize {
    let (weight, cells) = (weight.max(1), cells.max(1));
    let scattered = TERMS.saturating_mul(cells) / weight;
    let paying = WORTH_COPY.saturating_mul(cells) / weight;
    scattered.max(paying.min(TERMS)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Restoring, Run};
    use crate::parallel::{By, Sum};
    use crate::steps::Up;
    use crate::view::Single;
    use rev_core::tolerance::Options;

    /// The sum of the numbers below `n` on one thread, and the largest number of terms of a block.
    fn summed(n: usize, weight: usize) -> (u32, usize) {
        let longest = std::sync::atomic::AtomicUsize::new(0);
        let mut total = 0u32;
        let body = |_: Context<'_, Restoring>, visits: Up<usize>, By(_, sum): By<Sum, Single<'_, u32>>| {
            longest.fetch_max(visits.count(), std::sync::atomic::Ordering::Relaxed);
            visits.into_iter().for_each(|i| *sum.get() = sum.get().wrapping_add(i as u32));
            Ok(())
        };
        let options = Options { threads: Some(1), ..Options::default() };
        run(
            Run::new(&options).context(),
            Up::new(0, n),
            [weight, 1],
            Sums::OfAll,
            By(Sum, Single::new(&mut total)),
            body,
        )
        .unwrap();
        (total, longest.into_inner())
    }

    #[test]
    fn every_iteration_is_run_once_in_a_block_of_its_own() {
        for n in [0, 1, 255, 256, 257, 1000, 100_001] {
            for weight in [1, 10, 3000] {
                let (total, longest) = summed(n, weight);
                assert_eq!(total, (n * n.saturating_sub(1) / 2) as u32);
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
