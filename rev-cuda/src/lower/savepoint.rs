//! Tries: the host lowers something to see whether it can, and where it can't, nothing of the try may be left
//! over, be it a kernel, a buffer, a failure that nobody reports, or a variable's value.

use std::collections::{HashMap, HashSet};

use crate::plan::Word;

use super::builder::Builder;
use super::{sizes, Frame, Lower, Outcome, Stop};

/// What a try may change.
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
