//! What a schedule tells its executor to do.

/// Where a stored state lies. Numbers are small: a schedule uses those from 0 on, and uses them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// In memory.
    Memory(usize),
    /// On disk, or wherever storing and reading cost time.
    Disk(usize),
}

/// One action. State `i` is the state before step `i`, so `n` steps lead from state 0 to state `n`.
///
/// There is one working state, state 0 at first. A schedule ends when the adjoint of step 0 is done and
/// no slot is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Does the steps `from`, ..., `to - 1` on the working state.
    Advance {
        /// The state that the working state is.
        from: u64,
        /// The state that it becomes.
        to: u64,
    },
    /// Copies the working state to an empty slot.
    Store {
        /// Which state it is.
        state: u64,
        /// Where to.
        slot: Slot,
    },
    /// Copies a slot to the working state.
    Restore {
        /// Which state it is.
        state: u64,
        /// Where from.
        slot: Slot,
    },
    /// Uncomputes state `step + 1`, which lies in the slot, by the inverse of the step; the working state
    /// is state `step`. The slot is empty then.
    TakeBack {
        /// The step.
        step: u64,
        /// Where the state after it lies.
        slot: Slot,
    },
    /// The adjoint of a step, whose state before it is the working state.
    Adjoint {
        /// The step.
        step: u64,
    },
    /// Forgets the state in a slot.
    Drop {
        /// Which state it is.
        state: u64,
        /// Where it lies.
        slot: Slot,
    },
}
