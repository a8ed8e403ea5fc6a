//! Everything in a plan is used: what the host tries and gives up leaves no kernel, buffer, failure or word
//! behind.

use std::collections::BTreeSet;

use crate::kernel::Inst;
use crate::plan::{KernelArg, Program, Step, Word};

/// What a plan's steps use.
#[derive(Default)]
struct Used {
    kernels: BTreeSet<usize>,
    buffers: BTreeSet<usize>,
    failures: BTreeSet<usize>,
    words: BTreeSet<usize>,
}

impl Used {
    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Allocate { buffer, shape: _ } => drop(self.buffers.insert(buffer.0 as usize)),
                Step::Launch { kernel, args, threads, max_blocks: _ } => {
                    self.kernels.insert(*kernel);
                    self.word(threads);
                    for arg in args {
                        match arg {
                            KernelArg::Word(word) => self.word(word),
                            KernelArg::Buffer(_) | KernelArg::ErrorRecord => {}
                        }
                    }
                }
                Step::Products { products: _, otherwise, forced: _ } => self.steps(otherwise),
                Step::Read { word, buffer: _ } => drop(self.words.insert(word.0 as usize)),
                Step::Set { word, value } => {
                    self.words.insert(word.0 as usize);
                    self.word(value);
                }
                Step::If { cond: _, then, otherwise } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                Step::Loop { before, cond: _, body } => {
                    self.steps(before);
                    self.steps(body);
                }
                Step::Order(o) => {
                    let made = [o.order, o.starts, o.blocks, o.groups_of, o.places];
                    self.buffers.extend(made.map(|b| b.0 as usize));
                    self.words.extend([o.groups, o.touched].map(|w| w.0 as usize));
                }
                Step::Clear { .. } => {}
                Step::Fail { failure, values: _ } => drop(self.failures.insert(*failure as usize)),
            }
        }
    }

    fn word(&mut self, word: &Word) {
        match word {
            Word::Var(id) => drop(self.words.insert(id.0 as usize)),
            Word::Binary(_, a, b) => {
                self.word(a);
                self.word(b);
            }
            Word::Const(_) | Word::Length(..) | Word::Argument(_) => {}
        }
    }

    fn insts(&mut self, body: &[Inst]) {
        for inst in body {
            match inst {
                Inst::Fail { failure, values: _ } => drop(self.failures.insert(*failure as usize)),
                Inst::If { cond: _, then, otherwise } => {
                    self.insts(then);
                    self.insts(otherwise);
                }
                Inst::Loop { before, cond: _, body } => {
                    self.insts(before);
                    self.insts(body);
                }
                _ => {}
            }
        }
    }
}

/// What is in a plan and used by none of its steps and kernels.
pub fn leftovers(program: &Program) -> Vec<String> {
    let mut used = Used::default();
    used.buffers.extend(0..program.arguments);
    used.steps(&program.steps);
    program.kernels.iter().for_each(|k| used.insts(&k.body));
    let mut found = Vec::new();
    let mut missing = |what: &str, count: usize, used: &BTreeSet<usize>| {
        found.extend((0..count).filter(|k| !used.contains(k)).map(|k| format!("{what} {k}")));
    };
    missing("kernel", program.kernels.len(), &used.kernels);
    missing("buffer", program.buffers.len(), &used.buffers);
    missing("failure", program.failures.len(), &used.failures);
    missing("word", program.words, &used.words);
    found
}
