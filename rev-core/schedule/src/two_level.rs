//! Two levels of storage: a few states in memory, any number on disk, which costs time.
//!
//! Aupy, Herrmann, Hovland and Robert, "Optimal multistage algorithm for adjoint computation" (2016), show that a
//! best schedule writes to disk before it stores anything in memory, and that between two states on disk it
//! uses memory as [`revolve_calls`](crate::revolve_calls) does. With `t(l)` calls of that, `f` the cost of a step,
//! `w` and `r` those of writing and reading a state on disk:
//!
//! - `D(l)`: the first state is on disk and was just read. `D(l) = min(f t(l), min over j of f j + f t(l - j) + r + D(j))`;
//! - `O(l)`: the first state is the working one.
//!   `O(l) = min(f t(l), min over j of w + f j + O(l - j) + r + D(j))`.
//!
//! Both are tables over all lengths up to the loop's, of quadratic work.

use crate::binomial::{revolve_calls, Free};
use crate::{Action, Binomial, ScheduleError, Slot};

/// The longest loop.
const LONGEST: u64 = 20_000;

/// What takes how long, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A step.
    pub step: u64,
    /// Writing a state to disk.
    pub write: u64,
    /// Reading a state from disk.
    pub read: u64,
}

/// For a length: the least cost, and after how many steps the next part begins (0 where memory serves alone).
#[derive(Clone, Copy, Debug)]
struct Best {
    cost: u128,
    part: u64,
}

/// What the working state is.
#[derive(Clone, Copy, Debug)]
enum Now {
    /// Reached for the first time.
    Reached,
    /// Written to disk, with so many steps to go to the next part.
    Written(u64),
    /// Read from disk.
    Read,
    /// The begin of a part that memory serves alone.
    Last,
    /// Not of use any more.
    Done,
}

/// A schedule with memory and disk.
#[derive(Clone, Debug)]
pub struct TwoLevel {
    /// By length, when the first state is on disk.
    stored: Vec<Best>,
    /// By length, when it isn't.
    loose: Vec<Best>,
    /// States on disk.
    disk: Vec<u64>,
    /// Adjoints from here on are done.
    end: u64,
    working: u64,
    now: Now,
    inner: Option<Binomial>,
    free: Free,
}

impl TwoLevel {
    /// For a loop of this many steps, with this many slots in memory (0 are possible) and any number on disk.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::TooLong`] above 20,000 steps, [`ScheduleError::Overflow`] for costs whose sums don't fit
    /// in 128 bits.
    pub fn new(steps: u64, slots: usize, costs: Costs) -> Result<TwoLevel, ScheduleError> {
        if steps > LONGEST {
            return Err(ScheduleError::TooLong { steps, limit: LONGEST });
        }
        let memory = in_memory(steps, slots, costs.step)?;
        let stored = table(&memory, |known, l, j| {
            let parts = memory[(l - j) as usize]?.checked_add(known.get(j as usize)?.cost)?;
            sum(parts, &[costs.step.checked_mul(j)?, costs.read])
        })?;
        let loose = table(&memory, |known, l, j| {
            let parts = known.get((l - j) as usize)?.cost.checked_add(stored.get(j as usize)?.cost)?;
            sum(parts, &[costs.step.checked_mul(j)?, costs.read, costs.write])
        })?;
        let now = if steps == 0 { Now::Done } else { Now::Reached };
        let (disk, free) = (Vec::new(), Free::all(slots));
        Ok(TwoLevel { stored, loose, disk, end: steps, working: 0, now, inner: None, free })
    }

    /// What the whole schedule costs; adjoints are not among it.
    pub fn cost(&self) -> u128 {
        self.loose.last().map_or(0, |best| best.cost)
    }

    /// Reverses what is after the working state with memory alone.
    fn in_memory(&mut self) -> Option<Action> {
        let free = std::mem::replace(&mut self.free, Free::all(0));
        let inner = self.inner.insert(Binomial::segment(self.working, self.end, free, 0));
        (self.end, self.now) = (self.working, Now::Done);
        inner.next()
    }

    fn advance(&mut self, part: u64, then: Now) -> Option<Action> {
        let from = self.working;
        self.working += part;
        self.now = then;
        Some(Action::Advance { from, to: self.working })
    }

    /// Goes on with the last state on disk.
    fn read(&mut self) -> Option<Action> {
        let state = *self.disk.last()?;
        let slot = Slot::Disk(self.disk.len() - 1);
        if state == self.end {
            self.disk.pop();
            return Some(Action::Drop { state, slot });
        }
        (self.working, self.now) = (state, Now::Read);
        Some(Action::Restore { state, slot })
    }
}

/// `f t(l)` by `l`; nothing where memory doesn't suffice.
fn in_memory(steps: u64, slots: usize, step: u64) -> Result<Vec<Option<u128>>, ScheduleError> {
    let cost = |l| match (l, slots) {
        (0 | 1, _) => Ok(Some(0)),
        (_, 0) => Ok(None),
        _ => match revolve_calls(l, slots)?.checked_mul(u128::from(step)) {
            None => Err(ScheduleError::Overflow),
            cost => Ok(cost),
        },
    };
    (0..=steps).map(cost).collect()
}

fn sum(parts: u128, more: &[u64]) -> Option<u128> {
    more.iter().try_fold(parts, |sum, &m| sum.checked_add(u128::from(m)))
}

/// The minimum over the first parts of each length, for which the costs of what is shorter are known.
fn table(
    memory: &[Option<u128>],
    cost: impl Fn(&[Best], u64, u64) -> Option<u128>,
) -> Result<Vec<Best>, ScheduleError> {
    let mut known: Vec<Best> = Vec::with_capacity(memory.len());
    for (l, alone) in (0u64..).zip(memory) {
        let divided = (1..l).filter_map(|j| cost(&known, l, j).map(|cost| Best { cost, part: j }));
        let all = alone.map(|cost| Best { cost, part: 0 }).into_iter().chain(divided);
        known.push(all.min_by_key(|best| best.cost).ok_or(ScheduleError::Overflow)?);
    }
    Ok(known)
}

impl Iterator for TwoLevel {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        if let Some(inner) = &mut self.inner {
            match inner.next() {
                Some(action) => return Some(action),
                None => self.free = self.inner.take()?.into_free(),
            }
        }
        let len = self.end.saturating_sub(self.working) as usize;
        match self.now {
            Now::Reached => match self.loose.get(len)?.part {
                0 => self.in_memory(),
                part => {
                    let slot = Slot::Disk(self.disk.len());
                    self.disk.push(self.working);
                    self.now = Now::Written(part);
                    Some(Action::Store { state: self.working, slot })
                }
            },
            Now::Written(part) => self.advance(part, Now::Reached),
            Now::Read => match self.stored.get(len)?.part {
                0 => self.in_memory(),
                part => self.advance(part, Now::Last),
            },
            Now::Last => self.in_memory(),
            Now::Done => self.read(),
        }
    }
}
