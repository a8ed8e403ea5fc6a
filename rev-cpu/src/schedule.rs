//! How a parallel loop is shared by threads where the order of sums is free.
//!
//! The first iterations run on the calling thread and are timed, twice as many again as long as that is too short to say anything. From what is left, and what copies of
//! the targets cost, follows how many threads are worth their while; often none but this one. Then each
//! thread takes parts of the range from a common counter, large ones first, until there is none left, so
//! that threads that are held up leave their share to the others.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rev_core::error::Error;

use crate::context::{Context, Restoring};
use crate::fail;
use crate::parallel::Parts;

/// What it takes to get other threads started, in nanoseconds.
const START: f64 = 2e4;

/// What it takes to zero a scalar of a copy and add it up, in nanoseconds.
const COPY: f64 = 1.0;

/// The shortest time worth taking a part of the range for, in nanoseconds.
const PART: f64 = 2e4;

/// What an operation takes, in nanoseconds, where nothing better is known.
pub(crate) const OPERATION: f64 = 0.5;

/// What a multiplication takes in a product of arrays, in nanoseconds.
pub(crate) const MULTIPLICATION: f64 = 0.05;

/// The part of the iterations that is timed first, as a divisor.
const FIRST: usize = 64;

/// About how long to time them where that part is longer, in nanoseconds: no other thread works meanwhile.
const TIMED: f64 = 4e4;

/// The least time that says what the others take, in nanoseconds: the first ones wait for memory.
const SURE: f64 = 1e4;

/// Runs a loop of `count` iterations of about `weight` operations, `group` of them at once where it runs in lanes, whose
/// targets have `cells` scalars, on up to `workers` threads. It is cut between groups: iterations that make none run one
/// after the other, each for the price of many.
///
/// # Errors
///
/// Of the failing part that comes first in the range; or that there is no memory for copies.
pub(crate) fn share(
    cx: Context<'_, Restoring>,
    parts: &dyn Parts,
    count: usize,
    cells: usize,
    [weight, group]: [usize; 2],
    workers: usize,
) -> Result<(), Error> {
    let (all, cells) = (cx.workers(), cells as f64);
    let forced = cx.parallel_from() == 0;
    let group = if count < 2 * group { 1 } else { group };
    // a loop of a few iterations can't spare one to be timed
    let guess = worthwhile((count as f64) * (weight as f64) * OPERATION, cells, workers);
    let (done, workers, part) = if forced {
        (0, workers, 1)
    } else if count < FIRST && guess > 1 {
        (0, guess, 1)
    } else {
        let enough = (TIMED / (weight as f64 * OPERATION)) as usize;
        let mut next = whole_groups((count / FIRST).min(enough.max(1)), group).max(group);
        let start = Instant::now();
        let mut done = 0;
        let each = loop {
            let first = done..done + next.min(count - done);
            parts.run(first.clone(), 0, all)?;
            (done, next) = (first.end, 2 * next);
            let time = start.elapsed().as_nanos() as f64;
            if time >= SURE || count - done <= next {
                break time / done as f64;
            }
        };
        let rest = count - done;
        let workers = worthwhile(each * rest as f64, cells, workers.min(rest).max(1));
        (done, workers, (PART / each) as usize)
    };
    if workers <= 1 {
        return parts.run(done..count, 0, all);
    }
    let cx = cx.with_workers(all / workers);
    let group = if forced { 1 } else { group };
    let part = whole_groups(part.min((count - done) / workers), group).max(group);
    let loop_ = Shared {
        cx,
        parts,
        count,
        group,
        part,
        workers,
        next: AtomicUsize::new(done),
        failed: Mutex::new(None),
    };
    loop_.fan(0..workers);
    let failed = loop_.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(_, error)| Err(error))
}

/// How many threads to use, up to `most`, for work of so many nanoseconds on one thread and targets of so
/// many scalars. Each thread but one has a copy.
pub(crate) fn worthwhile(work: f64, cells: f64, most: usize) -> usize {
    let time = |n: f64| if n > 1.0 { START + work / n + (n - 1.0) * cells * COPY } else { work };
    let best = (work / (cells * COPY)).sqrt().floor().clamp(1.0, most as f64);
    match time(best) < 0.9 * work {
        true => best as usize,
        false => 1,
    }
}

/// A number of iterations as whole groups, where it makes any; at least one.
fn whole_groups(iterations: usize, group: usize) -> usize {
    if iterations < group {
        iterations.max(1)
    } else {
        iterations / group * group
    }
}

/// A loop that threads take parts of.
struct Shared<'a> {
    cx: Context<'a, Restoring>,
    parts: &'a dyn Parts,
    count: usize,
    group: usize,
    /// The smallest number of iterations to take.
    part: usize,
    workers: usize,
    /// The first iteration that nobody has taken.
    next: AtomicUsize,
    /// The failure that comes first in the range, with its part's first iteration.
    failed: Mutex<Option<(usize, Error)>>,
}

impl Shared<'_> {
    /// Runs parts of the loop on some threads, of which the calling one is the first; each has the copy of its number.
    /// The copies' memory is taken and given back by the thread that needs another one, and filled by the
    /// other. Whether anything was done.
    fn fan(&self, threads: Range<usize>) -> bool {
        let Range { start, end } = threads;
        if threads.len() <= 1 {
            return self.work(start);
        }
        let other = end - threads.len() / 2;
        if !self.parts.reserve(other) {
            self.fail(0, fail::no_copy());
            return false;
        }
        let (mut here, mut there) = (false, false);
        let mut with_copy = || {
            if self.next.load(Relaxed) < self.count {
                self.parts.complete(other);
                there = self.fan(other..end);
            }
        };
        self.cx.join(&mut || here = self.fan(start..other), &mut with_copy);
        if there {
            self.parts.merge(start, other, threads.len());
        }
        here || there
    }

    /// Takes parts until there is none left. Whether there was one.
    fn work(&self, thread: usize) -> bool {
        let mut worked = false;
        while let Some((start, size)) = self.take() {
            worked = true;
            if let Err(error) = self.parts.run(start..start + size, thread, self.cx.workers()) {
                self.fail(start, error);
            }
        }
        worked
    }

    /// The next part: half of each thread's share of what is left, but not less than the smallest.
    fn take(&self) -> Option<(usize, usize)> {
        let size = |start: usize| {
            let left = self.count - start;
            whole_groups(left / (2 * self.workers), self.group).max(self.part).min(left)
        };
        let after = |start| (start < self.count).then(|| start + size(start));
        let start = self.next.fetch_update(Relaxed, Relaxed, after).ok()?;
        Some((start, size(start)))
    }

    /// Notes a failure, and that no more parts are to be taken.
    fn fail(&self, start: usize, error: Error) {
        self.next.store(self.count, Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(first, _)| start < *first) {
            *failed = Some((start, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Run;
    use crate::device::Cpu;
    use crate::parallel::{run, By, Sum};
    use crate::steps::Up;
    use crate::view::Single;
    use rev_core::error::Cause;

    #[test]
    fn threads_are_used_where_they_pay() {
        assert_eq!(worthwhile(1e4, 1.0, 8), 1);
        assert_eq!(worthwhile(1e7, 1.0, 8), 8);
        // a copy costs as much as the loop
        assert_eq!(worthwhile(1e6, 1e6, 8), 1);
        assert_eq!(worthwhile(1e6, 1e5, 8), 3);
        assert_eq!(worthwhile(1e7, 0.0, 2), 2);
    }

    #[test]
    fn every_iteration_is_run_once_and_the_first_failure_reported() {
        for cpu in [Cpu::with_threads(3).parallel_from(1), Cpu::with_threads(4).parallel_from(0)] {
            let of_cpu = Run::new(cpu.options());
            let counts = [2usize, 3, 50, 1000, 100_003];
            for (count, group) in counts.into_iter().flat_map(|c| [1, 16, 32].map(|group| (c, group))) {
                let mut total = 0u64;
                let target = By(Sum, Single::new(&mut total));
                let body =
                    |_: Context<'_, Restoring>, visits: Up<usize>, By(_, sum): By<Sum, Single<'_, u64>>| {
                        visits.into_iter().for_each(|i| *sum.get() += i as u64 + 1);
                        Ok(())
                    };
                run(of_cpu.context(), Up::new(0, count), [100, group], target, body).unwrap();
                assert_eq!(total, (count * (count + 1) / 2) as u64);
            }
            let failing = |_: Context<'_, Restoring>, visits: Up<usize>, (): ()| {
                let failed = visits.into_iter().find(|i| i % 1000 == 999);
                failed.map_or(Ok(()), |i| Err(Error::new(Cause::Step { found: i as i128 })))
            };
            let error = run(of_cpu.context(), Up::new(0, 10_000), [100, 1], (), failing).unwrap_err();
            assert!(matches!(error.cause(), Cause::Step { found: 999 }), "{error}");
        }
    }
}
