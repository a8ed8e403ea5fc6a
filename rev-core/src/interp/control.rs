//! Branches and loops, in either direction. From behind, each operation does what it does in the
//! inverse program: condition and postcondition have changed places.

use super::claims::Claims;
use super::eval::Watch;
use super::frame::{bits, Loop, TreeSum, Visits};
use super::machine::Machine;
use super::update::update;
use crate::error::Cause;
use crate::ir::{Expr, Place, Range, UpdateOp, VarId};
use crate::scalar::Num;
use crate::text;
use crate::tree;
use crate::value::{Array, Data, Value};
use std::collections::HashMap;

use super::code::{LoopSum, ParallelLoop};

/// The first and the last operation of a loop.
type Ends = (usize, usize);

impl Machine<'_> {
    fn truth(&self, e: &Expr) -> Result<bool, Cause> {
        self.evaluator(Watch::Nothing)?.truth(e)
    }

    /// Asserts a postcondition, where checks are on; backwards the condition is one.
    fn assert(&self, e: &Expr, expected: bool, when: &'static str, checked: bool) -> Result<(), Cause> {
        if !checked || self.truth(e)? == expected {
            return Ok(());
        }
        let condition = text::show(&self.frame()?.program.function, e).to_string();
        Err(Cause::postcondition(condition, expected, when))
    }

    pub(super) fn if_begin(
        &mut self,
        cond: &Expr,
        at: usize,
        middle: usize,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            let pc = if self.truth(cond)? { at } else { middle } + 1;
            self.set_pc(pc);
        } else {
            self.assert(cond, true, "before the branch that is taken where it is true", checked)?;
            self.set_pc(at);
        }
        Ok(())
    }

    /// Forward it ends the first branch, backward it begins the second.
    pub(super) fn if_middle(
        &mut self,
        cond: &Expr,
        post: &Expr,
        (begin, end): Ends,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            self.assert(post, true, "after the branch where the condition was true", checked)?;
            self.set_pc(end + 1);
        } else {
            self.assert(cond, false, "before the branch that is taken where it is false", checked)?;
            self.set_pc(begin);
        }
        Ok(())
    }

    pub(super) fn if_end(
        &mut self,
        post: &Expr,
        middle: usize,
        at: usize,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            self.assert(post, false, "after the branch where the condition was false", checked)?;
            self.set_pc(at + 1);
        } else {
            let pc = if self.truth(post)? { middle } else { at };
            self.set_pc(pc);
        }
        Ok(())
    }

    pub(super) fn while_begin(
        &mut self,
        cond: &Expr,
        post: &Expr,
        (begin, end): Ends,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            self.assert(post, false, "before the loop", checked)?;
            self.iterate(self.truth(cond)?, 0, begin + 1, end + 1)
        } else {
            self.assert(cond, true, "before each iteration", checked)?;
            self.iterate_again(self.truth(post)?, -1, end, begin)
        }
    }

    pub(super) fn while_end(
        &mut self,
        cond: &Expr,
        post: &Expr,
        (begin, end): Ends,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            self.assert(post, true, "after each iteration", checked)?;
            self.iterate_again(self.truth(cond)?, 1, begin + 1, end + 1)
        } else {
            self.assert(cond, false, "after the loop", checked)?;
            self.iterate(self.truth(post)?, -1, end, begin)
        }
    }

    /// Enters a `while` loop or passes it by.
    fn iterate(&mut self, enter: bool, first: i128, inside: usize, past: usize) -> Result<(), Cause> {
        if enter {
            let visits = Visits::default();
            self.frame_mut()?.loops.push(Loop {
                var: None,
                value: first,
                visits,
                k: 0,
                sums: Vec::new(),
                claims: None,
            });
        }
        self.set_pc(if enter { inside } else { past });
        Ok(())
    }

    /// Begins another iteration of a `while` loop or leaves it.
    fn iterate_again(&mut self, again: bool, by: i128, inside: usize, past: usize) -> Result<(), Cause> {
        let loops = &mut self.frame_mut()?.loops;
        if again {
            loops.last_mut().into_iter().for_each(|l| l.value += by);
        } else {
            loops.pop();
        }
        self.set_pc(if again { inside } else { past });
        Ok(())
    }

    /// The values of a range, and one of its bounds for the type.
    fn visits(&self, range: &Range) -> Result<(Visits, Option<Value>), Cause> {
        let mut eval = self.evaluator(Watch::Nothing)?;
        let bounds = [eval.eval(&range.start)?, eval.eval(&range.end)?];
        let sample = bounds.iter().find_map(Data::as_value);
        let (start, end) = (eval.number(&range.start)?, eval.number(&range.end)?);
        let step = range.step.as_ref().map_or(Ok(Num::Int(1)), |e| eval.number(e))?;
        let visits = Visits::new(start, end, step, range).ok_or(Cause::Step { found: bits(step) })?;
        Ok((visits, sample))
    }

    /// The range visits what it visited when the loop was entered.
    fn assert_range(&self, range: &Range, checked: bool) -> Result<(), Cause> {
        if !checked {
            return Ok(());
        }
        let now = self.visits(range)?.0;
        match self.frame()?.loops.last() {
            Some(l) if l.visits != now => {
                Err(Cause::RangeChanged { expected: l.visits.to_string(), found: now.to_string() })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn for_begin(
        &mut self,
        var: VarId,
        range: &Range,
        parallel: Option<&ParallelLoop>,
        (begin, end): Ends,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if forward {
            if let Some(parallel) = parallel.filter(|_| checked) {
                self.assert_injective(parallel)?;
            }
            let entered = self.enter_loop(var, range, true)?;
            if let Some(parallel) = parallel.filter(|p| entered && checked && !p.disjoint.is_empty()) {
                if let Some(l) = self.frame_mut()?.loops.last_mut() {
                    l.claims = Some(Claims::new(&parallel.disjoint));
                }
            }
            if let Some(parallel) = parallel.filter(|_| entered && self.options.deterministic) {
                self.open_sums(parallel)?;
            }
            self.set_pc(if entered { begin } else { end } + 1);
            return Ok(());
        }
        if self.advance_loop(var, false)? {
            self.reopen_block()?;
            self.set_pc(end);
            return Ok(());
        }
        self.assert_range(range, checked)?;
        self.leave_loop(var)?;
        self.set_pc(begin);
        Ok(())
    }

    pub(super) fn for_end(
        &mut self,
        var: VarId,
        range: &Range,
        (begin, end): Ends,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if !forward {
            let entered = self.enter_loop(var, range, false)?;
            self.set_pc(if entered { end } else { begin });
            return Ok(());
        }
        if self.advance_loop(var, true)? {
            self.close_block()?;
            self.set_pc(begin + 1);
            return Ok(());
        }
        self.assert_range(range, checked)?;
        self.add_sums()?;
        self.leave_loop(var)?;
        self.set_pc(end + 1);
        Ok(())
    }

    /// Enters a counted loop from the front or from behind; whether there is anything to visit.
    fn enter_loop(&mut self, var: VarId, range: &Range, forward: bool) -> Result<bool, Cause> {
        let (visits, sample) = self.visits(range)?;
        let Some(last) = visits.last() else { return Ok(false) };
        let k = if forward { 0 } else { last };
        let value = visits.value(k);
        let frame = self.frame()?;
        let ty = sample.map_or_else(|| frame.program.function.var(var).ty.clone(), |v| v.ir_type());
        let literal = Data::Literal(crate::ir::Number::Int(value));
        let data = frame.generics.settle(self.globals.module, &ty, literal);
        self.open(var, data)?;
        self.frame_mut()?.loops.push(Loop {
            var: Some(var),
            value,
            visits,
            k,
            sums: Vec::new(),
            claims: None,
        });
        Ok(true)
    }

    /// Goes to the next or the previous value; whether there is one.
    fn advance_loop(&mut self, var: VarId, forward: bool) -> Result<bool, Cause> {
        let Some(l) = self.frame_mut()?.loops.last_mut() else { return Ok(false) };
        let next = if forward { l.k.checked_add(1) } else { l.k.checked_sub(1) };
        let Some(k) = next.filter(|k| l.visits.last().is_some_and(|last| *k <= last)) else {
            return Ok(false);
        };
        l.k = k;
        l.value = l.visits.value(k);
        let value = l.value;
        let at = self.evaluator(Watch::Nothing)?.slot(var)?;
        let data = match &*self.memory.read(&at) {
            Data::Scalar(v) => v.same_type(Num::Wide(value)).map(Data::Scalar),
            _ => None,
        };
        self.memory.write(&at, data.unwrap_or(Data::Literal(crate::ir::Number::Int(value))));
        Ok(true)
    }

    fn leave_loop(&mut self, var: VarId) -> Result<(), Cause> {
        if let Some(l) = self.frame_mut()?.loops.pop() {
            l.sums.into_iter().for_each(|s| drop(self.memory.release(s.block.cell)));
        }
        self.close(var).map(drop)
    }

    /// The index arrays that are declared injective hold no value twice.
    fn assert_injective(&self, parallel: &ParallelLoop) -> Result<(), Cause> {
        for place in &parallel.declared.injective {
            let mut eval = self.evaluator(Watch::Nothing)?;
            let at = eval.locate(place)?;
            let mut seen = HashMap::new();
            for (k, element) in self.memory.read(&at).children().enumerate() {
                let value = element.to_string();
                if let Some(first) = seen.insert(value.clone(), k) {
                    let place = eval.text(place).into();
                    return Err(Cause::NotInjective { place, value, first, second: k });
                }
            }
        }
        Ok(())
    }

    /// Starts the sums of the first block.
    fn open_sums(&mut self, parallel: &ParallelLoop) -> Result<(), Cause> {
        let mut sums = Vec::new();
        for LoopSum { var, places, touched } in &parallel.sums {
            let whole = Place::var(*var);
            let outer = |p: &Place| self.frame().ok()?.redirected(p);
            let target = match places.first().and_then(outer).or_else(|| outer(&whole)) {
                Some(outer) => outer.clone(),
                None => self.evaluator(Watch::Nothing)?.slot(*var)?,
            };
            let zero = self.memory.read(&target).zeros();
            let block = self.memory.allocate(zero);
            let (var, places, touched, done) = (*var, places.clone(), *touched, Vec::new());
            sums.push(TreeSum { var, places, touched, target, block, done });
        }
        if let Some(l) = self.frame_mut()?.loops.last_mut() {
            l.sums = sums;
        }
        Ok(())
    }

    /// At the border of two blocks, going forward.
    fn close_block(&mut self) -> Result<(), Cause> {
        let Machine { frames, memory, .. } = self;
        let Some(l) = frames.last_mut().and_then(|f| f.loops.last_mut()) else { return Ok(()) };
        if l.k % tree::BLOCK as u128 == 0 {
            for sum in &mut l.sums {
                let total = memory.read(&sum.block).into_owned();
                memory.write(&sum.block, total.zeros());
                sum.done.push(total);
            }
        }
        Ok(())
    }

    /// At the border of two blocks, going backward.
    fn reopen_block(&mut self) -> Result<(), Cause> {
        let Machine { frames, memory, .. } = self;
        let Some(l) = frames.last_mut().and_then(|f| f.loops.last_mut()) else { return Ok(()) };
        if (l.k + 1) % tree::BLOCK as u128 == 0 {
            for sum in &mut l.sums {
                if let Some(total) = sum.done.pop() {
                    memory.write(&sum.block, total);
                }
            }
        }
        Ok(())
    }

    /// Adds up the blocks, and the total to what it is for.
    fn add_sums(&mut self) -> Result<(), Cause> {
        let Machine { frames, memory, .. } = self;
        let Some(l) = frames.last_mut().and_then(|f| f.loops.last_mut()) else { return Ok(()) };
        for sum in &mut l.sums {
            let mut blocks = std::mem::take(&mut sum.done);
            blocks.push(memory.read(&sum.block).into_owned());
            let mut failed = None;
            let total = tree::pairwise(blocks, |a, b| match update(UpdateOp::Add, a, b) {
                Ok(sum) => *a = sum,
                Err(cause) => failed = Some(cause),
            });
            if let Some(cause) = failed {
                return Err(cause);
            }
            if let Some(total) = total {
                let old = memory.read(&sum.target);
                let new =
                    if sum.touched { touch(&old, &total)? } else { update(UpdateOp::Add, &old, &total)? };
                memory.write(&sum.target, new);
            }
        }
        Ok(())
    }
}

/// An array with the totals that aren't zero added.
fn touch(old: &Data, total: &Data) -> Result<Data, Cause> {
    match (old, total) {
        (Data::Array(a), Data::Array(b)) if a.elements.len() == b.elements.len() => {
            let each = a.elements.iter().zip(&b.elements).map(|(a, b)| touch(a, b));
            Ok(Data::Array(Array { shape: a.shape.clone(), elements: each.collect::<Result<_, _>>()? }))
        }
        (old, total) if *total == total.zeros() => Ok(old.clone()),
        (old, total) => update(UpdateOp::Add, old, total),
    }
}
