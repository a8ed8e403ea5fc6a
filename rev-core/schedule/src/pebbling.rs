//! Schedules of reversible programs: states are computed next to each other and taken back.
//!
//! A step is a move of a pebble game on the path 0, 1, ..., n: state `i + 1` may be computed, or taken back,
//! while state `i` is there. Both are one call. Bennett's recursion ([`Bennett`]) and the best one
//! ([`Pebbles`]) divide a path into parts and differ in where.
//!
//! With a path divided into parts `p₁ ... p_c`, and `p⁻¹` for a part whose end is taken back:
//!
//! ```text
//! compute   = p₁ ... p_c  p_{c-1}⁻¹ ... p₁⁻¹
//! take back = p₁ ... p_{c-1}  p_c⁻¹ ... p₁⁻¹
//! adjoint   = p₁ ... p_{c-1}  adjoint p_c ... adjoint p₁
//! ```
//!
//! The adjoint is the program that takes the end back, with each last inverse of a step joined by its adjoint.
//! States that are computed anew on that way have no cotangents yet, so every step has one adjoint.

use std::collections::BTreeMap;

use crate::binomial::Free;
use crate::{Action, Bennett, Pebbles, ScheduleError, Slot};

/// Whether what the whole path leaves at its own dividing points is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// These states stay, and the adjoint starts with them.
    Kept,
    /// Only the first and the last state are left: a reversible program.
    TakenBack,
}

/// How a path is divided: `count` parts of `size` steps, of which the last one has what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub size: u64,
    pub count: u64,
}

/// Where paths are divided.
#[derive(Clone, Debug)]
pub(crate) enum Division {
    Bennett(Bennett),
    Pebbles(Pebbles),
}

impl Division {
    /// Of a path of at least 2 steps.
    fn parts(&self, len: u64, pebbles: u32) -> Parts {
        match self {
            Division::Bennett(bennett) => bennett.parts(len),
            Division::Pebbles(table) => table.parts(len, pebbles),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The end of the path is computed.
    Compute,
    /// The same, with all ends of parts left.
    Keep,
    /// The end is taken back.
    TakeBack,
    /// The end is taken back with adjoints.
    Adjoint,
    /// The same, where all ends of parts are there.
    AdjointOfKept,
}

/// A path that is being worked on.
#[derive(Clone, Copy, Debug)]
struct Path {
    mode: Mode,
    base: u64,
    len: u64,
    /// Pebbles for it, with the one at its end.
    pebbles: u32,
    /// The number of its next child.
    next: u64,
}

impl Path {
    fn new(mode: Mode, base: u64, len: u64, pebbles: u32) -> Path {
        Path { mode, base, len, pebbles, next: 0 }
    }

    /// The next part to work on: how, and which.
    fn child(&self, parts: Parts) -> Option<Path> {
        let (c, k) = (self.next, parts.count);
        // 2k - 2 - c
        let downwards = || (k - 1).checked_sub(c - (k - 1));
        let (mode, part) = match self.mode {
            Mode::Keep => (Mode::Compute, (c < k).then_some(c)?),
            Mode::AdjointOfKept => (Mode::Adjoint, (k - 1).checked_sub(c)?),
            Mode::Compute if c < k => (Mode::Compute, c),
            Mode::Compute => (Mode::TakeBack, downwards()?),
            Mode::TakeBack | Mode::Adjoint if c < k - 1 => (Mode::Compute, c),
            Mode::TakeBack | Mode::Adjoint => (self.mode, downwards()?),
        };
        let start = parts.size * part;
        let len = if part + 1 == k { self.len - start } else { parts.size };
        // a part has one pebble less while the end of another part, or of the path, is there
        let first = match self.mode {
            Mode::Compute | Mode::Keep => c == 0,
            Mode::TakeBack | Mode::Adjoint | Mode::AdjointOfKept => mode != Mode::Compute && part == 0,
        };
        let pebbles = self.pebbles.saturating_sub(u32::from(!first));
        Some(Path::new(mode, self.base + start, len, pebbles))
    }
}

/// The moves of a reversible program, and of its adjoint.
///
/// What is kept is one number for each state that is there, and a few for each level of the recursion.
#[derive(Clone, Debug)]
pub struct Pebbling {
    division: Division,
    paths: Vec<Path>,
    /// The second program to run.
    then: Option<Path>,
    /// What is left to do in the move that was begun.
    pending: Pending,
    working: u64,
    stored: BTreeMap<u64, usize>,
    free: Free,
}

/// The rest of a move.
#[derive(Clone, Copy, Debug, Default)]
enum Pending {
    #[default]
    Nothing,
    /// The first state has to be stored.
    First,
    /// A step was done, its result has to be stored.
    Store,
    /// An adjoint was done, the state after it isn't needed any more.
    Drop(u64),
}

impl Pebbling {
    /// The program alone: state `steps` next to state 0, which both stay stored.
    pub(crate) fn program(division: Division, steps: u64, pebbles: u32, top: Top) -> Pebbling {
        let mode = match top {
            Top::Kept => Mode::Keep,
            Top::TakenBack => Mode::Compute,
        };
        Pebbling::new(division, Path::new(mode, 0, steps, pebbles), None)
    }

    /// The program and then its adjoint.
    pub(crate) fn gradient(division: Division, steps: u64, pebbles: u32, top: Top) -> Pebbling {
        let (mode, adjoint) = match top {
            Top::Kept => (Mode::Keep, Mode::AdjointOfKept),
            Top::TakenBack => (Mode::Compute, Mode::Adjoint),
        };
        let path = |mode| Path::new(mode, 0, steps, pebbles);
        Pebbling::new(division, path(mode), Some(path(adjoint)))
    }

    fn new(division: Division, path: Path, then: Option<Path>) -> Pebbling {
        let some = path.len > 0;
        Pebbling {
            division,
            paths: if some { vec![path] } else { Vec::new() },
            then: then.filter(|_| some),
            pending: if some { Pending::First } else { Pending::Nothing },
            working: 0,
            stored: BTreeMap::new(),
            free: Free::all(usize::MAX),
        }
    }

    fn store(&mut self) -> Option<Action> {
        let slot = self.free.take()?;
        self.stored.insert(self.working, slot);
        Some(Action::Store { state: self.working, slot: Slot::Memory(slot) })
    }

    fn empty(&mut self, state: u64) -> Option<Slot> {
        let slot = self.stored.remove(&state)?;
        self.free.give_back(slot);
        Some(Slot::Memory(slot))
    }

    /// Makes a stored state the working one.
    fn restore(&mut self, state: u64) -> Option<Action> {
        self.working = state;
        Some(Action::Restore { state, slot: Slot::Memory(*self.stored.get(&state)?) })
    }

    /// A move of one step, whose state before it is the working one.
    fn step(&mut self, path: Path) -> Option<Action> {
        let step = path.base;
        match path.mode {
            Mode::Compute | Mode::Keep => {
                self.working = step + 1;
                self.pending = Pending::Store;
                Some(Action::Advance { from: step, to: step + 1 })
            }
            Mode::TakeBack => Some(Action::TakeBack { step, slot: self.empty(step + 1)? }),
            Mode::Adjoint | Mode::AdjointOfKept => {
                self.pending = Pending::Drop(step + 1);
                Some(Action::Adjoint { step })
            }
        }
    }

    /// What is left when all moves are done: state 0 is dropped where the adjoint was taken.
    fn last(&mut self) -> Option<Action> {
        if self.stored.len() > 1 {
            return None;
        }
        Some(Action::Drop { state: 0, slot: self.empty(0)? })
    }
}

impl Iterator for Pebbling {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        match std::mem::take(&mut self.pending) {
            Pending::Nothing => {}
            Pending::First | Pending::Store => return self.store(),
            Pending::Drop(state) => return Some(Action::Drop { state, slot: self.empty(state)? }),
        }
        loop {
            let Some(path) = self.paths.last_mut() else {
                match self.then.take() {
                    Some(path) => self.paths.push(path),
                    None => return self.last(),
                }
                continue;
            };
            if path.len > 1 {
                let child = path.child(self.division.parts(path.len, path.pebbles));
                path.next += 1;
                match child {
                    Some(child) => self.paths.push(child),
                    None => drop(self.paths.pop()),
                }
                continue;
            }
            let path = *path;
            if self.working != path.base {
                return self.restore(path.base);
            }
            self.paths.pop();
            return self.step(path);
        }
    }
}

impl Bennett {
    /// The moves that leave state 0 and state `steps`, and with [`Top::Kept`] the ends of the segments.
    pub fn program(&self, steps: u64, top: Top) -> Pebbling {
        Pebbling::program(Division::Bennett(*self), steps, 0, top)
    }

    /// [`Bennett::program`] and its adjoint.
    pub fn gradient(&self, steps: u64, top: Top) -> Pebbling {
        Pebbling::gradient(Division::Bennett(*self), steps, 0, top)
    }
}

impl Pebbles {
    /// The fewest moves that leave state 0 and state `steps`.
    ///
    /// # Errors
    ///
    /// As [`Pebbles::new`].
    pub fn program(steps: u64, pebbles: u64) -> Result<Pebbling, ScheduleError> {
        let table = Pebbles::new(steps, pebbles)?;
        let most = table.pebbles();
        Ok(Pebbling::program(Division::Pebbles(table), steps, most, Top::TakenBack))
    }

    /// [`Pebbles::program`] and its adjoint.
    ///
    /// # Errors
    ///
    /// As [`Pebbles::new`].
    pub fn gradient(steps: u64, pebbles: u64, top: Top) -> Result<Pebbling, ScheduleError> {
        let table = Pebbles::new(steps, pebbles)?;
        let most = table.pebbles();
        Ok(Pebbling::gradient(Division::Pebbles(table), steps, most, top))
    }
}
