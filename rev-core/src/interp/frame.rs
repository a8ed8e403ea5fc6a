//! A function's activation: where it is, where its variables are, and which loops it is in.

use super::claims::Claims;
use super::code::Program;
use super::generics::Generics;
use super::memory::{CellId, Location};
use crate::error::{Iteration, Site};
use crate::ir::{Place, VarId};
use crate::value::Data;
use std::rc::Rc;

/// An activation of a program.
pub(super) struct Frame {
    pub program: Rc<Program>,
    /// The operation that runs next in the forward direction.
    pub pc: usize,
    /// Where each variable in scope is.
    pub slots: Vec<Option<Location>>,
    pub generics: Generics,
    /// The loops it is in, outermost first.
    pub loops: Vec<Loop>,
    /// Whether the caller asks for checks.
    pub checks: bool,
    /// Cells of arguments that were given as values.
    pub temporaries: Vec<CellId>,
}

/// A loop that is running.
pub(super) struct Loop {
    /// The variable; none for a `while` loop.
    pub var: Option<VarId>,
    /// The variable's value; of a `while` loop the number of the iteration, from 0 where it was
    /// entered from the front, from -1 down where from behind.
    pub value: i128,
    /// The values of a counted loop.
    pub visits: Visits,
    /// Which of them is the current one.
    pub k: i128,
    /// The sums of a parallel loop in the deterministic mode.
    pub sums: Vec<TreeSum>,
    /// What the iterations of a parallel loop have touched, where it is declared and checked that they
    /// touch different elements.
    pub claims: Option<Claims>,
}

/// The values that a counted loop visits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Visits {
    /// The smallest.
    pub low: i128,
    /// The distance between neighbours.
    pub step: i128,
    /// How many there are.
    pub count: i128,
    /// Whether the largest comes first.
    pub reversed: bool,
}

impl Visits {
    /// The values of a range; `None` where the step isn't positive.
    pub fn new(
        start: i128,
        end: i128,
        inclusive: bool,
        step: i128,
        from_end: bool,
        reversed: bool,
    ) -> Option<Visits> {
        if step < 1 {
            return None;
        }
        let last = if inclusive { end } else { end.saturating_sub(1) };
        if last < start {
            return Some(Visits { low: start, step, count: 0, reversed });
        }
        let between = (last - start) / step;
        let low = if from_end { last - between * step } else { start };
        Some(Visits { low, step, count: between + 1, reversed })
    }

    /// The `k`-th value.
    pub fn value(&self, k: i128) -> i128 {
        let j = if self.reversed { self.count - 1 - k } else { k };
        self.low + j * self.step
    }
}

impl std::fmt::Display for Visits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.count {
            0 => f.write_str("empty"),
            1 => write!(f, "{}", self.value(0)),
            2 => write!(f, "{}, {}", self.value(0), self.value(1)),
            n => write!(f, "{}, {}, … {}", self.value(0), self.value(1), self.value(n - 1)),
        }
    }
}

/// What a parallel loop adds up in the deterministic mode ([`crate::tree`]): a variable, or some
/// places of it, with the sum of the current block and those of the blocks before.
pub(super) struct TreeSum {
    pub var: VarId,
    /// The places; all where there are none.
    pub places: Vec<Place>,
    pub target: Location,
    pub block: Location,
    pub done: Vec<Data>,
}

impl Frame {
    /// Where an accumulation into a place goes instead, inside a parallel loop in the deterministic mode.
    pub fn redirected(&self, place: &Place) -> Option<&Location> {
        let sums = self.loops.iter().rev().flat_map(|l| &l.sums);
        sums.into_iter()
            .find(|s| s.var == place.var && (s.places.is_empty() || s.places.contains(place)))
            .map(|s| &s.block)
    }

    /// The statement of the operation at a position, with the iterations it is in.
    pub fn site(&self, op: usize) -> Site {
        let function = &self.program.function;
        let line = self.program.ops.get(op).map(|op| &self.program.lines[op.line]);
        let iterations = self.loops.iter().map(|l| Iteration {
            variable: l.var.map_or("while".into(), |v| function.var(v).name.clone().into()),
            value: l.value,
        });
        Site {
            function: function.name.clone().into(),
            file: function.file.clone().into(),
            span: line.map_or(crate::ir::Span::NONE, |l| l.span),
            statement: line.map_or_else(String::new, |l| l.text.clone()).into(),
            iterations: iterations.collect(),
        }
    }
}
