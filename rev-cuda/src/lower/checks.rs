//! What can fail in a kernel: an entry in the plan's table of failures, and an instruction that names
//! it with the values that the message needs.

use rev_core::error::Cause;
use rev_core::ir::{Expr, Place};
use rev_core::scalar::rt::instr::InstrError;
use rev_core::text;

use crate::kernel::{Inst, Op, Relation, Ty, FAILURE_VALUES};
use crate::plan::{Detail, Failure};

use super::atom::Atom;
use super::{Lower, Outcome};

impl Lower<'_> {
    /// Whether bounds, divisors and the like are checked.
    pub fn checks_values(&self) -> bool {
        self.options.checks
    }

    /// Whether the program's own checks are made here.
    pub fn asserts(&self) -> bool {
        self.options.checks && self.frames.last().is_some_and(|f| f.checked)
    }

    /// Fails where a condition holds.
    pub fn fail_if(&mut self, cond: &Atom, cause: Cause) -> Outcome<()> {
        self.fail_with(cond, cause, Vec::new())
    }

    /// The same with values for the message.
    pub fn fail_with(&mut self, cond: &Atom, cause: Cause, details: Vec<(Detail, Atom)>) -> Outcome<()> {
        if cond.truth() == Some(false) {
            return Ok(());
        }
        let trace = self.trace();
        let functions = trace.len();
        let mut values = Vec::new();
        let mut loops = Vec::new();
        for (name, value, depth) in self.loops.clone() {
            loops.push((functions.saturating_sub(depth), name));
            values.push(value);
        }
        let room = FAILURE_VALUES.saturating_sub(values.len());
        let details: Vec<(Detail, Atom)> = details.into_iter().take(room).collect();
        values.truncate(FAILURE_VALUES);
        loops.truncate(FAILURE_VALUES);
        let detail = details.iter().map(|(d, _)| *d).collect();
        self.plan.failures.push(Failure { cause, trace, loops, detail });
        let failure = self.plan.failures.len() as u32 - 1;
        values.extend(details.into_iter().map(|(_, v)| v));
        let builder = self.builder()?;
        builder.fails = true;
        let values = values.iter().map(|v| builder.operand(v)).collect();
        let cond = builder.operand(cond);
        let then = vec![Inst::Fail { failure, values }];
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    /// A place as the program writes it.
    pub fn text_of(&self, place: &Place) -> String {
        match self.frames.last().and_then(|f| f.function.as_ref()) {
            Some(f) => text::show(f, place).to_string(),
            None => self.name(place.var),
        }
    }

    /// Indices are in an array.
    pub fn check_index(&mut self, indices: &[Atom], shape: &[Atom], place: &Place) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        if self.builder.is_none() {
            return self.in_serial(|l| l.check_index(indices, shape, place));
        }
        let mut out = Atom::bool(false);
        for (i, n) in indices.iter().zip(shape) {
            let above = self.compare(Relation::Ge, i, n)?;
            out = self.op(Op::Or, Ty::Pred, &[out, above])?;
        }
        self.fail_index(&out, indices, shape, place)
    }

    /// A range is in an array.
    pub fn check_range(&mut self, i: &Atom, j: &Atom, n: &Atom, place: &Place) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        if self.builder.is_none() {
            return self.in_serial(|l| l.check_range(i, j, n, place));
        }
        let (order, end) = (self.compare(Relation::Gt, i, j)?, self.compare(Relation::Gt, j, n)?);
        let out = self.op(Op::Or, Ty::Pred, &[order, end])?;
        self.fail_index(&out, &[i.clone(), j.clone()], std::slice::from_ref(n), place)
    }

    fn fail_index(&mut self, out: &Atom, indices: &[Atom], shape: &[Atom], place: &Place) -> Outcome<()> {
        let cause = Cause::IndexOutOfRange {
            place: self.text_of(place).into(),
            index: Vec::new(),
            shape: Vec::new(),
        };
        let details = indices.iter().map(|i| (Detail::Index, i.clone()));
        let details = details.chain(shape.iter().map(|n| (Detail::Length, n.clone()))).collect();
        self.fail_with(out, cause, details)
    }

    /// A condition holds, or doesn't.
    pub fn assert(&mut self, e: &Expr, expected: bool, when: &'static str) -> Outcome<()> {
        if !self.asserts() {
            return Ok(());
        }
        let holds = self.truth(e)?;
        let off = if expected { self.op(Op::Not, Ty::Pred, &[holds])? } else { holds };
        let condition = self.condition_text(e);
        self.fail_if(&off, Cause::postcondition(condition, expected, when))
    }

    /// The step of a range is at least 1.
    pub fn check_step(&mut self, step: &Atom) -> Outcome<()> {
        if !self.checks_values() {
            return Ok(());
        }
        let below = self.compare(Relation::Lt, step, &Atom::Const(1, Ty::I64))?;
        let found = step.integer().unwrap_or(0);
        self.fail_with(&below, Cause::Step { found }, vec![(Detail::Found(Ty::I64), step.clone())])
    }

    /// An instruction that can't be undone.
    pub fn fail_instruction(&mut self, off: &Atom, instr: &'static str, reason: InstrError) -> Outcome<()> {
        let place = self.frames.last().map_or_else(String::new, |f| f.acting.clone());
        self.fail_if(off, Cause::Instruction { instr: instr.into(), place: place.into(), reason })
    }
}
