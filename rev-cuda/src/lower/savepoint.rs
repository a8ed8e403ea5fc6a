//! Tries: the host lowers something to see whether it can, and where it can't, nothing of the try may be left
//! over, be it a kernel, a buffer, a failure that nobody reports, or a variable's value.

use std::collections::{HashMap, HashSet};

use rev_core::ir::Stmt;

use crate::plan::Word;

use super::builder::Builder;
use super::{sizes, Frame, Lower, Outcome, Stop};

/// What a try may change.
#[derive(Clone)]
pub(super) struct Savepoint {
    kernels: usize,
    buffers: usize,
    failures: usize,
    accumulations: usize,
    questions: usize,
    words: usize,
    /// How many steps there are in each block of the host.
    steps: Vec<usize>,
    frames: usize,
    frame: Option<Frame>,
    loops: usize,
    serial: Option<Builder>,
    scratch: Word,
    mems: usize,
    sizes: HashMap<sizes::Key, Vec<Word>>,
    zeros: HashSet<usize>,
}

/// The statements around the one that a try failed at. The host, which goes through them one by one then, would
/// fail at each of them again.
#[derive(Default)]
pub(super) struct Refused {
    /// Those of the last try, the innermost first. Some may not exist any more: what a try makes is gone.
    failed: Vec<*const Stmt>,
    /// Those that the host is in, or comes to, and that exist as long as it is there.
    way: HashSet<*const Stmt>,
}

impl Refused {
    /// Before a try.
    pub fn begin(&mut self) {
        self.failed.clear();
    }

    /// A try fails inside of a statement.
    pub fn note(&mut self, stmt: &Stmt) {
        self.failed.push(stmt);
    }

    /// Whether a try of a statement is known to fail.
    pub fn on_the_way(&self, stmt: &Stmt) -> bool {
        self.way.contains(&std::ptr::from_ref(stmt))
    }

    /// What is between a statement and the one inside of it that the last try failed at, from now on; the way before.
    pub fn way_from(&mut self, stmt: &Stmt) -> HashSet<*const Stmt> {
        let failed: HashSet<*const Stmt> = self.failed.drain(..).collect();
        let (mut way, mut at) = (HashSet::new(), Some(stmt));
        while let Some(stmt) = at {
            way.insert(std::ptr::from_ref(stmt));
            at = stmt.blocks().into_iter().flatten().find(|s| failed.contains(&std::ptr::from_ref(*s)));
        }
        std::mem::replace(&mut self.way, way)
    }

    /// No way from now on; the one before.
    pub fn forget(&mut self) -> HashSet<*const Stmt> {
        std::mem::take(&mut self.way)
    }

    /// The way as it was around.
    pub fn leave(&mut self, around: HashSet<*const Stmt>) {
        self.way = around;
    }
}

impl Lower<'_> {
    /// What `f` gives; nothing, and nothing of it left over, where it needs a kernel or the length of an
    /// array.
    pub fn attempt<R>(&mut self, f: impl FnOnce(&mut Self) -> Outcome<R>) -> Outcome<Option<R>> {
        let saved = self.save();
        match f(self) {
            Ok(done) => Ok(Some(done)),
            Err(Stop::NeedsKernel | Stop::Unsized(_)) => {
                self.restore(saved);
                Ok(None)
            }
            Err(Stop::Error(error)) => Err(Stop::Error(error)),
        }
    }

    /// Everything as it is, where the host is.
    pub fn save(&self) -> Savepoint {
        Savepoint {
            kernels: self.plan.kernels.len(),
            buffers: self.plan.buffers.len(),
            failures: self.plan.failures.len(),
            accumulations: self.plan.accumulations.len(),
            questions: self.plan.questions.len(),
            words: self.plan.words,
            steps: self.steps.iter().map(Vec::len).collect(),
            frames: self.frames.len(),
            frame: self.frames.last().cloned(),
            loops: self.loops.len(),
            serial: self.serial.clone(),
            scratch: self.scratch.clone(),
            mems: self.mems,
            sizes: self.sizes.clone(),
            zeros: self.zeros.clone(),
        }
    }

    /// As it was. What is only known twice as fast the second time (programs, products) is kept.
    pub fn restore(&mut self, saved: Savepoint) {
        self.plan.kernels.truncate(saved.kernels);
        self.plan.buffers.truncate(saved.buffers);
        self.plan.failures.truncate(saved.failures);
        self.plan.accumulations.truncate(saved.accumulations);
        self.plan.questions.truncate(saved.questions);
        self.plan.words = saved.words;
        self.steps.truncate(saved.steps.len());
        for (steps, len) in self.steps.iter_mut().zip(saved.steps) {
            steps.truncate(len);
        }
        self.frames.truncate(saved.frames);
        if let (Some(last), Some(frame)) = (self.frames.last_mut(), saved.frame) {
            *last = frame;
        }
        self.loops.truncate(saved.loops);
        self.builder = None;
        self.measuring = None;
        self.serial = saved.serial;
        self.scratch = saved.scratch;
        self.mems = saved.mems;
        self.sizes = saved.sizes;
        self.zeros = saved.zeros;
    }
}
