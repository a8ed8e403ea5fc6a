//! A run with marks: each operation does to them what it does to the numbers.

use std::collections::{HashMap, HashSet};

use super::instructions::exchanges_nothing;
use super::local::Locals;
use super::marks::{merged, Mark, Marks, Write};
use super::tree::Tree;
use super::walk::{untaken, Algebra, Found, Target, Walk};
use crate::error::{Cause, Error};
use crate::interp::code::OpKind;
use crate::interp::eval::Watch;
use crate::interp::frame::Frame;
use crate::interp::machine::{Machine, Progress};
use crate::interp::memory::{Key, Location};
use crate::ir::{Arg, ArgValue, Expr, ExprKind, Place, UpdateOp, VarId};
use crate::ops::Instr;
use crate::value::Data;

/// How many operations a branch that isn't taken may have.
const LONGEST: usize = 10_000_000;

/// A machine with marks beside its memory.
pub struct Forward<'m> {
    pub machine: Machine<'m>,
    pub marks: Marks,
    known: Locals,
    /// The `if`s that it is in and that may be decided otherwise.
    open: Vec<Open>,
}

/// An `if` whose other branch was tried.
struct Open {
    frames: usize,
    begin: usize,
    /// The marks of what that wrote.
    written: Vec<Write>,
}

/// What an operation leaves to be done when it is over.
enum Rest {
    Nothing,
    /// A variable was declared.
    Declared(VarId, Tree<Mark>),
    /// Values were passed for parameters.
    Passed(Vec<(usize, Tree<Mark>)>),
    /// An `if` ends whose other branch was tried.
    Joined,
}

impl<'m> Forward<'m> {
    pub fn new(machine: Machine<'m>, marks: Marks) -> Forward<'m> {
        Forward { machine, marks, known: Locals::default(), open: Vec::new() }
    }

    /// Runs to the end.
    pub fn run(&mut self) -> Result<(), Error> {
        while self.step()? == Progress::Stepped {}
        Ok(())
    }

    fn step(&mut self) -> Result<Progress, Error> {
        let Some(frame) = self.machine.frames.last() else { return Ok(Progress::AtEnd) };
        let (program, at) = (frame.program.clone(), frame.pc);
        let rest = match program.ops.get(at) {
            Some(op) => {
                self.branch(&op.kind, at)?;
                self.operation(&op.kind).map_err(|cause| self.machine.error(cause))?
            }
            None => Rest::Nothing,
        };
        let progress = self.machine.step()?;
        self.finish(rest);
        Ok(progress)
    }

    fn walk(&mut self) -> Result<Walk<'_, '_, Marks>, Cause> {
        let eval = self.machine.evaluator(Watch::Nothing)?;
        Ok(Walk { eval, algebra: &mut self.marks, known: &mut self.known, names: Vec::new() })
    }

    fn operation(&mut self, op: &OpKind) -> Result<Rest, Cause> {
        match op {
            OpKind::Update { op, place, expr } => self.update(*op, place, expr)?,
            OpKind::Instr { instr, places, operands } => self.instruct(*instr, places, operands)?,
            OpKind::Push { stack, place } => self.push(stack, place)?,
            OpKind::Pop { stack, place } => self.pop(stack, place)?,
            OpKind::LetBegin { var, expr } | OpKind::AncillaBegin { var, init: expr, .. } => {
                return Ok(Rest::Declared(*var, self.walk()?.walk(expr)?.1));
            }
            OpKind::ForBegin { var, .. } => return Ok(Rest::Declared(*var, Tree::default())),
            OpKind::Call { args, .. } => return self.pass(args).map(Rest::Passed),
            OpKind::IfMiddle { begin, .. } if self.closes(*begin) => return Ok(Rest::Joined),
            OpKind::IfEnd { middle, .. } if self.closes(self.begin_of(*middle)?) => return Ok(Rest::Joined),
            OpKind::Release { .. }
            | OpKind::External
            | OpKind::LetEnd { .. }
            | OpKind::AncillaEnd { .. }
            | OpKind::IfBegin { .. }
            | OpKind::IfMiddle { .. }
            | OpKind::IfEnd { .. }
            | OpKind::WhileBegin { .. }
            | OpKind::WhileEnd { .. }
            | OpKind::ForEnd { .. } => {}
        }
        Ok(Rest::Nothing)
    }

    fn finish(&mut self, rest: Rest) {
        let slot = |machine: &Machine<'_>, var: usize| {
            machine.frames.last().and_then(|f| f.slots.get(var)?.as_ref().map(|at| at.cell))
        };
        match rest {
            Rest::Nothing => {}
            Rest::Declared(var, tree) => {
                let cell = slot(&self.machine, var.0 as usize);
                cell.into_iter().for_each(|cell| *self.marks.trees.cell(cell) = tree.clone());
            }
            Rest::Passed(values) => {
                for (param, tree) in values {
                    let var = self
                        .machine
                        .frames
                        .last()
                        .and_then(|f| f.program.function.params.get(param).map(|var| var.0 as usize));
                    let cell = var.and_then(|var| slot(&self.machine, var));
                    cell.into_iter().for_each(|cell| *self.marks.trees.cell(cell) = tree.clone());
                }
            }
            Rest::Joined => {
                let written = self.open.pop().map_or_else(Vec::new, |open| open.written);
                self.marks.join(&self.machine.memory, written);
            }
        }
    }

    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let Target { at, within } = walk.locate(place)?;
        let found = match &expr.kind {
            ExprKind::Contract(formula, factors) if !formula.target.is_scalar() => {
                let shape = walk.eval.memory.shape(&at).unwrap_or_default();
                walk.contract(formula, ("the target", &shape), factors)?
            }
            _ => walk.walk(expr)?,
        };
        if within {
            self.marks.write_within(&self.machine.memory, &at, found.1);
            return Ok(());
        }
        let (own, taken) = self.marks.take(&self.machine.memory, &at);
        let own = (self.machine.memory.read(&at).into_owned(), own);
        let tree = match op {
            UpdateOp::Add | UpdateOp::Sub => self.walk()?.sum(op, own, found)?,
            UpdateOp::Xor => merged(own.1, found.1),
        };
        self.marks.give_back(&self.machine.memory, &at, tree, taken);
        Ok(())
    }

    fn instruct(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let targets = places.iter().map(|p| walk.locate(p)).collect::<Result<Vec<_>, _>>()?;
        let operands = operands.iter().map(|e| walk.walk(e)).collect::<Result<Vec<_>, _>>()?;
        let within = targets.iter().any(|t| t.within);
        let at: Vec<Location> = targets.into_iter().map(|t| t.at).collect();
        if exchanges_nothing(instr, &at) {
            return Ok(());
        }
        if within {
            return self.instruct_within(&at, &operands);
        }
        let memory = &self.machine.memory;
        let found = |at: &Location| (memory.read(at).into_owned(), self.marks.trees.get(at));
        let found: Vec<Found<Mark>> = at.iter().map(found).collect();
        let new = self.walk()?.instructed(instr, found, &operands)?;
        for (at, tree) in at.iter().zip(new) {
            self.marks.write(&self.machine.memory, at, tree);
        }
        Ok(())
    }

    /// An instruction on elements of which it isn't known which ones they are: all of them may meet.
    fn instruct_within(&mut self, at: &[Location], operands: &[Found<Mark>]) -> Result<(), Cause> {
        let all = at.iter().map(|at| (Data::None, self.marks.trees.get(at)));
        let all: Vec<Found<Mark>> = all.chain(operands.iter().cloned()).collect();
        let tree =
            self.marks.pure(all, &Data::Literal(crate::ir::Number::Int(0)), &mut |_| Ok(Data::None))?;
        at.iter().for_each(|at| self.marks.write_within(&self.machine.memory, at, tree.clone()));
        Ok(())
    }

    fn push(&mut self, stack: &Place, place: &Place) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let (stack, from) = (walk.locate(stack)?, walk.locate(place)?);
        let memory = &self.machine.memory;
        let tree = self.marks.trees.get(&from.at);
        if !from.within {
            self.marks.write(memory, &from.at, Tree::default());
        }
        if stack.within || from.within {
            let mark = self.marks.any(tree.clone());
            self.marks.write_within(memory, &stack.at, Tree::Same(mark));
        }
        if !stack.within {
            let mut inner = self.marks.trees.get(&stack.at).into_children(&memory.read(&stack.at));
            inner.push(tree);
            self.marks.write(memory, &stack.at, Tree::Node(inner));
        }
        Ok(())
    }

    fn pop(&mut self, stack: &Place, place: &Place) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let (stack, to) = (walk.locate(stack)?, walk.locate(place)?);
        let memory = &self.machine.memory;
        let top = match stack.within {
            true => {
                let mark = self.marks.any(self.marks.trees.get(&stack.at));
                Tree::Same(mark)
            }
            false => {
                let mut inner = self.marks.trees.get(&stack.at).into_children(&memory.read(&stack.at));
                let top = inner.pop().unwrap_or_default();
                self.marks.write(memory, &stack.at, Tree::Node(inner));
                top
            }
        };
        match to.within {
            true => self.marks.write_within(memory, &to.at, top),
            false => self.marks.write(memory, &to.at, top),
        }
        Ok(())
    }

    /// The marks of arguments that are values. A place whose index varies can't be passed.
    fn pass(&mut self, args: &[Arg]) -> Result<Vec<(usize, Tree<Mark>)>, Cause> {
        let mut walk = self.walk()?;
        let mut values = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            match &arg.value {
                ArgValue::Expr(e) => values.push((k, walk.walk(e)?.1)),
                ArgValue::Place(place) if walk.locate(place)?.within => {
                    let place = walk.eval.text(place);
                    let reason = "is passed, and which element it is depends on real numbers";
                    return Err(Cause::Sparsity(format!("`{place}` {reason}")));
                }
                ArgValue::Place(_) => {}
            }
        }
        Ok(values)
    }

    fn begin_of(&self, middle: usize) -> Result<usize, Cause> {
        match self.machine.frame()?.program.ops.get(middle).map(|op| &op.kind) {
            Some(OpKind::IfMiddle { begin, .. }) => Ok(*begin),
            _ => Ok(usize::MAX),
        }
    }

    /// Whether the innermost `if` whose other branch was tried is the one that begins there.
    fn closes(&self, begin: usize) -> bool {
        let here = self.machine.frames.len();
        self.open.last().is_some_and(|open| (open.frames, open.begin) == (here, begin))
    }

    /// Tries the other branch of an `if` that may be decided otherwise.
    fn branch(&mut self, op: &OpKind, begin: usize) -> Result<(), Error> {
        let OpKind::IfBegin { cond, middle } = op else { return Ok(()) };
        if !self.marks.all {
            return Ok(());
        }
        let decided = self.walk().and_then(|mut walk| walk.walk(cond));
        let (value, tree) = decided.map_err(|cause| self.machine.error(cause))?;
        let mark = self.marks.any(tree);
        let Some(end) = self.end_of(*middle) else { return Ok(()) };
        if !self.marks.varies(&mark) {
            return Ok(());
        }
        let other = match super::walk::truth(&value) {
            true => (*middle + 1, end),
            false => (begin + 1, *middle),
        };
        let Some(written) = self.try_branch(other, begin)? else { return Ok(()) };
        self.marks.touched.push(HashMap::new());
        self.open.push(Open { frames: self.machine.frames.len(), begin, written });
        Ok(())
    }

    fn end_of(&self, middle: usize) -> Option<usize> {
        match self.machine.frames.last()?.program.ops.get(middle).map(|op| &op.kind) {
            Some(OpKind::IfMiddle { end, .. }) => Some(*end),
            _ => None,
        }
    }

    /// Whether the next operation calls a function that is one of the outer ones, so many there are: a recursion.
    fn recurses(&self, outer: usize) -> bool {
        let next = |f: &Frame| match f.program.ops.get(f.pc).map(|op| &op.kind) {
            Some(OpKind::Call { callee, .. }) => self.machine.callee(callee).ok().map(|(name, _)| name),
            _ => None,
        };
        let called = self.machine.frames.last().and_then(next);
        called.is_some_and(|name| self.machine.frames.iter().take(outer).any(|f| f.program.links == name))
    }

    /// Runs a branch that isn't taken, and takes everything back but the marks of what it wrote. None where it would be
    /// a recursion, which goes as deep as the values say.
    fn try_branch(
        &mut self,
        (first, past): (usize, usize),
        begin: usize,
    ) -> Result<Option<Vec<Write>>, Error> {
        let (changes, writes) = (self.machine.memory.remember(), self.marks.journal.len());
        let (frames, open) = (self.machine.frames.len(), self.open.len());
        let slots = self.machine.frames.last().map_or_else(Vec::new, |f| f.slots.clone());
        let loops = self.machine.frames.last().map_or(0, |f| f.loops.len());
        self.marks.astray += 1;
        self.machine.set_pc(first);
        let ended = self.run_to((frames, past))?;
        self.marks.astray -= 1;
        self.open.truncate(open);
        self.marks.touched.truncate(open);
        let written = if ended { Some(self.written_since(writes)) } else { None };
        self.machine.frames.truncate(frames);
        self.machine.memory.take_back(changes);
        while self.marks.journal.len() > writes {
            if let Some((at, tree)) = self.marks.journal.pop() {
                self.marks.trees.replace(&self.machine.memory, &at, tree);
            }
        }
        if let Some(frame) = self.machine.frames.last_mut() {
            (frame.pc, frame.slots) = (begin, slots);
            frame.loops.truncate(loops);
        }
        Ok(written)
    }

    /// Runs until there are so many functions and the innermost is at an operation; whether it comes there.
    fn run_to(&mut self, (frames, past): (usize, usize)) -> Result<bool, Error> {
        for _ in 0..LONGEST {
            let here = self.machine.frames.len() == frames;
            if here && self.machine.frames.last().is_some_and(|f| f.pc == past) {
                return Ok(true);
            }
            if self.recurses(frames) {
                return Ok(false);
            }
            self.step().map_err(astray)?;
        }
        let reason = format!("a branch that isn't taken doesn't end within {LONGEST} operations");
        Err(self.machine.error(Cause::Sparsity(reason)))
    }

    /// What was written since a point of the journal, as it is now.
    fn written_since(&self, writes: usize) -> Vec<Write> {
        let mut seen = HashSet::new();
        let mut written = Vec::new();
        for (at, _) in &self.marks.journal[writes..] {
            // parts of arrays and numbers lie across others
            let plain = at.path.iter().all(|key| matches!(key, Key::Child(_)));
            let at = if plain { at.clone() } else { Location { cell: at.cell, path: Vec::new() } };
            if self.machine.memory.has(at.cell) && seen.insert(at.clone()) {
                written.push((at.clone(), self.marks.trees.get(&at)));
            }
        }
        written
    }
}

/// The error of a branch that isn't taken.
fn astray(error: Error) -> Error {
    match error.cause() {
        Cause::Sparsity(_) => error,
        _ => Error::new(untaken(error)),
    }
}
