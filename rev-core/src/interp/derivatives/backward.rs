//! A run backwards with the gradient and the Hessian of a result: each operation is undone, which gives the values
//! before it, and then in them.

use super::curvature::Id;
use super::instructions::exchanges_nothing;
use super::local::Locals;
use super::tape::{Parts, Tape};
use super::tree::{Leaf, Tree};
use super::walk::Walk;
use crate::error::{Cause, Error};
use crate::interp::code::OpKind;
use crate::interp::eval::Watch;
use crate::interp::machine::Machine;
use crate::interp::memory::Location;
use crate::ir::{ArgValue, Expr, ExprKind, Place, UpdateOp, VarId};
use crate::ops::Instr;
use crate::value::Data;

/// A machine on its way back.
pub struct Backward<'m> {
    pub machine: Machine<'m>,
    pub tape: Tape,
    known: Locals,
}

/// What is known of a variable before its cell is taken away.
type Held = (Data, Tree<Parts>);

impl<'m> Backward<'m> {
    pub fn new(machine: Machine<'m>, tape: Tape) -> Backward<'m> {
        Backward { machine, tape, known: Locals::default() }
    }

    /// Runs back to the start.
    pub fn run(&mut self) -> Result<(), Error> {
        while !self.machine.is_at_start() {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Error> {
        let Some(frame) = self.machine.frames.last() else { return Ok(()) };
        let (program, pc) = (frame.program.clone(), frame.pc);
        let Some(op) = pc.checked_sub(1).and_then(|at| program.ops.get(at)) else {
            return self.leave_call();
        };
        let held = match &op.kind {
            OpKind::LetBegin { var, .. } | OpKind::AncillaBegin { var, .. } => self.held(*var),
            _ => None,
        };
        self.machine.step_back()?;
        let done = self.operation(&op.kind, held);
        let done = done.and_then(|()| self.tape.finish());
        done.map_err(|cause| self.machine.error(cause))
    }

    fn operation(&mut self, op: &OpKind, held: Option<Held>) -> Result<(), Cause> {
        match op {
            OpKind::Update { op, place, expr } => self.update(*op, place, expr)?,
            OpKind::Instr { instr, places, operands } => self.instruct(*instr, places, operands)?,
            OpKind::Push { stack, place } => self.pushed(stack, place)?,
            OpKind::Pop { stack, place } => self.popped(stack, place)?,
            OpKind::LetBegin { expr, .. } => {
                if let Some(held) = held.filter(|(_, tree)| is_live(tree)) {
                    let (_, tree) = self.walk()?.walk(expr)?;
                    self.tape.stands_for(&held.0, &held.1, &tree);
                }
            }
            OpKind::AncillaBegin { .. } => held.iter().for_each(|(_, tree)| self.tape.drop(tree)),
            OpKind::LetEnd { var, .. } | OpKind::AncillaEnd { var, .. } | OpKind::ForEnd { var, .. } => {
                self.declare(*var);
            }
            // the callee's activation: its parameters that are values have new cells
            OpKind::Call { args, .. } => {
                let params = self.machine.frame()?.program.function.params.clone();
                let values = args.iter().zip(params).filter(|(a, _)| matches!(a.value, ArgValue::Expr(_)));
                values.for_each(|(_, param)| self.declare(param));
            }
            OpKind::Release { .. }
            | OpKind::External
            | OpKind::IfBegin { .. }
            | OpKind::IfMiddle { .. }
            | OpKind::IfEnd { .. }
            | OpKind::WhileBegin { .. }
            | OpKind::WhileEnd { .. }
            | OpKind::ForBegin { .. } => {}
        }
        Ok(())
    }

    fn walk(&mut self) -> Result<Walk<'_, '_, Tape>, Cause> {
        let eval = self.machine.evaluator(Watch::Nothing)?;
        Ok(Walk { eval, algebra: &mut self.tape, known: &mut self.known, names: Vec::new() })
    }

    /// What a variable of the function that is running holds.
    fn held(&self, var: VarId) -> Option<Held> {
        let at = self.machine.frames.last()?.slots.get(var.0 as usize)?.as_ref()?;
        Some((self.machine.memory.read(at).into_owned(), self.tape.trees.get(at)))
    }

    /// Nothing depends yet on a variable that has a new cell.
    fn declare(&mut self, var: VarId) {
        let slot = self.machine.frames.last().and_then(|f| f.slots.get(var.0 as usize)?.as_ref());
        if let Some(cell) = slot.map(|at| at.cell) {
            *self.tape.trees.cell(cell) = Tree::default();
        }
    }

    /// Out of a function: what its parameters that are values hold comes from the arguments.
    fn leave_call(&mut self) -> Result<(), Error> {
        let held = self.machine.frames.last().map_or_else(Vec::new, |frame| {
            let own = |var: &VarId| {
                let at = frame.slots.get(var.0 as usize)?.as_ref()?;
                frame.temporaries.contains(&at.cell).then(|| self.held(*var))?
            };
            frame.program.function.params.iter().map(own).collect()
        });
        self.machine.step_back()?;
        let done = self.pass(held).and_then(|()| self.tape.finish());
        done.map_err(|cause| self.machine.error(cause))
    }

    fn pass(&mut self, held: Vec<Option<Held>>) -> Result<(), Cause> {
        let frame = self.machine.frame()?;
        let program = frame.program.clone();
        let Some(OpKind::Call { args, .. }) = program.ops.get(frame.pc).map(|op| &op.kind) else {
            return Ok(());
        };
        for (arg, held) in args.iter().zip(held) {
            let (ArgValue::Expr(e), Some((data, tree))) = (&arg.value, held) else { continue };
            if is_live(&tree) {
                let (_, value) = self.walk()?.walk(e)?;
                self.tape.stands_for(&data, &tree, &value);
            }
        }
        Ok(())
    }

    fn update(&mut self, op: UpdateOp, place: &Place, expr: &Expr) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let at = walk.eval.locate(place)?;
        let own = walk.algebra.trees.get(&at);
        let sign = match op {
            _ if !is_live(&own) => return Ok(()),
            UpdateOp::Add => 1.0,
            UpdateOp::Sub => -1.0,
            UpdateOp::Xor => {
                return Err(Cause::Sparsity("bits of a number that carries a derivative".into()))
            }
        };
        let (_, tree) = match &expr.kind {
            ExprKind::Contract(formula, factors) if !formula.target.is_scalar() => {
                let shape = walk.eval.memory.shape(&at).unwrap_or_default();
                walk.contract(formula, ("the target", &shape), factors)?
            }
            _ => walk.walk(expr)?,
        };
        let data = self.machine.memory.read(&at);
        let mut sums: Vec<(Id, Id)> = Vec::new();
        both(&data, &own, &tree, &mut |y, v| sums.push((y, v)));
        sums.into_iter().for_each(|(y, v)| self.tape.curvature.undo_sum(y, v, sign));
        Ok(())
    }

    fn instruct(&mut self, instr: Instr, places: &[Place], operands: &[Expr]) -> Result<(), Cause> {
        let mut walk = self.walk()?;
        let at = places.iter().map(|p| walk.eval.locate(p)).collect::<Result<Vec<_>, _>>()?;
        if exchanges_nothing(instr, &at) {
            return Ok(());
        }
        self.in_place(instr, &at, operands)
    }

    /// The numbers in the places are new ones before the instruction, those after it come from them.
    fn in_place(&mut self, instr: Instr, at: &[Location], operands: &[Expr]) -> Result<(), Cause> {
        let memory = &self.machine.memory;
        let after: Vec<Held> =
            at.iter().map(|at| (memory.read(at).into_owned(), self.tape.trees.get(at))).collect();
        if after.iter().all(|(_, tree)| !is_live(tree)) {
            return Ok(());
        }
        if let (Instr::Swap, [a, b]) = (instr, at) {
            let [first, second] = [0, 1].map(|k| after[k].1.clone());
            self.tape.trees.replace(memory, a, second);
            self.tape.trees.replace(memory, b, first);
            return Ok(());
        }
        at.iter().for_each(|at| drop(self.tape.trees.replace(memory, at, Tree::default())));
        let mut walk = self.walk()?;
        let memory = walk.eval.memory;
        let before = after.iter().zip(at).map(|((data, _), at)| {
            use super::walk::Algebra;
            (data.clone(), walk.algebra.read(memory, at))
        });
        let before = before.collect();
        let operands = operands.iter().map(|e| walk.walk(e)).collect::<Result<Vec<_>, _>>()?;
        let results = walk.instructed(instr, before, &operands)?;
        for ((data, after), result) in after.iter().zip(&results) {
            self.tape.stands_for(data, after, result);
        }
        Ok(())
    }

    /// `push(stack, place)` is undone: what was on the top is in the place.
    fn pushed(&mut self, stack: &Place, place: &Place) -> Result<(), Cause> {
        let walk = &mut self.walk()?.eval;
        let (stack, place) = (walk.locate(stack)?, walk.locate(place)?);
        let memory = &self.machine.memory;
        let mut inner = match self.tape.trees.get(&stack) {
            Tree::Node(inner) => inner,
            Tree::Same(_) => {
                self.drop_at(&place);
                return Ok(());
            }
        };
        // the stack has one less already
        let top = if inner.len() > memory.read(&stack).children().count() { inner.pop() } else { None };
        self.tape.trees.replace(memory, &stack, Tree::Node(inner));
        let old = self.tape.trees.replace(memory, &place, top.unwrap_or_default());
        self.tape.drop(&old);
        Ok(())
    }

    /// `pop(stack, place)` is undone: what was in the place is on the top.
    fn popped(&mut self, stack: &Place, place: &Place) -> Result<(), Cause> {
        let walk = &mut self.walk()?.eval;
        let (stack, place) = (walk.locate(stack)?, walk.locate(place)?);
        let memory = &self.machine.memory;
        let moved = self.tape.trees.replace(memory, &place, Tree::default());
        let count = memory.read(&stack).children().count();
        let mut inner = match self.tape.trees.get(&stack) {
            Tree::Node(inner) => inner,
            Tree::Same(_) => vec![Tree::default(); count.saturating_sub(1)],
        };
        inner.push(moved);
        self.tape.trees.replace(memory, &stack, Tree::Node(inner));
        Ok(())
    }

    /// What is left at a place holds zero.
    fn drop_at(&mut self, place: &Location) {
        let old = self.tape.trees.replace(&self.machine.memory, place, Tree::default());
        self.tape.drop(&old);
    }
}

fn is_live(tree: &Tree<Parts>) -> bool {
    let mut live = false;
    tree.each(&mut |leaf| live |= !leaf.is_nothing());
    live
}

/// The live numbers of two values of one shape, side by side.
fn both(data: &Data, a: &Tree<Parts>, b: &Tree<Parts>, f: &mut dyn FnMut(Id, Id)) {
    match (data, a, b) {
        _ if !is_live(a) || !is_live(b) => {}
        (Data::Array(_) | Data::Tuple(_) | Data::Stack(_) | Data::Struct(_), _, _) => {
            data.children().enumerate().for_each(|(k, d)| both(d, &a.child(k), &b.child(k), f));
        }
        (_, Tree::Same(a), Tree::Same(b)) => {
            for (y, v) in a.0.into_iter().zip(b.0).filter(|(y, v)| *y != 0 && *v != 0) {
                f(y, v);
            }
        }
        _ => {}
    }
}

impl Tape {
    /// A value stands for another one from here on, and isn't there before.
    fn stands_for(&mut self, data: &Data, value: &Tree<Parts>, of: &Tree<Parts>) {
        let mut sums = Vec::new();
        both(data, value, of, &mut |y, v| sums.push((y, v)));
        sums.into_iter().for_each(|(y, v)| self.curvature.undo_sum(y, v, 1.0));
        self.drop(value);
    }

    /// What is in a tree isn't there before this point.
    fn drop(&mut self, tree: &Tree<Parts>) {
        tree.each(&mut |leaf| leaf.live().for_each(|(_, id)| self.curvature.remove(id)));
    }

    /// Undoes the functions of the statement.
    fn finish(&mut self) -> Result<(), Cause> {
        self.undo();
        match std::mem::take(&mut self.astray) {
            false => Ok(()),
            true => Err(Cause::Sparsity("a number is expected that isn't one".into())),
        }
    }
}
