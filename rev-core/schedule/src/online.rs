//! Checkpoints of a loop whose length isn't known before it ends.
//!
//! With gaps `g₀, g₁, ...` between the stored states, the last one up to the end, `s` slots reverse the loop
//! with `Σ t(gᵢ, s - i)` calls more ([`revolve_calls`](crate::revolve_calls)): when a gap is reached, the slots of all
//! later ones are free. A state may be stored when it is known that the loop goes on from it.
//!
//! - [`Policy::Binomial`]: the new state takes the slot of that stored one for which this sum, one step
//!   ahead, is least; if it is less without storing the new state, nothing is stored. Up to `C(s + 2, 2) - 1` steps
//!   (repetition 2) no placement needs fewer calls, at any length: first the first gap grows to `s + 1` steps, then the
//!   second to `s`, and so on, as in Stumm and Walther, "New algorithms for optimal online
//!   checkpointing" (2010). From there up to `C(s + 3, 3) - 1` steps (repetition 3) and on, it is a few percent
//!   off the best placement for each length (`docs/schedules.md` has the numbers); a search for `s ≤ 5` finds no rule that is
//!   best at all lengths up to `C(s + 2, 2) + 1`.
//! - [`Policy::Thinning`]: the states whose number is a multiple of `2^j` are kept, and when the slots are full, `j`
//!   grows by one. It needs no arithmetic, and more calls.

use std::collections::VecDeque;

use crate::binomial::{calls_or_max, Checkpoint, Free};
use crate::{Action, Binomial, ScheduleError, Slot};

/// Which states are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Those with which reversing costs the fewest calls.
    Binomial,
    /// Every `2^j`-th.
    Thinning,
}

/// A stored state, with what the gap after it costs; that isn't known of the last one.
#[derive(Clone, Copy, Debug)]
struct Kept {
    at: u64,
    slot: usize,
    /// `t(gap, s - i)` for the i-th of them.
    cost: u128,
    /// `t(gap, s - i + 1)`: after an earlier state was forgotten.
    later: u128,
    /// `t(gap, s - i + 1)` of this gap and the one before it: after this state was forgotten.
    merged: u128,
}

/// The best stored state to forget, other than the last one.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    index: usize,
    /// What all gaps cost then, but the last two.
    cost: u128,
}

/// A schedule that is asked for one step after the other, and at last for the way back.
///
/// What is kept is a few numbers for each slot.
#[derive(Clone, Debug)]
pub struct Online {
    policy: Policy,
    slots: usize,
    steps: u64,
    kept: Vec<Kept>,
    free: Free,
    /// Thinning's distance between stored states.
    every: u64,
    /// Of the states as they are, without the last gap.
    candidate: Option<Candidate>,
    /// The first gap whose costs aren't known.
    unknown: usize,
}

impl Online {
    /// With this many slots, the first state's among them.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::NoStates`] without slots.
    pub fn new(slots: usize, policy: Policy) -> Result<Online, ScheduleError> {
        if slots == 0 {
            return Err(ScheduleError::NoStates);
        }
        let free = Free::all(slots);
        let (kept, candidate) = (Vec::new(), None);
        Ok(Online { policy, slots, steps: 0, kept, free, every: 1, candidate, unknown: 0 })
    }

    /// Steps done so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What leads one step on: room is made and the working state is stored, where the policy says so, and the step is done.
    pub fn step(&mut self) -> impl Iterator<Item = Action> {
        let mut actions = VecDeque::new();
        match self.policy {
            Policy::Binomial => self.place(&mut actions),
            Policy::Thinning => self.thin(&mut actions),
        }
        let from = self.steps;
        self.steps += 1;
        actions.push_back(Action::Advance { from, to: self.steps });
        actions.into_iter()
    }

    /// The way back from the state that was reached, which is the working one.
    pub fn reverse(self) -> Binomial {
        let stored = self.kept.iter().map(|k| Checkpoint::new(k.at, k.slot)).collect();
        Binomial::resumed(self.steps, stored, self.free)
    }

    /// The whole schedule of a loop that turns out to have this many steps.
    pub fn over(self, steps: u64) -> OnlineRun {
        OnlineRun { steps, actions: VecDeque::new(), phase: Phase::Forward(self) }
    }

    fn store(&mut self, actions: &mut VecDeque<Action>) {
        if let Some(slot) = self.free.take() {
            self.unknown = self.unknown.min(self.kept.len().saturating_sub(1));
            self.kept.push(Kept { at: self.steps, slot, cost: 0, later: 0, merged: 0 });
            actions.push_back(Action::Store { state: self.steps, slot: Slot::Memory(slot) });
        }
    }

    fn forget(&mut self, index: usize, actions: &mut VecDeque<Action>) {
        let Kept { at, slot, .. } = self.kept.remove(index);
        self.unknown = self.unknown.min(index.saturating_sub(1));
        self.free.give_back(slot);
        actions.push_back(Action::Drop { state: at, slot: Slot::Memory(slot) });
    }

    fn thin(&mut self, actions: &mut VecDeque<Action>) {
        if !self.steps.is_multiple_of(self.every) {
            return;
        }
        if self.free.count() == 0 {
            self.every = self.every.saturating_mul(2);
            for index in (0..self.kept.len()).rev() {
                if !self.kept[index].at.is_multiple_of(self.every) {
                    self.forget(index, actions);
                }
            }
        }
        if self.steps.is_multiple_of(self.every) {
            self.store(actions);
        }
    }

    /// Stores the working state, if that is best, in the best place.
    fn place(&mut self, actions: &mut VecDeque<Action>) {
        if self.free.count() == 0 {
            match self.worst() {
                Some(index) => self.forget(index, actions),
                None => return,
            }
        }
        self.store(actions);
        if self.free.count() == 0 {
            self.update();
        }
    }

    /// The i-th gap's slots.
    fn slots_of(&self, index: usize) -> usize {
        self.slots.saturating_sub(index)
    }

    /// Which state to forget for the working one; none if it is better not to store that.
    fn worst(&self) -> Option<usize> {
        let last = self.kept.len().checked_sub(1).filter(|&last| last > 0)?;
        let gap = self.steps - self.kept[last].at;
        let before =
            |index: usize| self.kept[..index].iter().fold(0, |sum: u128, k| sum.saturating_add(k.cost));
        let merged = calls_or_max(self.steps - self.kept[last - 1].at, self.slots_of(last - 1));
        let without_last = Candidate { index: last, cost: before(last - 1).saturating_add(merged) };
        let best = match self.candidate {
            Some(Candidate { index, cost }) => {
                let cost = cost.saturating_add(calls_or_max(gap, self.slots_of(last - 1)));
                if cost <= without_last.cost {
                    Candidate { index, cost }
                } else {
                    without_last
                }
            }
            None => without_last,
        };
        let going_on = before(last).saturating_add(calls_or_max(gap + 1, self.slots_of(last)));
        (best.cost <= going_on).then_some(best.index)
    }

    /// Costs of the gaps, and which state's loss costs least among those before the last.
    fn update(&mut self) {
        let last = self.kept.len().saturating_sub(1);
        for index in self.unknown..last {
            let before = index.saturating_sub(1);
            self.kept[index].cost = self.gap_cost(index, index + 1, index);
            self.kept[index].later = self.gap_cost(index, index + 1, before);
            self.kept[index].merged = self.gap_cost(before, index + 1, before);
        }
        self.unknown = last;
        // what the gaps before the one that is merged cost, and those after it
        let mut before: u128 = self.kept[..last].iter().fold(0, |sum, k| sum.saturating_add(k.cost));
        let mut after: u128 = 0;
        let mut best: Option<Candidate> = None;
        for (index, pair) in self.kept[..last].windows(2).enumerate().rev() {
            let index = index + 1;
            before = before.saturating_sub(pair[1].cost);
            let first = before.saturating_sub(pair[0].cost);
            let cost = first.saturating_add(pair[1].merged).saturating_add(after);
            if best.is_none_or(|b| cost <= b.cost) {
                best = Some(Candidate { index, cost });
            }
            after = after.saturating_add(pair[1].later);
        }
        self.candidate = best;
    }

    /// The steps from one stored state to another, reversed with the slots of the i-th gap.
    fn gap_cost(&self, from: usize, to: usize, index: usize) -> u128 {
        calls_or_max(self.kept[to].at - self.kept[from].at, self.slots_of(index))
    }
}

/// An [`Online`] schedule of a loop, forth and back.
#[derive(Clone, Debug)]
pub struct OnlineRun {
    steps: u64,
    actions: VecDeque<Action>,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    Forward(Online),
    Back(Binomial),
}

impl Iterator for OnlineRun {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        loop {
            if let Some(action) = self.actions.pop_front() {
                return Some(action);
            }
            match &mut self.phase {
                Phase::Forward(online) if online.steps < self.steps => self.actions.extend(online.step()),
                Phase::Forward(online) => self.phase = Phase::Back(online.clone().reverse()),
                Phase::Back(back) => return back.next(),
            }
        }
    }
}
