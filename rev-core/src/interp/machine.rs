//! The machine: runs a program forward and backward, one operation at a time, from any point.

use super::code::{OpKind, Program};
use super::eval::{Evaluator, Globals, Scope, Watch};
use super::frame::Frame;
use super::generics::Generics;
use super::memory::{Location, Memory};
use super::update::Holds;
use crate::check::with_typed_literals;
use crate::error::{Cause, Error, Site};
use crate::ir::{Direction, Module, Type, VarKind};
use crate::tolerance::Options;
use crate::value::Data;
use std::collections::HashMap;
use std::rc::Rc;

/// Whether a step was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// One operation was run.
    Stepped,
    /// The machine was already at that end of the program.
    AtEnd,
}

/// A program in the middle of a run.
///
/// The machine stands between two operations. [`step`](Machine::step) runs the one after,
/// [`step_back`](Machine::step_back) undoes the one before, at any time in any order; a check that
/// fails leaves the machine where it was, so that it can turn around there.
///
/// ```
/// use rev_core::interp::Machine;
/// use rev_core::ir::Direction;
/// use rev_core::value::Data;
///
/// let module = rev_core::text::parse_module(
///     "module norm
///      fn norm(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += x[i] * x[i] } }",
/// )?;
/// let x = Data::vector(vec![Data::scalar(3.0), Data::scalar(4.0)]);
/// let mut machine = Machine::new(&module, "norm", Direction::FORWARD, vec![Data::scalar(0.0), x])?;
/// machine.run()?;
/// assert_eq!(machine.arguments()[0], Data::scalar(25.0));
/// machine.step_back()?; // out of the loop's end
/// machine.step_back()?; // y += 16 undone
/// assert_eq!(machine.arguments()[0], Data::scalar(9.0));
/// let site = machine.position().ok_or("at a statement")?;
/// assert_eq!(site.to_string(), "in `norm`: `y += x[i] * x[i]` with i = 1");
/// machine.run_back()?;
/// assert_eq!(machine.arguments()[0], Data::scalar(0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Machine<'m> {
    pub(super) globals: Globals<'m>,
    pub(super) options: Options,
    pub(super) memory: Memory,
    /// The activations; the first is the entry's, and stays.
    pub(super) frames: Vec<Frame>,
    pub(super) programs: HashMap<(String, Direction), Rc<Program>>,
    /// What is run.
    entry: (String, Direction),
    /// What ancillas held whose last value is given up, for the way back.
    pub(super) dropped: Vec<Data>,
    /// Whether those are kept.
    pub(super) remembers: bool,
    arguments: Vec<Location>,
}

/// A variable in scope, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub data: Data,
}

impl<'m> Machine<'m> {
    /// A machine at the start of the program that `direction` names of a function of the module,
    /// with the program's arguments: for an adjoint each is followed by its shadow.
    ///
    /// # Errors
    ///
    /// A function that the module doesn't have, that isn't reversible, or takes other arguments.
    pub fn new(
        module: &'m Module,
        entry: &str,
        direction: Direction,
        args: Vec<Data>,
    ) -> Result<Machine<'m>, Error> {
        let mut machine = Machine {
            globals: Globals::new(module),
            options: Options::default(),
            memory: Memory::default(),
            frames: Vec::new(),
            programs: HashMap::new(),
            entry: (entry.to_string(), direction),
            dropped: Vec::new(),
            remembers: true,
            arguments: Vec::new(),
        };
        machine.restart(args)?;
        Ok(machine)
    }

    /// The same program at its start again, with other arguments: what was made of the module for the
    /// run before is kept.
    ///
    /// # Errors
    ///
    /// Other arguments than the program takes.
    pub fn restart(&mut self, args: Vec<Data>) -> Result<(), Error> {
        let (entry, direction) = self.entry.clone();
        if self.globals.typed.is_none() {
            let (module, narrow) = (self.globals.module, args.iter().any(Data::has_narrow));
            if let Some(typed) = with_typed_literals(module, &entry, direction, narrow) {
                self.globals = Globals::new(module);
                self.globals.typed = Some(Rc::new(typed));
                self.programs.clear();
            }
        }
        let program = self.program(&entry, direction)?;
        self.begin(program, args)
    }

    /// At the start of a program, with nothing else in memory.
    fn begin(&mut self, program: Rc<Program>, args: Vec<Data>) -> Result<(), Error> {
        let function = &program.function;
        if args.len() != function.params.len() {
            let (expected, found) = (function.params.len(), args.len());
            return Err(Cause::Arguments { function: function.name.clone(), expected, found }.into());
        }
        let types = || function.params.iter().map(|p| &function.var(*p).ty);
        let mut generics = Generics::default();
        let module = self.globals.module;
        types().zip(&args).for_each(|(ty, arg)| generics.learn(module, ty, arg));
        let args = types().zip(args).map(|(ty, arg)| generics.settle(module, ty, arg));
        let mut memory = Memory::default();
        self.arguments = args.map(|arg| memory.allocate(arg)).collect();
        (self.memory, self.dropped) = (memory, Vec::new());
        let mut slots = vec![None; function.vars.len()];
        for (param, at) in function.params.iter().zip(&self.arguments) {
            slots[param.0 as usize] = Some(at.clone());
        }
        let (loops, temporaries, depth) = (Vec::new(), Vec::new(), usize::from(program.recursive));
        self.frames =
            vec![Frame { program, pc: 0, slots, generics, loops, checks: true, temporaries, depth }];
        Ok(())
    }

    /// The same machine with other options: `checks`, `tolerances`, `deterministic` and `depth` matter
    /// here.
    pub fn with_options(mut self, options: Options) -> Machine<'m> {
        self.options = options;
        self
    }

    /// The same machine for a run that doesn't turn around: what shadows hold when they are given
    /// up isn't kept, so that a long run takes no more memory than a short one.
    pub fn forgetting(mut self) -> Machine<'m> {
        self.remembers = false;
        self
    }

    /// The same machine at the other end: its arguments are those after the program.
    pub fn at_end(mut self) -> Machine<'m> {
        if let Some(frame) = self.frames.first_mut() {
            frame.pc = frame.program.ops.len();
        }
        self
    }

    /// Runs the next operation: a statement, or the beginning or end of a structured one.
    ///
    /// # Errors
    ///
    /// A check that failed, or an error of the program; the state is unchanged then.
    pub fn step(&mut self) -> Result<Progress, Error> {
        self.advance(true)
    }

    /// Undoes the operation before.
    ///
    /// # Errors
    ///
    /// As [`step`](Machine::step), for the inverse program.
    pub fn step_back(&mut self) -> Result<Progress, Error> {
        self.advance(false)
    }

    /// Runs to the end.
    ///
    /// # Errors
    ///
    /// As [`step`](Machine::step). The machine stands before the statement that failed.
    pub fn run(&mut self) -> Result<(), Error> {
        while self.step()? == Progress::Stepped {}
        Ok(())
    }

    /// Runs back to the start.
    ///
    /// # Errors
    ///
    /// As [`step_back`](Machine::step_back). The machine stands behind the statement that failed.
    pub fn run_back(&mut self) -> Result<(), Error> {
        while self.step_back()? == Progress::Stepped {}
        Ok(())
    }

    /// The statement that the next operation belongs to, with the iterations it is in; `None` at
    /// the end of the program.
    pub fn position(&self) -> Option<Site> {
        let frame = self.frames.last()?;
        (frame.pc < frame.program.ops.len()).then(|| frame.site(frame.pc))
    }

    /// The statement that the machine is at in each function, the innermost first.
    pub fn trace(&self) -> Vec<Site> {
        self.frames.iter().rev().map(|f| f.site(f.pc)).collect()
    }

    /// Whether nothing was run yet, or all undone.
    pub fn is_at_start(&self) -> bool {
        matches!(self.frames.as_slice(), [frame] if frame.pc == 0)
    }

    /// Whether the program has ended.
    pub fn is_at_end(&self) -> bool {
        matches!(self.frames.as_slice(), [frame] if frame.pc == frame.program.ops.len())
    }

    /// The variables in scope of the function that is running, in the order of their declaration.
    pub fn state(&self) -> Vec<Variable> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let vars = frame.program.function.vars.iter().zip(&frame.slots);
        vars.filter_map(|(var, slot)| {
            let data = self.memory.read(slot.as_ref()?).into_owned();
            Some(Variable { name: var.name.clone(), data })
        })
        .collect()
    }

    /// The program's arguments as they are now.
    pub fn arguments(&self) -> Vec<Data> {
        self.arguments.iter().map(|at| self.memory.read(at).into_owned()).collect()
    }

    /// Where the program's arguments are.
    pub(super) fn places(&self) -> &[Location] {
        &self.arguments
    }

    /// An error at the next operation.
    pub(super) fn error(&self, cause: Cause) -> Error {
        self.frames.iter().rev().fold(Error::new(cause), |error, frame| error.at(frame.site(frame.pc)))
    }

    /// The program of a function in a direction, made on first use.
    pub(super) fn program(&mut self, name: &str, direction: Direction) -> Result<Rc<Program>, Error> {
        let key = (name.to_string(), direction);
        if let Some(program) = self.programs.get(&key) {
            return Ok(program.clone());
        }
        let program = Rc::new(Program::new(self.globals.code(), name, direction)?);
        self.programs.insert(key, program.clone());
        Ok(program)
    }

    fn advance(&mut self, forward: bool) -> Result<Progress, Error> {
        let Some(frame) = self.frames.last() else { return Ok(Progress::AtEnd) };
        let program = frame.program.clone();
        let edge = if forward { program.ops.len() } else { 0 };
        if frame.pc == edge {
            if self.frames.len() == 1 {
                return Ok(Progress::AtEnd);
            }
            self.leave_call(forward);
            return Ok(Progress::Stepped);
        }
        let at = if forward { frame.pc } else { frame.pc - 1 };
        let op = &program.ops[at];
        let checked = op.checked && frame.checks && self.options.checks;
        match self.execute(&op.kind, at, forward, checked) {
            Ok(()) => Ok(Progress::Stepped),
            Err(Failed::Here(cause)) => {
                let mut error = Error::new(cause);
                for (depth, frame) in self.frames.iter().rev().enumerate() {
                    error = error.at(frame.site(if depth == 0 { at } else { frame.pc }));
                }
                Err(error)
            }
            Err(Failed::Elsewhere(error)) => {
                Err(self.frames.iter().rev().fold(error, |e, f| e.at(f.site(f.pc))))
            }
        }
    }

    fn execute(&mut self, op: &OpKind, at: usize, forward: bool, checked: bool) -> Result<(), Failed> {
        match op {
            OpKind::Update { op, place, expr } => {
                self.update(if forward { *op } else { op.inverse() }, place, expr, checked)?;
                self.go(at, forward);
            }
            OpKind::Instr { instr, places, operands } => {
                let instr = if forward { *instr } else { instr.row().inverse };
                self.instruct(instr, places, operands, checked)?;
                self.go(at, forward);
            }
            OpKind::Push { stack, place } | OpKind::Pop { stack, place } => {
                if matches!(op, OpKind::Push { .. }) == forward {
                    self.push(stack, place, checked)?;
                } else {
                    self.pop(stack, place, checked)?;
                }
                self.go(at, forward);
            }
            OpKind::Release { var, value } => {
                self.assert_released(*var, value, checked)?;
                self.go(at, forward);
            }
            OpKind::External => self.go(at, forward),
            OpKind::Call { callee, direction, args } => {
                self.enter_call(callee, *direction, args, at, forward, checked)?;
            }
            OpKind::LetBegin { var, expr } | OpKind::LetEnd { var, expr } => {
                if matches!(op, OpKind::LetBegin { .. }) == forward {
                    self.bind(*var, expr)?;
                } else {
                    self.unbind(*var, expr, checked)?;
                }
                self.go(at, forward);
            }
            OpKind::AncillaBegin { var, init, release } | OpKind::AncillaEnd { var, init, release } => {
                if matches!(op, OpKind::AncillaBegin { .. }) == forward {
                    self.allocate(*var, init, *release, forward)?;
                } else {
                    self.release(*var, init, *release, forward, checked)?;
                }
                self.go(at, forward);
            }
            OpKind::IfBegin { cond, middle } => self.if_begin(cond, at, *middle, forward, checked)?,
            OpKind::IfMiddle { cond, post, begin, end } => {
                self.if_middle(cond, post, (*begin, *end), forward, checked)?;
            }
            OpKind::IfEnd { post, middle } => self.if_end(post, *middle, at, forward, checked)?,
            OpKind::WhileBegin { cond, post, end } => {
                self.while_begin(cond, post, (at, *end), forward, checked)?;
            }
            OpKind::WhileEnd { cond, post, begin } => {
                self.while_end(cond, post, (*begin, at), forward, checked)?;
            }
            OpKind::ForBegin { var, range, parallel, end } => {
                self.for_begin(*var, range, parallel.as_deref(), (at, *end), forward, checked)?;
            }
            OpKind::ForEnd { var, range, begin } => {
                self.for_end(*var, range, (*begin, at), forward, checked)?;
            }
        }
        Ok(())
    }

    /// Past the operation, in either direction.
    fn go(&mut self, at: usize, forward: bool) {
        self.set_pc(if forward { at + 1 } else { at });
    }

    pub(super) fn set_pc(&mut self, pc: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
    }

    /// The activation that is running. There always is one; the error says so without a panic.
    pub(super) fn frame(&self) -> Result<&Frame, Cause> {
        self.frames.last().ok_or_else(no_frame)
    }

    pub(super) fn frame_mut(&mut self) -> Result<&mut Frame, Cause> {
        self.frames.last_mut().ok_or_else(no_frame)
    }

    /// An evaluation in the function that is running.
    pub(super) fn evaluator(&self, watch: Watch) -> Result<Evaluator<'_>, Cause> {
        let frame = self.frame()?;
        let function = &frame.program.function;
        let scope = Scope {
            links: &frame.program.links,
            function: Some(function),
            vars: &function.vars,
            generics: &frame.generics,
            slots: &frame.slots,
        };
        let mut evaluator = Evaluator::new(&self.globals, &self.memory, scope).watching(watch);
        evaluator.deterministic = self.options.deterministic;
        evaluator.loops = &frame.loops;
        Ok(evaluator)
    }

    /// Whether a variable is the shadow of another.
    pub(super) fn holds(&self, var: crate::ir::VarId) -> Holds {
        let shadow = self.frames.last().is_some_and(|f| {
            let var = f.program.function.var(var);
            matches!(var.ty, Type::Shadow(_)) && var.kind != VarKind::Index
        });
        if shadow {
            Holds::Shadows
        } else {
            Holds::Values
        }
    }
}

fn no_frame() -> Cause {
    Cause::Missing { kind: "running function".into(), name: String::new() }
}

/// Why an operation failed.
pub(super) enum Failed {
    /// In itself.
    Here(Cause),
    /// Before it could start: a callee that has no such program.
    Elsewhere(Error),
}

impl From<Cause> for Failed {
    fn from(cause: Cause) -> Failed {
        Failed::Here(cause)
    }
}
