//! Whether the actions of a schedule, in their order, make sense, from what they mean alone.

use std::collections::BTreeMap;

use rev_schedule::{Action, Counts, Slot};

use super::error::{CheckpointError, Wrong};

/// What is known of the states after the actions so far.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The length of the loop, once it is known.
    steps: Option<u64>,
    /// The working state; `None` after an adjoint, which uses it up.
    working: Option<u64>,
    /// Adjoints of the steps from here on are done, once the length is known.
    end: Option<u64>,
    slots: BTreeMap<Slot, u64>,
    /// How many actions there were.
    pub actions: u64,
    /// A number that tells sequences of actions apart (FNV-1a).
    pub hash: u64,
    pub counts: Counts,
}

impl Order {
    /// Before the first action, at state 0.
    pub fn new(steps: Option<u64>) -> Order {
        let (working, slots, counts) = (Some(0), BTreeMap::new(), Counts::default());
        Order { steps, working, end: steps, slots, actions: 0, hash: 0xcbf2_9ce4_8422_2325, counts }
    }

    /// All actions of a gradient.
    pub fn of(schedule: impl Iterator<Item = Action>, steps: u64) -> Result<Order, CheckpointError> {
        let mut order = Order::new(Some(steps));
        for action in schedule {
            order.add(&action)?;
        }
        order.finish()?;
        Ok(order)
    }

    /// The loop ends at the working state.
    pub fn ends(&mut self) {
        (self.steps, self.end) = (self.working, self.working);
    }

    /// The length of the loop and that it is known, or how far it has gone.
    pub fn length(&self) -> (u64, bool) {
        match self.steps {
            Some(steps) => (steps, true),
            None => (self.working.unwrap_or(0), false),
        }
    }

    /// Whether the next adjoint starts from a state: no later one needs it.
    pub fn is_next(&self, state: u64) -> bool {
        self.end.is_some_and(|end| end == state.saturating_add(1))
    }

    /// One more action.
    pub fn add(&mut self, action: &Action) -> Result<(), CheckpointError> {
        self.actions += 1;
        self.play(action).map_err(|wrong| CheckpointError::Schedule {
            number: self.actions,
            action: *action,
            wrong,
        })?;
        self.counts.add(action);
        let words = match *action {
            Action::Advance { from, to } => [0, from, to],
            Action::Store { state, slot } => [1, state, number(slot)],
            Action::Restore { state, slot } => [2, state, number(slot)],
            Action::TakeBack { step, slot } => [3, step, number(slot)],
            Action::Adjoint { step } => [4, step, 0],
            Action::Drop { state, slot } => [5, state, number(slot)],
        };
        for word in words {
            self.hash = (self.hash ^ word).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }

    fn play(&mut self, action: &Action) -> Result<(), Wrong> {
        match *action {
            Action::Advance { from, to } => {
                self.needs(from)?;
                let steps = self.steps.unwrap_or(u64::MAX);
                if to <= from || to > steps {
                    return Err(Wrong::Range { from, to, steps });
                }
                self.working = Some(to);
            }
            Action::Store { state, slot } => {
                self.needs(state)?;
                if let Some(&holds) = self.slots.get(&slot) {
                    return Err(Wrong::Full { slot, holds });
                }
                self.slots.insert(slot, state);
            }
            Action::Restore { state, slot } => {
                self.holds(slot, state)?;
                self.working = Some(state);
            }
            Action::TakeBack { step, slot } => {
                self.needs(step)?;
                self.empty(slot, step.saturating_add(1))?;
            }
            Action::Adjoint { step } => {
                let next = self.end.and_then(|end| end.checked_sub(1));
                if next != Some(step) {
                    return Err(Wrong::Adjoint { next });
                }
                self.needs(step)?;
                (self.end, self.working) = (next, None);
            }
            Action::Drop { state, slot } => self.empty(slot, state)?,
        }
        Ok(())
    }

    fn needs(&self, needed: u64) -> Result<(), Wrong> {
        match self.working {
            Some(working) if working == needed => Ok(()),
            Some(working) => Err(Wrong::Working { working, needed }),
            None => Err(Wrong::UsedUp { needed }),
        }
    }

    fn holds(&self, slot: Slot, needed: u64) -> Result<(), Wrong> {
        match self.slots.get(&slot) {
            Some(&state) if state == needed => Ok(()),
            Some(_) | None => Err(Wrong::Missing { slot, needed }),
        }
    }

    fn empty(&mut self, slot: Slot, state: u64) -> Result<(), Wrong> {
        self.holds(slot, state)?;
        self.slots.remove(&slot);
        Ok(())
    }

    /// That all adjoints are done.
    pub fn finish(&self) -> Result<(), CheckpointError> {
        match self.end {
            None | Some(0) => Ok(()),
            Some(end) => Err(CheckpointError::Unfinished { actions: self.actions, step: end - 1 }),
        }
    }
}

/// Different for all slots.
fn number(slot: Slot) -> u64 {
    let (disk, index) = match slot {
        Slot::Memory(index) => (0, index),
        Slot::Disk(index) => (1, index),
    };
    (index as u64).wrapping_mul(2) | disk
}
