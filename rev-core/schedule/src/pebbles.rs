//! The fewest moves of the reversible pebble game on a path.
//!
//! Knill, "An analysis of Bennett's pebble game" (1995): with `S` pebbles, `n ≤ 2^(S-1)` steps take
//!
//! `F(1, S) = 1`, `F(n, S) = min over m of F(m, S) + F(m, S - 1) + F(n - m, S - 1)`
//!
//! moves, of which the last term takes state `m` back. The first state needs no pebble.
//!
//! The table isn't one of all `n`: `F(·, S)` is convex, so the minimum is found by merging the slopes of
//! `F(m, S) + F(m, S - 1)` with those of `F(·, S - 1)`, smallest first, and both have long runs of
//! equal slopes. That the slopes never fall is what the merging gives, given that it is so for less pebbles and
//! fewer steps.

use std::sync::Arc;

use crate::pebbling::Parts;
use crate::ScheduleError;

/// The most steps: tables grow like `steps^0.37`.
const LONGEST: u64 = 1 << 40;

/// The most rows of all tables.
const ROWS: usize = 1 << 22;

/// Steps of one slope, up to `end`.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The last path length.
    end: u64,
    /// The first part of that path.
    split: u64,
    /// Moves that each step more costs.
    slope: u128,
    /// `F(end, S)`.
    moves: u128,
    /// Whether a longer path has a longer first part, or a longer second one.
    first_grows: bool,
}

/// Where to divide paths, for each number of pebbles up to the one asked for.
#[derive(Clone, Debug)]
pub struct Pebbles {
    /// One table for each number of pebbles, from 1 on.
    tables: Arc<[Vec<Run>]>,
}

impl Pebbles {
    /// For paths up to `steps` with this many pebbles.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::FewPebbles`] where `steps > 2^(pebbles - 1)`, [`ScheduleError::TooLong`] and
    /// [`ScheduleError::LargeTable`] for tables that aren't made, [`ScheduleError::Overflow`] where a `u128` doesn't
    /// hold the moves.
    pub fn new(steps: u64, pebbles: u64) -> Result<Pebbles, ScheduleError> {
        let needed = Pebbles::needed(steps);
        if pebbles < needed {
            return Err(ScheduleError::FewPebbles { steps, pebbles, needed });
        }
        if steps > LONGEST {
            return Err(ScheduleError::TooLong { steps, limit: LONGEST });
        }
        // more pebbles than states are of no use
        let pebbles = pebbles.min(steps.max(1));
        let large = ScheduleError::LargeTable { steps, pebbles, limit: ROWS };
        let mut tables = vec![vec![Run { end: 1, split: 0, slope: 1, moves: 1, first_grows: false }]];
        let mut rows = 1;
        for _ in 1..pebbles {
            let less = tables.last().map_or(&[][..], Vec::as_slice);
            let table = with_one_more(less, steps).ok_or(ScheduleError::Overflow)?;
            rows += table.len();
            if rows > ROWS {
                return Err(large);
            }
            tables.push(table);
        }
        Ok(Pebbles { tables: tables.into() })
    }

    /// The least pebbles for a path: `⌈log₂ steps⌉ + 1`.
    pub fn needed(steps: u64) -> u64 {
        match steps {
            0 => 0,
            _ => u64::from((steps - 1).checked_ilog2().map_or(0, |b| b + 1)) + 1,
        }
    }

    /// `F(steps, pebbles)`: the calls of [`Pebbles::program`]; nothing where the pebbles don't suffice.
    pub fn moves(&self, steps: u64, pebbles: u64) -> Option<u128> {
        if steps == 0 {
            return Some(0);
        }
        let last = self.tables.len().checked_sub(1)?;
        let table = usize::try_from(pebbles.checked_sub(1)?).unwrap_or(last).min(last);
        let run = run_of(self.tables.get(table)?, steps)?;
        Some(run.moves - u128::from(run.end - steps) * run.slope)
    }

    /// The pebbles that are of use.
    pub(crate) fn pebbles(&self) -> u32 {
        u32::try_from(self.tables.len()).unwrap_or(u32::MAX)
    }

    /// The best division of a path of at least 2 steps.
    pub(crate) fn parts(&self, len: u64, pebbles: u32) -> Parts {
        let table = self.tables.get((pebbles as usize).saturating_sub(1));
        let size = table.and_then(|t| run_of(t, len)).map_or(1, |run| {
            let back = if run.first_grows { run.end - len } else { 0 };
            run.split - back
        });
        Parts { size, count: 2 }
    }
}

fn run_of(table: &[Run], len: u64) -> Option<&Run> {
    table.get(table.partition_point(|run| run.end < len))
}

/// The next increment of a function that is given by its runs, after `at` steps: how many of which slope.
fn ahead(runs: &[Run], at: u64, first: &mut usize) -> Option<(u64, u128)> {
    while runs.get(*first).is_some_and(|run| run.end <= at) {
        *first += 1;
    }
    runs.get(*first).map(|run| (run.end - at, run.slope))
}

/// The table for one pebble more; nothing where a `u128` overflows.
fn with_one_more(less: &[Run], steps: u64) -> Option<Vec<Run>> {
    let mut runs = vec![Run { end: 1, split: 0, slope: 1, moves: 1, first_grows: false }];
    let longest = less.last()?.end.saturating_mul(2).min(steps);
    if longest > 1 {
        // F(2, S) = 2 F(1, S) + F(1, S - 1)
        runs.push(Run { end: 2, split: 1, slope: 2, moves: 3, first_grows: false });
    }
    // the lengths of the two parts, and in which runs they end
    let (mut m, mut rest) = (1, 1);
    let (mut own, mut same, mut other) = (0, 0, 0);
    while let Some(&last) = runs.last().filter(|last| last.end < longest) {
        let a = ahead(&runs, m, &mut own).zip(ahead(less, m, &mut same));
        let a = a.map(|((x, f), (y, g))| (x.min(y), f + g));
        let b = ahead(less, rest, &mut other);
        let first_grows = match (a, b) {
            (Some((_, f)), Some((_, g))) => f <= g,
            (a, _) => a.is_some(),
        };
        let (count, slope) = if first_grows { a? } else { b? };
        let count = count.min(longest - last.end);
        *(if first_grows { &mut m } else { &mut rest }) += count;
        let moves = last.moves.checked_add(slope.checked_mul(u128::from(count))?)?;
        let run = Run { end: last.end + count, split: m, slope, moves, first_grows };
        // runs of one kind are one run, also when it is being read
        if (last.slope, last.first_grows) == (slope, first_grows) && runs.len() > 2 {
            runs.pop();
        }
        runs.push(run);
    }
    Some(runs)
}
