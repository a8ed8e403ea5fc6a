//! A function's activation: where it is, where its variables are, and which loops it is in.

use super::claims::Claims;
use super::code::Program;
use super::generics::Generics;
use super::memory::{CellId, Location};
use crate::error::{Iteration, Site};
use crate::ir::{Place, Range, VarId};
use crate::scalar::Num;
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
    /// How many activations of recursive functions there are, up to this one.
    pub depth: usize,
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
    pub k: u128,
    /// The sums of a parallel loop in the deterministic mode.
    pub sums: Vec<TreeSum>,
    /// What the iterations of a parallel loop have touched, where it is declared and checked that they
    /// touch different elements.
    pub claims: Option<Claims>,
}

/// The values that a counted loop visits, of an unsigned or a signed type: their bits, as those of an
/// `i128`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Visits {
    /// The smallest.
    low: i128,
    /// The distance between neighbours.
    step: u128,
    /// By how many steps the largest is above the smallest; none where there are no values.
    last: Option<u128>,
    /// Whether the largest comes first.
    reversed: bool,
    /// Whether they are of type `u128`.
    unsigned: bool,
}

impl Visits {
    /// The values of a range over `start`, … as the range says, which counts them from one end; `None`
    /// where the step isn't positive.
    pub fn new(start: Num, end: Num, step: Num, range: &Range) -> Option<Visits> {
        let unsigned = [start, end].iter().any(|n| matches!(n, Num::WideUint(_)));
        let step = match step {
            Num::WideUint(step) => step,
            other => u128::try_from(bits(other)).ok()?,
        };
        let (start, end) = (bits(start), bits(end));
        let below = |a: i128, b: i128| if unsigned { (a as u128) < b as u128 } else { a < b };
        let visits = Visits { low: start, step, last: None, reversed: range.reversed, unsigned };
        if step == 0 {
            return None;
        }
        if !(below(start, end) || range.inclusive && start == end) {
            return Some(visits);
        }
        let top = if range.inclusive { end } else { end.wrapping_sub(1) };
        let reach = top.wrapping_sub(start) as u128;
        let low = if range.from_end { start.wrapping_add((reach % step) as i128) } else { start };
        Some(Visits { low, last: Some(reach / step), ..visits })
    }

    /// The number of the last value, from 0; `None` where there is none.
    pub fn last(&self) -> Option<u128> {
        self.last
    }

    /// The `k`-th value.
    pub fn value(&self, k: u128) -> i128 {
        let up = if self.reversed { self.last.unwrap_or(0).wrapping_sub(k) } else { k };
        self.low.wrapping_add(up.wrapping_mul(self.step) as i128)
    }

    fn shown(&self, k: u128) -> String {
        let value = self.value(k);
        if self.unsigned {
            (value as u128).to_string()
        } else {
            value.to_string()
        }
    }
}

/// The bits of an integer.
pub(super) fn bits(n: Num) -> i128 {
    match n {
        Num::Int(v) => v.into(),
        Num::Uint(v) => v.into(),
        Num::Wide(v) => v,
        Num::WideUint(v) => v as i128,
        Num::Float(_) | Num::Fixed(_) | Num::Complex(..) => 0,
    }
}

impl std::fmt::Display for Visits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.last {
            None => f.write_str("empty"),
            Some(0) => f.write_str(&self.shown(0)),
            Some(1) => write!(f, "{}, {}", self.shown(0), self.shown(1)),
            Some(n) => write!(f, "{}, {}, … {}", self.shown(0), self.shown(1), self.shown(n)),
        }
    }
}

/// What a parallel loop adds up in the deterministic mode ([`crate::tree`]): a variable, or some
/// places of it, with the sum of the current block and those of the blocks before.
pub(super) struct TreeSum {
    pub var: VarId,
    /// The places; all where there are none.
    pub places: Vec<Place>,
    /// Whether totals that are zero aren't added.
    pub touched: bool,
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
            function: function.own_name().into(),
            file: function.file.clone().into(),
            span: line.map_or(crate::ir::Span::NONE, |l| l.span),
            statement: line.map_or_else(String::new, |l| l.text.clone()).into(),
            iterations: iterations.collect(),
        }
    }
}
