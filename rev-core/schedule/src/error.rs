//! Requests that no schedule can meet.

use thiserror::Error;

/// Why there is no such schedule.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Nowhere to keep the first state.
    #[error("a schedule needs room for at least one state")]
    NoStates,
    /// Bennett's recursion with one segment would not get shorter.
    #[error("Bennett's schedule needs at least 2 segments, found {segments}")]
    FewSegments {
        /// What was asked for.
        segments: u64,
    },
    /// The path is too long for the pebbles.
    #[error("{steps} steps need at least {needed} pebbles, found {pebbles}")]
    FewPebbles {
        /// The length of the path.
        steps: u64,
        /// What was asked for.
        pebbles: u64,
        /// ⌈log₂ steps⌉ + 1.
        needed: u64,
    },
    /// A table of this size isn't made.
    #[error("this schedule is planned for at most {limit} steps, found {steps}")]
    TooLong {
        /// What was asked for.
        steps: u64,
        /// The most.
        limit: u64,
    },
    /// A table of this size isn't made.
    #[error("a table for {steps} steps and {pebbles} pebbles would have more than {limit} rows")]
    LargeTable {
        /// The length of the path.
        steps: u64,
        /// The pebbles.
        pebbles: u64,
        /// The most.
        limit: usize,
    },
    /// A count that no `u128` holds.
    #[error("the number of calls does not fit in 128 bits")]
    Overflow,
    /// Memory for less than two states.
    #[error("{bytes} bytes don't hold the working state and the first one, of {state} bytes each")]
    LittleMemory {
        /// The budget.
        bytes: u64,
        /// One state.
        state: u64,
    },
    /// A state without size.
    #[error("a state of 0 bytes needs no plan")]
    EmptyState,
    /// A time that isn't one.
    #[error("expected a finite time above 0, found {seconds}")]
    Seconds {
        /// What was asked for.
        seconds: f64,
    },
}
