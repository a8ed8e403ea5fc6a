//! What each straight-line operation does, in either direction.

use super::eval::{Evaluator, Watch};
use super::frame::Frame;
use super::generics::Generics;
use super::machine::{Failed, Machine};
use super::memory::Location;
use super::update::{add_product, instruct, misshapen, update, Holds, InstrFailure};
use crate::error::Cause;
use crate::ir::{
    Arg, ArgValue, Callee, Direction, Expr, ExprKind, FunctionPath, Mode, Place, Release, UpdateOp, VarId,
};
use crate::ops::Instr;
use crate::scalar::Mismatch;
use crate::tolerance::Tolerances;
use crate::value::{same_shapes, Data, Value};

impl Machine<'_> {
    pub(super) fn update(
        &mut self,
        op: UpdateOp,
        place: &Place,
        expr: &Expr,
        checked: bool,
    ) -> Result<(), Cause> {
        let root = self.target_root(place)?;
        let mut eval = self.evaluator(if checked { Watch::Cell(root.cell) } else { Watch::Nothing })?;
        let at = eval.locate_from(root, place)?;
        let value = match &expr.kind {
            ExprKind::Contract(formula, factors) if !formula.target.is_scalar() => {
                let shape = self.memory.shape(&at).unwrap_or_default();
                eval.contract(formula, (&eval.text(place), &shape), factors)?
            }
            _ => match expr.fused_factors() {
                Some((func, a, b)) => {
                    let (a, b) = (eval.eval(a)?, eval.eval(b)?);
                    check_alias(&eval, &at, place)?;
                    let old = (&*self.memory.read(&at), self.holds(place.var));
                    let new = add_product(op, old, func, [a, b])?;
                    self.memory.write(&at, new);
                    return Ok(());
                }
                None => eval.eval(expr)?,
            },
        };
        check_alias(&eval, &at, place)?;
        let old = self.memory.read(&at);
        if expr.takes_any_type() && matches!(*old, Data::Scalar(Value::Bool(_))) {
            return Ok(());
        }
        let new = update(op, &old, &value)?;
        self.memory.write(&at, new);
        Ok(())
    }

    /// Where the variable of a written place is, or what stands for it in a deterministic sum.
    fn target_root(&self, place: &Place) -> Result<Location, Cause> {
        match self.frame()?.redirected(place) {
            Some(at) => Ok(at.clone()),
            None => self.evaluator(Watch::Nothing)?.slot(place.var),
        }
    }

    pub(super) fn instruct(
        &mut self,
        instr: Instr,
        places: &[Place],
        operands: &[Expr],
        checked: bool,
    ) -> Result<(), Cause> {
        let mut eval = self.evaluator(if checked { Watch::Everything } else { Watch::Nothing })?;
        let at = places.iter().map(|p| eval.locate(p)).collect::<Result<Vec<_>, _>>()?;
        let operands = operands.iter().map(|e| eval.eval(e)).collect::<Result<Vec<_>, _>>()?;
        for (k, (at_k, place)) in at.iter().zip(places).enumerate() {
            check_alias(&eval, at_k, place)?;
            // an element that is exchanged with itself stays as it is
            let stays = |at_j: &Location| instr == Instr::Swap && at_j == at_k;
            if let Some(j) = (0..k).find(|j| checked && at[*j].overlaps(at_k) && !stays(&at[*j])) {
                return Err(alias(&eval, &places[j], place));
            }
        }
        let values: Vec<Data> = at.iter().map(|at| self.memory.read(at).into_owned()).collect();
        let holds = places.first().map_or(Holds::Values, |p| self.holds(p.var));
        let new = instruct(instr, &values, &operands, holds).map_err(|failure| match failure {
            InstrFailure::Type(cause) => cause,
            InstrFailure::Value(reason) => Cause::Instruction {
                instr: instr.name().into(),
                place: places.first().map_or_else(String::new, |p| eval.text(p)).into(),
                reason,
            },
        })?;
        for (at, value) in at.iter().zip(new) {
            self.memory.write(at, value);
        }
        Ok(())
    }

    pub(super) fn push(&mut self, stack: &Place, place: &Place, checked: bool) -> Result<(), Cause> {
        let (stack_at, at) = self.stack_and_place(stack, place, checked)?;
        let value = self.memory.read(&at).into_owned();
        let zero = value.zero_like();
        match self.memory.stack(&stack_at) {
            Some(values) => values.push(value),
            None => return Err(self.no_stack(stack, &stack_at)),
        }
        self.memory.write(&at, zero);
        Ok(())
    }

    pub(super) fn pop(&mut self, stack: &Place, place: &Place, checked: bool) -> Result<(), Cause> {
        let (stack_at, at) = self.stack_and_place(stack, place, checked)?;
        let before = self.memory.read(&at).into_owned();
        if checked {
            let zero = before.zero_like();
            before.compare(&zero, &self.options.tolerances, None).map_err(|m| Cause::PopTarget {
                place: format!("{}{}", self.text(place), m.path),
                found: m.found,
            })?;
        }
        let Some(values) = self.memory.stack(&stack_at) else {
            return Err(self.no_stack(stack, &stack_at));
        };
        let shaped = values.last().map_or(Ok(()), |top| same_shapes(top, &before, false));
        let top = if shaped.is_ok() { values.pop() } else { None };
        shaped.map_err(|m| misshapen(&self.text(place), m))?;
        match top {
            Some(value) => self.memory.write(&at, value),
            // what a stack held before its shadow was made has no cotangents yet: they are zero
            None if self.holds(place.var) == Holds::Shadows => {}
            None => return Err(Cause::StackUnderflow { stack: self.text(stack).into() }),
        }
        Ok(())
    }

    fn stack_and_place(
        &self,
        stack: &Place,
        place: &Place,
        checked: bool,
    ) -> Result<(Location, Location), Cause> {
        let mut eval = self.evaluator(Watch::Nothing)?;
        let (stack_at, at) = (eval.locate(stack)?, eval.locate(place)?);
        if checked && stack_at.overlaps(&at) {
            return Err(alias(&eval, stack, place));
        }
        Ok((stack_at, at))
    }

    fn no_stack(&self, stack: &Place, at: &Location) -> Cause {
        Cause::Type {
            operation: self.text(stack).into(),
            expected: "a stack".into(),
            found: self.memory.read(at).kind(),
        }
    }

    /// A place as the program writes it.
    fn text(&self, place: &Place) -> String {
        self.evaluator(Watch::Nothing).map_or_else(|_| String::new(), |eval| eval.text(place))
    }

    /// The value of an expression for a variable, in the variable's type where that is known.
    fn value_for(&self, var: VarId, expr: &Expr) -> Result<Data, Cause> {
        let data = self.evaluator(Watch::Nothing)?.eval(expr)?;
        let frame = self.frame()?;
        let ty = &frame.program.function.var(var).ty;
        Ok(frame.generics.settle(self.globals.module, ty, data))
    }

    /// Gives a variable a new cell.
    pub(super) fn open(&mut self, var: VarId, data: Data) -> Result<(), Cause> {
        let at = self.memory.allocate(data);
        self.frame_mut()?.slots[var.0 as usize] = Some(at);
        Ok(())
    }

    /// Takes a variable's cell away; what it held.
    pub(super) fn close(&mut self, var: VarId) -> Result<Data, Cause> {
        let at = self.frame_mut()?.slots[var.0 as usize].take();
        Ok(at.map_or(Data::None, |at| self.memory.release(at.cell)))
    }

    pub(super) fn bind(&mut self, var: VarId, expr: &Expr) -> Result<(), Cause> {
        let data = self.value_for(var, expr)?;
        self.open(var, data)
    }

    pub(super) fn unbind(&mut self, var: VarId, expr: &Expr, checked: bool) -> Result<(), Cause> {
        if checked {
            let now = self.value_for(var, expr)?;
            let at = self.evaluator(Watch::Nothing)?.slot(var)?;
            let bound = self.memory.read(&at);
            let same = same_bits(&now, &bound) || now.compare(&bound, &self.options.tolerances, None).is_ok();
            if !same {
                return Err(Cause::BindingChanged {
                    name: self.name(var),
                    expected: bound.to_string(),
                    found: now.to_string(),
                });
            }
        }
        self.close(var).map(drop)
    }

    fn name(&self, var: VarId) -> crate::error::Text {
        self.frames.last().map_or_else(String::new, |f| f.program.function.var(var).name.clone()).into()
    }

    /// An ancilla's start, or from behind its end: it holds its first value, or what it held when
    /// that was given up.
    pub(super) fn allocate(
        &mut self,
        var: VarId,
        init: &Expr,
        release: Release,
        forward: bool,
    ) -> Result<(), Cause> {
        let mut data = self.value_for(var, init)?;
        if release == Release::Dropped && !forward {
            data = self.dropped.pop().unwrap_or(data);
        }
        self.open(var, data)
    }

    pub(super) fn release(
        &mut self,
        var: VarId,
        init: &Expr,
        release: Release,
        forward: bool,
        checked: bool,
    ) -> Result<(), Cause> {
        if release != Release::Dropped {
            self.assert_released(var, init, checked)?;
        }
        let data = self.close(var)?;
        if release == Release::Dropped && forward && self.remembers {
            self.dropped.push(data);
        }
        Ok(())
    }

    /// An ancilla holds a value, up to the tolerance relative to the largest magnitude it held.
    pub(super) fn assert_released(&self, var: VarId, value: &Expr, checked: bool) -> Result<(), Cause> {
        if !checked {
            return Ok(());
        }
        let expected = self.value_for(var, value)?;
        let at = self.evaluator(Watch::Nothing)?.slot(var)?;
        let (found, held) = (self.memory.read(&at), self.memory.held(at.cell));
        let tolerances = &self.options.tolerances;
        found.compare(&expected, tolerances, Some(held)).map_err(|mismatch: Mismatch| {
            Cause::release(&self.name(var), mismatch, limit(&found, tolerances, held))
        })
    }

    pub(super) fn enter_call(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
        at: usize,
        forward: bool,
        checked: bool,
    ) -> Result<(), Failed> {
        let (name, path) = self.callee(callee)?;
        let program = self.program(&name, direction).map_err(Failed::Elsewhere)?;
        let function = &program.function;
        if args.len() != function.params.len() {
            let (expected, found) = (function.params.len(), args.len());
            return Err(Cause::Arguments { function: function.name.clone(), expected, found }.into());
        }
        let (depth, limit) =
            (self.frame()?.depth + usize::from(program.recursive), self.options.depth.max(1));
        if depth > limit {
            return Err(Cause::Depth { limit }.into());
        }
        let passed = self.pass(args, checked)?;
        let module = self.globals.module;
        let mut generics = Generics::default();
        for (param, arg) in function.params.iter().zip(&passed) {
            let ty = &function.var(*param).ty;
            match arg {
                Passed::Place(at) => generics.learn(module, ty, &self.memory.read(at)),
                Passed::Value(data) => generics.learn(module, ty, data),
            }
        }
        generics.learn_written(&function.generics, &path, &self.frame()?.generics);
        let mut slots = vec![None; function.vars.len()];
        let mut temporaries = Vec::new();
        for (param, arg) in function.params.iter().zip(passed) {
            slots[param.0 as usize] = Some(match arg {
                Passed::Place(at) => at,
                Passed::Value(data) => {
                    let data = generics.settle(module, &function.var(*param).ty, data);
                    let at = self.memory.allocate(data);
                    temporaries.push(at.cell);
                    at
                }
            });
        }
        self.set_pc(at);
        let pc = if forward { 0 } else { program.ops.len() };
        self.frames.push(Frame {
            program,
            pc,
            slots,
            generics,
            loops: Vec::new(),
            checks: checked,
            temporaries,
            depth,
        });
        Ok(())
    }

    pub(super) fn leave_call(&mut self, forward: bool) {
        if let Some(frame) = self.frames.pop() {
            frame.temporaries.into_iter().for_each(|cell| drop(self.memory.release(cell)));
        }
        if let Some(caller) = self.frames.last_mut().filter(|_| forward) {
            caller.pc += 1;
        }
    }

    /// The unique name of a called function, and the path written.
    pub(super) fn callee(&self, callee: &Callee) -> Result<(String, FunctionPath), Cause> {
        let frame = self.frame()?;
        match callee {
            Callee::Path(path) => {
                let name = self.globals.module.resolve(&frame.program.links, path.as_str());
                Ok((name.to_string(), path.clone()))
            }
            Callee::Param(var) => {
                let at = self.evaluator(Watch::Nothing)?.slot(*var)?;
                match &*self.memory.read(&at) {
                    Data::Function(name) => Ok((name.to_string(), FunctionPath::new(name))),
                    other => Err(Cause::Type {
                        operation: "a call".into(),
                        expected: "a function".into(),
                        found: other.kind(),
                    }),
                }
            }
        }
    }

    /// The arguments of a call: written ones must be apart from each other and from what is read,
    /// accumulated ones from these.
    fn pass(&self, args: &[Arg], checked: bool) -> Result<Vec<Passed>, Cause> {
        let mut eval = self.evaluator(if checked { Watch::Everything } else { Watch::Nothing })?;
        let mut passed = Vec::new();
        let mut read: Vec<(Location, Place)> = Vec::new();
        let mut written: Vec<(Location, &Place, Mode)> = Vec::new();
        for arg in args {
            match &arg.value {
                ArgValue::Expr(e) => passed.push(Passed::Value(eval.eval(e)?)),
                ArgValue::Place(place) => {
                    let root = match (arg.mode, self.frame()?.redirected(place)) {
                        (Mode::Accumulate, Some(at)) => at.clone(),
                        _ => eval.slot(place.var)?,
                    };
                    let at = eval.locate_from(root, place)?;
                    match arg.mode {
                        Mode::Read => read.push((at.clone(), place.clone())),
                        Mode::Write | Mode::Accumulate => written.push((at.clone(), place, arg.mode)),
                    }
                    passed.push(Passed::Place(at));
                }
            }
        }
        read.append(&mut eval.reads);
        for (k, (at, place, mode)) in written.iter().enumerate().filter(|_| checked) {
            // sums into one place commute
            let both = |other: &Mode| (*other, *mode) == (Mode::Accumulate, Mode::Accumulate);
            let before = written[..k].iter().filter(|(_, _, m)| !both(m)).map(|(at, p, _)| (at, *p));
            let others = before.chain(read.iter().map(|(at, p)| (at, p)));
            if let Some((_, other)) = others.into_iter().find(|(other, _)| other.overlaps(at)) {
                return Err(alias(&eval, place, other));
            }
        }
        Ok(passed)
    }
}

/// An argument on its way.
enum Passed {
    Place(Location),
    Value(Data),
}

/// What was read has nothing in common with the place that is written.
fn check_alias(eval: &Evaluator<'_>, at: &Location, place: &Place) -> Result<(), Cause> {
    match eval.reads.iter().find(|(read, _)| read.overlaps(at)) {
        Some((_, other)) => Err(alias(eval, place, other)),
        None => Ok(()),
    }
}

fn alias(eval: &Evaluator<'_>, first: &Place, second: &Place) -> Cause {
    Cause::Alias { first: eval.text(first).into(), second: eval.text(second).into() }
}

/// Equal, NaN to NaN.
fn same_bits(a: &Data, b: &Data) -> bool {
    a == b || format!("{a:?}") == format!("{b:?}")
}

/// The difference that a release would have let pass, for the first floating-point number inside.
fn limit(data: &Data, tolerances: &Tolerances, held: f64) -> f64 {
    fn first(data: &Data, t: &Tolerances, held: f64) -> Option<f64> {
        match data {
            Data::Scalar(Value::F16(_) | Value::ComplexF16(_)) => Some(t.f16.limit(0.0, 0.0, Some(held))),
            Data::Scalar(Value::Bf16(_) | Value::ComplexBf16(_)) => Some(t.bf16.limit(0.0, 0.0, Some(held))),
            Data::Scalar(Value::F32(_) | Value::Complex32(_)) => Some(t.f32.limit(0.0, 0.0, Some(held))),
            Data::Scalar(Value::F64(_) | Value::Complex64(_)) => Some(t.f64.limit(0.0, 0.0, Some(held))),
            _ => data.children().find_map(|d| first(d, t, held)),
        }
    }
    first(data, tolerances, held).unwrap_or(0.0)
}
