//! Binomial checkpoints: the fewest calls for a number of states, for a loop of known length.
//!
//! With `s` slots and no step done more than `r` times before its adjoint, a loop of
//! `β(s, r) = C(s + r, s)` steps can be reversed, and no longer one. Griewank, "Achieving logarithmic
//! growth of temporal and spatial complexity in reverse automatic differentiation" (1992), calls it treeverse;
//! Griewank and Walther, Algorithm 799 (2000), revolve, with splits for which the number of calls is least:
//!
//! `t(l, s) = min over m of m + t(l - m, s - 1) + t(m, s) = r l - C(s + r, s + 1)`, `r` least with `β(s, r) ≥ l`.
//!
//! Calls are those that lead to the states before the steps; the adjoint of a step isn't one.

use crate::{Action, ScheduleError, Slot};

/// The least of C(n, k) and `cap`.
fn choose(n: u128, k: u128, cap: u128) -> u128 {
    if k > n {
        return 0;
    }
    let (k, mut c) = (k.min(n - k), 1);
    for i in 1..=k {
        // C(n - k + i, i): exact, and larger with every i
        c = match u128::checked_mul(c, n - k + i) {
            Some(product) => product / i,
            None => return cap,
        };
        if c >= cap {
            return cap;
        }
    }
    c
}

/// The least number for which this monotone condition holds.
fn least(holds: impl Fn(u128) -> bool) -> u128 {
    let mut high = 1;
    while !holds(high) {
        high *= 2;
    }
    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// How often the steps of a loop are done at most, with this many slots (at least 1).
fn repetitions(steps: u64, slots: usize) -> u128 {
    let (l, s) = (u128::from(steps), slots as u128);
    least(|r| choose(s + r, s, l) >= l)
}

/// The calls of [`Binomial::revolve`], by the formula: `r l - C(s + r, s + 1)`.
///
/// # Errors
///
/// [`ScheduleError::NoStates`] without slots, [`ScheduleError::Overflow`] where a `u128` doesn't hold what
/// the formula passes through.
pub fn revolve_calls(steps: u64, slots: usize) -> Result<u128, ScheduleError> {
    if slots == 0 {
        return Err(ScheduleError::NoStates);
    }
    if steps == 0 {
        return Ok(0);
    }
    let (l, s, r) = (u128::from(steps), slots as u128, repetitions(steps, slots));
    let most = r.checked_mul(l).ok_or(ScheduleError::Overflow)?;
    // the difference isn't negative, so a binomial of this size is one that was capped
    match choose(s + r, s + 1, u128::MAX) {
        u128::MAX => Err(ScheduleError::Overflow),
        less => most.checked_sub(less).ok_or(ScheduleError::Overflow),
    }
}

/// [`revolve_calls`] of a gap between checkpoints, where it is large enough to lose any comparison if it overflows.
pub(crate) fn calls_or_max(steps: u64, slots: usize) -> u128 {
    revolve_calls(steps, slots).unwrap_or(u128::MAX)
}

/// How far to go before the next checkpoint, of `len` ≥ 2 steps with `s` slots, one of which holds the first state.
///
/// `m` and `len - m` have to lie where `t(·, s)` has the slope `r - 1` and `t(·, s - 1)` the slope `r`:
/// `C(s+r-2, s) ≤ m ≤ C(s+r-1, s)` and `C(s+r-2, s-1) ≤ len - m ≤ C(s+r-1, s-1)`. This is the least such `m`.
fn revolve_split(len: u64, slots: usize) -> u64 {
    if slots == 1 {
        return len - 1;
    }
    let (l, s, r) = (u128::from(len), slots as u128, repetitions(len, slots));
    let least = if r < 2 { 0 } else { choose(s + r - 2, s, l) };
    let rest = choose(s + r - 1, s - 1, l);
    u64::try_from(least.max(l - rest)).unwrap_or(len).clamp(1, len - 1)
}

/// The same in Griewank's rounding: `κ = ⌈(δσ + τφ) / (τ + δ)⌉`, one before the end where that is the end.
fn treeverse_split(len: u64, slots: usize, tau: u64) -> u64 {
    if slots == 1 {
        return len - 1;
    }
    let (l, s, t) = (u128::from(len), slots as u128, u128::from(tau));
    // a product of two 64-bit numbers
    let m = (t * l).div_ceil((t + s).max(1));
    u64::try_from(m).unwrap_or(len).clamp(1, len - 1)
}

/// Which splits are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Revolve,
    Treeverse,
}

/// A stored state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    /// Which.
    pub at: u64,
    /// Where.
    pub slot: usize,
    /// Sweeps that are left to treeverse.
    tau: u64,
}

impl Checkpoint {
    pub(crate) fn new(at: u64, slot: usize) -> Checkpoint {
        Checkpoint { at, slot, tau: 0 }
    }
}

/// Slots that aren't in use: those that were, and all from `next` to `end`.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    used: Vec<usize>,
    next: usize,
    end: usize,
}

impl Free {
    pub(crate) fn all(end: usize) -> Free {
        Free { used: Vec::new(), next: 0, end }
    }

    pub(crate) fn count(&self) -> usize {
        self.used.len() + (self.end - self.next)
    }

    pub(crate) fn take(&mut self) -> Option<usize> {
        self.used.pop().or_else(|| {
            let slot = self.next;
            (slot < self.end).then(|| {
                self.next += 1;
                slot
            })
        })
    }

    pub(crate) fn give_back(&mut self, slot: usize) {
        self.used.push(slot);
    }
}

/// A binomial schedule: `slots` stored states, the first one among them, and the working one.
///
/// What is kept is one number for each stored state, whatever the length.
#[derive(Clone, Debug)]
pub struct Binomial {
    rule: Rule,
    /// The first step.
    base: u64,
    /// Adjoints of the steps from here on are done.
    end: u64,
    working: u64,
    /// The working state was just reached and may have to be stored, with this many sweeps of treeverse.
    fresh: Option<u64>,
    stored: Vec<Checkpoint>,
    free: Free,
}

impl Binomial {
    /// The fewest calls: [`revolve_calls`].
    ///
    /// # Errors
    ///
    /// [`ScheduleError::NoStates`] without slots.
    pub fn revolve(steps: u64, slots: usize) -> Result<Binomial, ScheduleError> {
        Binomial::new(Rule::Revolve, steps, slots, 0)
    }

    /// Griewank's treeverse with δ = `slots`, with the rounding of TreeverseAlgorithm.jl.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::NoStates`] without slots.
    pub fn treeverse(steps: u64, slots: usize) -> Result<Binomial, ScheduleError> {
        if slots == 0 {
            return Err(ScheduleError::NoStates);
        }
        // at most `steps`
        let tau = u64::try_from(repetitions(steps, slots).max(1)).unwrap_or(u64::MAX);
        Binomial::new(Rule::Treeverse, steps, slots, tau)
    }

    fn new(rule: Rule, steps: u64, slots: usize, tau: u64) -> Result<Binomial, ScheduleError> {
        if slots == 0 {
            return Err(ScheduleError::NoStates);
        }
        Ok(Binomial { rule, ..Binomial::segment(0, steps, Free::all(slots), tau) })
    }

    /// The steps from `base` to `end`, with the state before them as the working one.
    pub(crate) fn segment(base: u64, end: u64, free: Free, tau: u64) -> Binomial {
        let fresh = (base < end).then_some(tau);
        Binomial { rule: Rule::Revolve, base, end, working: base, fresh, stored: Vec::new(), free }
    }

    /// All steps up to `end`, with the state after them as the working one, and these states stored.
    pub(crate) fn resumed(end: u64, stored: Vec<Checkpoint>, free: Free) -> Binomial {
        Binomial { rule: Rule::Revolve, base: 0, end, working: end, fresh: None, stored, free }
    }

    /// The slots, when all is done.
    pub(crate) fn into_free(self) -> Free {
        self.free
    }

    fn store(&mut self, tau: u64) -> Option<Action> {
        let (at, slot) = (self.working, self.free.take()?);
        self.stored.push(Checkpoint { at, slot, tau });
        Some(Action::Store { state: at, slot: Slot::Memory(slot) })
    }

    fn adjoint(&mut self) -> Option<Action> {
        self.end -= 1;
        Some(Action::Adjoint { step: self.end })
    }

    /// Goes on from the last stored state, which is the working one.
    fn advance(&mut self) -> Option<Action> {
        let slots = self.free.count() + 1;
        let top = self.stored.last_mut()?;
        let (from, len) = (top.at, self.end - top.at);
        let m = match self.rule {
            Rule::Revolve => revolve_split(len, slots),
            Rule::Treeverse => treeverse_split(len, slots, top.tau),
        };
        self.fresh = Some(top.tau);
        top.tau = top.tau.saturating_sub(1);
        self.working = from + m;
        Some(Action::Advance { from, to: self.working })
    }
}

impl Iterator for Binomial {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        if let Some(tau) = self.fresh.take() {
            return if self.working + 1 == self.end { self.adjoint() } else { self.store(tau) };
        }
        let top = *self.stored.last()?;
        let slot = Slot::Memory(top.slot);
        if top.at == self.end {
            self.stored.pop();
            self.free.give_back(top.slot);
            return Some(Action::Drop { state: top.at, slot });
        }
        if self.end <= self.base {
            return None;
        }
        if self.working != top.at {
            self.working = top.at;
            return Some(Action::Restore { state: top.at, slot });
        }
        if top.at + 1 == self.end {
            return self.adjoint();
        }
        self.advance()
    }
}
