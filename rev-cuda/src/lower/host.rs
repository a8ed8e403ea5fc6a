//! Statements around parallel loops: what the host does. Runs of other statements become kernels of
//! one thread; variables that live from kernel to kernel are buffers; what decides about sizes and
//! control flow is a word of the host, read back where a kernel has to compute it.

use rev_core::error::Cause;
use rev_core::ir::{
    Arg, ArgValue, Block, Callee, Direction, Expr, ExprKind, Mode, Place, Range, ScalarType, Stmt, StmtKind,
    VarId, VarKind,
};
use rev_core::limits::deeper;
use rev_core::pass::{self, Wanted};

use crate::kernel::{Inst, Op, Relation, Special, Ty};
use crate::plan::{Buffer, BufferId, Step, Word, WordId};

use super::atom::Atom;
use super::builder::Builder;
use super::generics::Generics;
use super::loops::Visits;
use super::memory::Loc;
use super::real::ty_of;
use super::types::ArgumentType;
use super::value::{is_integer, Val};
use super::{Frame, Lower, Outcome, Stop};

/// Threads of a block of the kernels of one thread.
const SERIAL_BLOCK: u32 = 32;

impl Lower<'_> {
    /// The plan of the module's entry in a direction.
    pub fn program(&mut self, direction: Direction, arguments: &[ArgumentType]) -> Outcome<()> {
        let entry = self.module.entry.clone();
        let function = self.function(&entry, direction, Wanted::All)?;
        let expected = function.params.len();
        if arguments.len() != expected {
            let (function, found) = (function.name.clone(), arguments.len());
            return Err(Stop::Error(Cause::Arguments { function, expected, found }.into()));
        }
        self.plan.name = function.name.clone();
        self.plan.arguments = expected;
        let mut generics = Generics::default();
        for (param, kind) in function.params.iter().zip(arguments) {
            generics.learn(self.module, &function.var(*param).ty, kind);
            if let Some(scalar) = kind.find_scalar(&|s| matches!(s, ScalarType::Fixed(of) if of.bits() > 64))
            {
                self.held_here(scalar)?;
            }
        }
        let frame = Frame::new(
            Some(function.clone()),
            function.vars.clone().into(),
            entry,
            generics,
            function.checks,
        );
        self.frames.push(frame);
        for (param, kind) in function.params.iter().zip(arguments) {
            let var = function.var(*param);
            let read = matches!(var.kind, VarKind::Param(Mode::Read));
            let (name, leaves, rank) = (var.name.clone(), kind.leaves(), kind.rank());
            let stack = matches!(kind, ArgumentType::Stack(_));
            self.plan.buffers.push(Buffer { name, leaves, rank, stack, written: !read });
        }
        for (k, (param, kind)) in function.params.iter().zip(arguments).enumerate() {
            let read = matches!(function.var(*param).kind, VarKind::Param(Mode::Read));
            let loc = self.argument_loc(BufferId(k as u32), kind, read)?;
            if self.options.zeros.contains(&k) {
                self.note_zeros(&loc);
            }
            self.set_slot(*param, Some(loc))?;
        }
        self.host_block(&function.body)?;
        self.flush()?;
        self.plan.steps = self.taken_steps()?;
        self.frames.pop();
        Ok(())
    }

    fn argument_loc(&mut self, buffer: BufferId, kind: &ArgumentType, read: bool) -> Outcome<Loc> {
        match kind {
            ArgumentType::None => Ok(Loc::Value(Val::None)),
            ArgumentType::Function(name) => Ok(Loc::Value(Val::Function(name.clone()))),
            ArgumentType::Scalar(scalar) if read && is_integer(*scalar) && kind.leaves().len() == 1 => {
                let atom = Atom::from_word(Word::Argument(buffer), ty_of(*scalar));
                Ok(Loc::Value(Val::real(*scalar, atom)))
            }
            ArgumentType::Array(element, rank) => {
                let length = |axis| Atom::from_word(Word::Length(buffer, axis), Ty::U64);
                let array = self.buffer_array(buffer, element, (0..*rank).map(length).collect())?;
                Ok(Loc::Array(array))
            }
            ArgumentType::Stack(element) => {
                let capacity = Atom::from_word(Word::Length(buffer, 0), Ty::U64);
                self.buffer_stack(buffer, element, capacity)
            }
            ArgumentType::Scalar(_)
            | ArgumentType::Complex(_)
            | ArgumentType::Shadow { .. }
            | ArgumentType::Fixed(..)
            | ArgumentType::Tuple(_)
            | ArgumentType::Struct(..) => self.buffer_value(buffer, kind),
        }
    }

    /// Adds a step.
    pub fn step_host(&mut self, step: Step) {
        if let Some(steps) = self.steps.last_mut() {
            steps.push(step);
        }
    }

    /// Runs something in the kernel of one thread that is being made.
    pub fn in_serial<R>(&mut self, f: impl FnOnce(&mut Self) -> Outcome<R>) -> Outcome<R> {
        self.builder = Some(match self.serial.take() {
            Some(builder) => builder,
            None => {
                let (name, title) = self.kernel_name("serial");
                let mut builder = Builder::new(name, title, SERIAL_BLOCK);
                builder.alone();
                builder
            }
        });
        self.scratch = Word::Const(1);
        let result = f(self);
        self.serial = self.builder.take();
        result
    }

    /// A name for a kernel, and what it is made from.
    pub fn kernel_name(&self, what: &str) -> (String, String) {
        let identifier: String =
            self.plan.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = format!("k_{identifier}_{what}{}", self.plan.kernels.len());
        let line = self.frames.last().map_or(0, |f| f.span.line);
        let title = match line {
            0 => format!("{}: {what}", self.plan.name),
            line => format!("{}: {what}, line {line}", self.plan.name),
        };
        (name, title)
    }

    /// Launches the kernel of one thread that is being made.
    pub fn flush(&mut self) -> Outcome<()> {
        let Some(mut builder) = self.serial.take() else { return Ok(()) };
        if builder.is_empty() {
            return Ok(());
        }
        // a block has more threads than one
        let then = builder.take_body();
        let thread = builder.register(Ty::U32, "thread");
        builder.emit(Inst::Special { to: thread, what: Special::ThreadInBlock });
        let zero = Atom::Const(0, Ty::U32);
        let first = builder.op(Op::Compare(Relation::Eq), Ty::Pred, &[Atom::Reg(thread, Ty::U32), zero]);
        let cond = builder.operand(&first);
        builder.emit(Inst::If { cond, then, otherwise: Vec::new() });
        self.launch(builder, Word::Const(1), None);
        Ok(())
    }

    /// Launches a kernel.
    pub fn launch(&mut self, builder: Builder, threads: Word, max_blocks: Option<Word>) {
        let (kernel, args, allocations) = builder.finish();
        self.plan.kernels.push(kernel);
        let kernel = self.plan.kernels.len() - 1;
        allocations.into_iter().for_each(|step| self.step_host(step));
        self.step_host(Step::Launch { kernel, args, threads, max_blocks });
    }

    pub fn new_word(&mut self) -> WordId {
        self.plan.words += 1;
        WordId(self.plan.words as u32 - 1)
    }

    /// Reads back integers that a kernel computes.
    fn read_back(&mut self, compute: impl FnOnce(&mut Self) -> Outcome<Vec<Atom>>) -> Outcome<Vec<Word>> {
        let buffers = self.in_serial(|l| {
            let atoms = compute(l)?;
            let mut buffers = Vec::new();
            for atom in atoms {
                let scalar = match atom.ty() {
                    Ty::Pred => ScalarType::Bool,
                    Ty::U64 => ScalarType::U64,
                    _ => ScalarType::I64,
                };
                let kind = ArgumentType::Scalar(scalar);
                let buffer = l.new_buffer("", &kind, 0);
                l.step_host(Step::Allocate { buffer, shape: Vec::new() });
                let at = l.buffer_value(buffer, &kind)?;
                let value =
                    if atom.ty() == ty_of(scalar) { atom } else { l.op(Op::Convert, Ty::I64, &[atom])? };
                l.store(&at, Val::real(scalar, value))?;
                buffers.push(buffer);
            }
            Ok(buffers)
        })?;
        self.flush()?;
        let mut words = Vec::new();
        for buffer in buffers {
            let word = self.new_word();
            self.step_host(Step::Read { word, buffer });
            words.push(Word::Var(word));
        }
        Ok(words)
    }

    /// The same of one integer.
    fn read_back_one(&mut self, compute: impl FnOnce(&mut Self) -> Outcome<Atom>) -> Outcome<Word> {
        let words = self.read_back(|l| Ok(vec![compute(l)?]))?;
        words.into_iter().next().ok_or_else(|| self.defect("nothing was read back from a kernel"))
    }

    /// A condition: known now, or a word.
    pub fn host_truth(&mut self, e: &Expr) -> Outcome<Result<bool, Word>> {
        if let Some(known) = self.attempt(|l| l.truth(e))?.and_then(|atom| atom.truth()) {
            return Ok(Ok(known));
        }
        Ok(Err(self.read_back_one(|l| l.truth(e))?))
    }

    /// The values of a range as words.
    pub fn host_visits(&mut self, var: VarId, range: &Range) -> Outcome<Visits> {
        if let Some(visits) = self.attempt(|l| l.visits(var, range))? {
            let known = [&visits.first, &visits.step, &visits.count];
            if known.iter().all(|a| a.word().is_some()) {
                return Ok(visits);
            }
        }
        let mut scalar = ScalarType::Usize;
        let words = self.read_back(|l| {
            let visits = l.visits(var, range)?;
            scalar = visits.scalar;
            Ok(vec![visits.first, visits.step, visits.count])
        })?;
        let ty = ty_of(scalar);
        let [first, step, count] = words.as_slice() else { return Err(self.unsupported("a range")) };
        Ok(Visits {
            scalar,
            first: Atom::from_word(first.clone(), ty),
            step: Atom::from_word(step.clone(), ty),
            count: Atom::from_word(count.clone(), Ty::I64),
        })
    }

    /// Statements on the host.
    pub fn host_block(&mut self, block: &Block) -> Outcome<()> {
        deeper(|| block.iter().try_for_each(|s| self.on_host(s)))
    }

    fn on_host(&mut self, stmt: &Stmt) -> Outcome<()> {
        if self.splits(stmt)? {
            let outer = self.enter(stmt)?;
            self.host_stmt(stmt)?;
            self.leave(outer)
        } else if self.has_arrays(stmt) {
            self.serial_or_host(stmt)
        } else {
            self.in_serial(|l| l.stmt(stmt))
        }
    }

    /// A statement in the kernel of one thread; on the host where an array's length has to be read
    /// back first. What is on the way to that array isn't tried again.
    fn serial_or_host(&mut self, stmt: &Stmt) -> Outcome<()> {
        let outer = self.enter(stmt)?;
        if self.refused.on_the_way(stmt) {
            self.host_stmt(stmt)?;
        } else {
            self.refused.begin();
            if self.attempt(|l| l.in_serial(|l| l.stmt(stmt)))?.is_none() {
                let around = self.refused.way_from(stmt);
                self.host_stmt(stmt)?;
                self.refused.leave(around);
            }
        }
        self.leave(outer)
    }

    /// The lengths of a new array, read back where the host doesn't know them.
    fn host_lengths(&mut self, expr: &Expr) -> Outcome<Option<Vec<Atom>>> {
        let ExprKind::Fill(_, shape) = &expr.kind else { return Ok(None) };
        let mut lengths = Vec::new();
        for e in shape {
            let known = self.attempt(|l| l.index(e))?.and_then(|atom| atom.word());
            let word = match known {
                Some(word) => word,
                None => self.read_back_one(|l| l.index(e))?,
            };
            lengths.push(Atom::from_word(word, Ty::U64));
        }
        Ok(Some(lengths))
    }

    /// Whether there is a parallel loop in a statement, or a call of a function with loops that many threads can do.
    fn splits(&mut self, stmt: &Stmt) -> Outcome<bool> {
        self.splits_in(stmt, false)
    }

    /// The same inside of a loop or branch or not: there one thread is faster through a loop that doesn't say that it is
    /// parallel than a host that starts a kernel each time.
    fn splits_in(&mut self, stmt: &Stmt, inside: bool) -> Outcome<bool> {
        match &stmt.kind {
            StmtKind::For { parallel: Some(_), .. } => return Ok(true),
            StmtKind::Call { callee, .. } => {
                let (name, _) = self.callee(callee)?;
                return Ok(self.has_parallel_loop(&name, &mut Vec::new()) || !inside && self.spreads(&name));
            }
            _ => {}
        }
        let inside = inside
            || matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::If { .. });
        for inner in stmt.blocks().into_iter().flatten() {
            if self.splits_in(inner, inside)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether there are loops in a function that many threads can do, though it doesn't say so.
    fn spreads(&mut self, name: &str) -> bool {
        if self.options.checks {
            return false;
        }
        if let Some(known) = self.spreads.get(name) {
            return *known;
        }
        let mut function = self.module.functions.get(name).cloned();
        let spreads =
            function.as_mut().is_some_and(|f| super::spread::spread(self.module, name, f, self.any_order));
        self.spreads.insert(name.to_string(), spreads);
        spreads
    }

    fn has_parallel_loop(&self, name: &str, seen: &mut Vec<String>) -> bool {
        if seen.iter().any(|s| s == name) {
            return false;
        }
        seen.push(name.to_string());
        let Some(function) = self.module.functions.get(name) else { return false };
        self.any_parallel(&function.body, name, seen)
    }

    fn any_parallel(&self, block: &Block, links: &str, seen: &mut Vec<String>) -> bool {
        block.iter().any(|s| {
            let own = match &s.kind {
                StmtKind::For { parallel, .. } => parallel.is_some(),
                StmtKind::Call { callee: Callee::Path(path), .. } => {
                    let name = self.module.resolve(links, path.as_str()).to_string();
                    self.has_parallel_loop(&name, seen)
                }
                // what a parameter stands for isn't known here: it may have one
                StmtKind::Call { callee: Callee::Param(_), .. } => true,
                _ => pass::has_contraction(s),
            };
            own || s.blocks().into_iter().any(|b| self.any_parallel(b, links, seen))
        })
    }

    fn host_stmt(&mut self, stmt: &Stmt) -> Outcome<()> {
        match &stmt.kind {
            StmtKind::Let { var, expr, body } => {
                let loc = self.host_value(Some(*var), expr)?;
                self.set_slot(*var, Some(loc))?;
                self.host_block(body)?;
                if self.asserts() {
                    self.in_serial(|l| l.check_binding(*var, expr))?;
                }
                self.set_slot(*var, None)
            }
            StmtKind::Ancilla { var, init, release, body } => {
                let loc = self.host_storage(*var, init)?;
                self.set_slot(*var, Some(loc))?;
                self.host_block(body)?;
                if *release != rev_core::ir::Release::Dropped && self.asserts() {
                    self.in_serial(|l| l.check_release(*var, init))?;
                }
                self.set_slot(*var, None)
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.host_branches(cond, post.as_ref().unwrap_or(cond), then, otherwise)
            }
            StmtKind::While { cond, post, body } => self.host_while(cond, post, body),
            StmtKind::For { var, range, parallel, body } => match parallel {
                Some(declared) => {
                    self.flush()?;
                    let Some(product) = self.product_of(*var) else {
                        return self.parallel_loop(stmt, *var, range, declared, body);
                    };
                    self.check_shapes(&product)?;
                    let loops = |l: &mut Self| {
                        l.parallel_loop(stmt, *var, range, declared, body)?;
                        l.flush()
                    };
                    match self.library_products(&product)? {
                        Some(products) => self.by_library(products, loops),
                        None => loops(self),
                    }
                }
                None => self.host_for(*var, range, body),
            },
            StmtKind::Call { callee, direction, args } => self.host_call(callee, *direction, args),
            StmtKind::Compute { compute, body } => {
                self.host_block(compute)?;
                self.host_block(body)?;
                self.host_block(&pass::inverse_block(compute))
            }
            StmtKind::Unchecked { body } => {
                let outer = std::mem::replace(&mut self.frame_mut()?.checked, false);
                self.host_block(body)?;
                self.frame_mut()?.checked = outer;
                Ok(())
            }
            StmtKind::Inverse { body } => self.host_block(&pass::inverse_block(body)),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => self.in_serial(|l| l.stmt(stmt)),
        }
    }

    /// A value that the host knows, or a buffer that a kernel puts it in.
    fn host_value(&mut self, var: Option<VarId>, expr: &Expr) -> Outcome<Loc> {
        let settled = |l: &mut Self| {
            let value = l.eval(expr)?;
            match var {
                Some(var) => l.settle(var, value),
                None => Ok(value),
            }
        };
        match self.attempt(settled)? {
            Some(Val::Array(a)) if var.is_none() => return Ok(Loc::Array(a)),
            Some(Val::Array(_) | Val::Fill(..)) | None => {}
            Some(value) => return Ok(Loc::Value(value)),
        }
        let name = var.map_or_else(String::new, |v| self.name(v));
        let lengths = self.host_lengths(expr)?;
        self.in_serial(|l| {
            let value = with_lengths(settled(l)?, lengths);
            l.in_buffer(&name, value)
        })
    }

    /// A new buffer that holds a value.
    fn in_buffer(&mut self, name: &str, value: Val) -> Outcome<Loc> {
        let (kind, shape) = match &value {
            Val::Fill(element, shape) => (element.kind(), shape.clone()),
            Val::Array(a) => (Some(a.kind.clone()), a.shape.clone()),
            value => (value.kind(), Vec::new()),
        };
        let is_array = matches!(value, Val::Fill(..) | Val::Array(_));
        let Some(kind) = kind else {
            return Err(self.unsupported(format!("`{name}`, whose type isn't known,")));
        };
        let Some(words) = shape.iter().map(Atom::word).collect::<Option<Vec<Word>>>() else {
            return Err(self.unsupported(format!("`{name}`, an array whose length the host doesn't know,")));
        };
        let buffer = self.new_buffer(name, &kind, shape.len());
        self.step_host(Step::Allocate { buffer, shape: words });
        let loc = if is_array {
            Loc::Array(self.buffer_array(buffer, &kind, shape)?)
        } else {
            self.buffer_value(buffer, &kind)?
        };
        let zero = match &value {
            Val::Fill(element, _) => element.atoms().iter().all(|a| a.bits() == Some(0)),
            Val::Array(_) => false,
            value => value.atoms().iter().all(|a| a.bits() == Some(0)),
        };
        // buffers start with zeros
        if !zero {
            self.store(&loc, value)?;
        }
        Ok(loc)
    }

    fn host_storage(&mut self, var: VarId, init: &Expr) -> Outcome<Loc> {
        let name = self.name(var);
        let lengths = self.host_lengths(init)?;
        self.in_serial(|l| {
            let value = l.eval(init)?;
            let value = with_lengths(l.settle(var, value)?, lengths);
            match value {
                Val::Function(_) | Val::None => Ok(Loc::Value(value)),
                Val::EmptyStack(kind) => l.host_stack(&name, kind),
                value => l.in_buffer(&name, value),
            }
        })
    }

    /// A stack that lives from kernel to kernel.
    fn host_stack(&mut self, name: &str, kind: Option<ArgumentType>) -> Outcome<Loc> {
        let Some(kind) = kind else {
            return Err(self.unsupported(format!("the stack `{name}`, whose type isn't known,")));
        };
        let capacity = self.options.stack_capacity;
        let buffer = self.new_buffer(name, &kind, 1);
        self.plan.buffers[buffer.0 as usize].stack = true;
        self.step_host(Step::Allocate { buffer, shape: vec![Word::Const(capacity as i64)] });
        self.buffer_stack(buffer, &kind, Atom::index(capacity))
    }

    fn host_call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> Outcome<()> {
        if self.asserts() {
            self.in_serial(|l| l.check_arguments_apart(args))?;
        }
        // what the host doesn't know of the arguments is bound first
        let mut bound = Vec::new();
        for arg in args {
            bound.push(match &arg.value {
                ArgValue::Expr(e) => Some(self.host_value(None, e)?),
                ArgValue::Place(p) => self.host_place(p)?,
            });
        }
        let bound = self.bind_call(callee, direction, args, bound)?;
        self.run_callee(bound, &|l, f| l.host_block(&f.body))
    }

    /// Where a place is, when the host has to read its indices back first; nothing where it needn't.
    pub fn host_place(&mut self, place: &Place) -> Outcome<Option<Loc>> {
        if let Some(loc) = self.attempt(|l| l.locate(place))? {
            return Ok(Some(loc));
        }
        let mut indices = Vec::new();
        for e in place.indices() {
            let word = self.read_back_one(|l| l.index(e))?;
            indices.push(Atom::from_word(word, Ty::U64));
        }
        let root = self.slot(place.var)?;
        self.locate_at(root, place, &mut indices.into_iter()).map(Some)
    }
}

/// A new array with lengths that the host knows.
fn with_lengths(value: Val, lengths: Option<Vec<Atom>>) -> Val {
    match (value, lengths) {
        (Val::Fill(element, _), Some(lengths)) => Val::Fill(element, lengths),
        (value, _) => value,
    }
}
