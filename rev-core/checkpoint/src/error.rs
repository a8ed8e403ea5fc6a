//! What can go wrong: a step, a schedule, a disk.

use std::io;
use std::path::PathBuf;

use rev_schedule::{Action, Slot};
use thiserror::Error;

/// Why a step failed: an error of rev, or of the caller's own.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no gradient.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A step failed.
    #[error("step {step}: {cause}")]
    Step {
        /// Which one.
        step: u64,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// The adjoint of a step failed, or its loss.
    #[error("adjoint of step {step}: {cause}")]
    Adjoint {
        /// Which one.
        step: u64,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// The actions aren't those of a gradient of this loop. Found before anything runs, where the length is known.
    #[error("action {number} of the schedule, {action:?}: {wrong}")]
    Schedule {
        /// Which action, from 1 on.
        number: u64,
        /// The action.
        action: Action,
        /// What is wrong with it.
        wrong: Wrong,
    },
    /// The schedule ends too early.
    #[error("the schedule ends after {actions} actions, before the adjoint of step {step}")]
    Unfinished {
        /// How many actions it has.
        actions: u64,
        /// The next adjoint.
        step: u64,
    },
    /// The schedule stores on disk, and nobody said where.
    #[error("the schedule stores states on disk: Run::folder says where")]
    NoFolder,
    /// What keeps no states can't be saved.
    #[error("a run that undoes its steps isn't saved or resumed")]
    NotSaved,
    /// A file.
    #[error("{}: {doing}: {cause}", path.display())]
    Disk {
        /// Which one.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// A saved run that isn't one of this loop and schedule.
    #[error("{}: the saved run can't be resumed: {why}", path.display())]
    Resume {
        /// Its file.
        path: PathBuf,
        /// Why.
        why: Unusable,
    },
    /// [`Run::progress`](super::Run::progress) said so.
    #[error("stopped after {calls} steps and {gradients} adjoints")]
    Stopped {
        /// Steps done.
        calls: u128,
        /// Adjoints done.
        gradients: u64,
    },
}

/// What is wrong with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Wrong {
    /// It needs another working state.
    #[error("the working state is state {working}, not {needed}")]
    Working {
        /// The one there is.
        working: u64,
        /// The one it needs.
        needed: u64,
    },
    /// An adjoint has used the working state up.
    #[error("the working state was used up by an adjoint, and state {needed} wasn't restored")]
    UsedUp {
        /// The one it needs.
        needed: u64,
    },
    /// Steps backwards, or beyond the end.
    #[error("steps from {from} to {to} of a loop of {steps}")]
    Range {
        /// The first one.
        from: u64,
        /// The one after the last.
        to: u64,
        /// The length of the loop.
        steps: u64,
    },
    /// It stores over another state.
    #[error("{slot:?} holds state {holds} already")]
    Full {
        /// The slot.
        slot: Slot,
        /// What it holds.
        holds: u64,
    },
    /// It takes a state from where it isn't.
    #[error("{slot:?} doesn't hold state {needed}")]
    Missing {
        /// The slot.
        slot: Slot,
        /// The state.
        needed: u64,
    },
    /// An adjoint out of order.
    #[error("the next adjoint is that of step {next:?}")]
    Adjoint {
        /// The next one; none when all are done.
        next: Option<u64>,
    },
}

/// Why a saved run can't be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unusable {
    /// Something else, cut short, or changed.
    #[error("the file is damaged, or not a saved run")]
    Damaged,
    /// Other states.
    #[error("its states and cotangents have {found} bytes, not {expected}")]
    Sizes {
        /// In the file.
        found: u64,
        /// Of the states given.
        expected: u64,
    },
    /// Another schedule or length.
    #[error("it is of another schedule")]
    Schedule,
}
