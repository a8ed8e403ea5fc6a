//! Every state stored: the least calls, the most memory.

use crate::{Action, Slot};

/// `n - 1` calls, `n` states: the working state goes on to the last step, and each state before it is
/// stored.
#[derive(Clone, Debug)]
pub struct Everything {
    steps: u64,
    at: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Store,
    Advance,
    Restore,
    Adjoint,
    Drop,
    Done,
}

impl Everything {
    /// For a loop of this many steps.
    pub fn new(steps: u64) -> Everything {
        let phase = match steps {
            0 => Phase::Done,
            1 => Phase::Adjoint,
            _ => Phase::Store,
        };
        Everything { steps, at: 0, phase }
    }

    fn here(&self) -> Slot {
        Slot::Memory(usize::try_from(self.at).unwrap_or(usize::MAX))
    }
}

impl Iterator for Everything {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        let (state, slot) = (self.at, self.here());
        let (action, phase) = match self.phase {
            Phase::Store => (Action::Store { state, slot }, Phase::Advance),
            Phase::Advance => {
                self.at += 1;
                let last = self.at + 1 == self.steps;
                let next = if last { Phase::Adjoint } else { Phase::Store };
                (Action::Advance { from: state, to: self.at }, next)
            }
            Phase::Restore => (Action::Restore { state, slot }, Phase::Adjoint),
            Phase::Adjoint if state + 1 < self.steps => (Action::Adjoint { step: state }, Phase::Drop),
            // the last state is in no slot
            Phase::Adjoint => (Action::Adjoint { step: state }, self.back()),
            Phase::Drop => (Action::Drop { state, slot }, self.back()),
            Phase::Done => return None,
        };
        self.phase = phase;
        Some(action)
    }
}

impl Everything {
    fn back(&mut self) -> Phase {
        match self.at.checked_sub(1) {
            Some(at) => {
                self.at = at;
                Phase::Restore
            }
            None => Phase::Done,
        }
    }
}
