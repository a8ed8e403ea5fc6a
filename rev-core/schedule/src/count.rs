//! What a schedule costs, counted by walking through it.

use crate::{Action, Slot};

/// Counts of a schedule's actions so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps done.
    pub advances: u128,
    /// Steps taken back.
    pub taken_back: u128,
    /// Adjoints of steps.
    pub gradients: u64,
    /// Copies to memory.
    pub stores: u64,
    /// Copies from memory.
    pub restores: u64,
    /// Copies to disk.
    pub writes: u64,
    /// Copies from disk.
    pub reads: u64,
    /// The most different states in memory at a time, with the first one and the working one.
    pub peak_states: u64,
    /// The most states on disk at a time.
    pub peak_disk: u64,
    memory: u64,
    disk: u64,
    working: Working,
}

/// The working state, as far as its memory is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Working {
    /// In no slot of memory.
    #[default]
    Alone,
    /// A copy of this state, which a slot of memory holds too.
    Stored(u64),
}

impl Counts {
    /// Those of a whole schedule.
    pub fn of(schedule: impl IntoIterator<Item = Action>) -> Counts {
        let mut counts = Counts::default();
        schedule.into_iter().for_each(|action| counts.add(&action));
        counts
    }

    /// Calls of the step, forwards and backwards; adjoints are not among them.
    pub fn calls(&self) -> u128 {
        self.advances + self.taken_back
    }

    /// Counts one more action.
    pub fn add(&mut self, action: &Action) {
        match *action {
            Action::Advance { from, to } => {
                self.advances += u128::from(to.saturating_sub(from));
                self.working = Working::Alone;
            }
            Action::Store { state, slot: Slot::Memory(_) } => {
                self.stores += 1;
                self.memory += 1;
                self.working = Working::Stored(state);
            }
            Action::Store { slot: Slot::Disk(_), .. } => {
                self.writes += 1;
                self.disk += 1;
            }
            Action::Restore { state, slot: Slot::Memory(_) } => {
                self.restores += 1;
                self.working = Working::Stored(state);
            }
            Action::Restore { slot: Slot::Disk(_), .. } => {
                self.reads += 1;
                self.working = Working::Alone;
            }
            Action::TakeBack { step, slot } => {
                self.taken_back += 1;
                self.empty(step + 1, slot);
            }
            Action::Adjoint { .. } => self.gradients += 1,
            Action::Drop { state, slot } => self.empty(state, slot),
        }
        self.peak_disk = self.peak_disk.max(self.disk);
        let working = u64::from(self.working == Working::Alone);
        self.peak_states = self.peak_states.max(self.memory + working);
    }

    fn empty(&mut self, state: u64, slot: Slot) {
        match slot {
            Slot::Disk(_) => self.disk = self.disk.saturating_sub(1),
            Slot::Memory(_) => {
                self.memory = self.memory.saturating_sub(1);
                if self.working == Working::Stored(state) {
                    self.working = Working::Alone;
                }
            }
        }
    }
}
