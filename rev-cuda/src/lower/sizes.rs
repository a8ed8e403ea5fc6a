//! Arrays of an iteration whose length the host doesn't know before the loop runs: a kernel goes
//! through the iterations first and computes nothing but lengths, the host reads the largest of each
//! array back, and the loop's kernel gets room for that.
//!
//! That is possible where a length depends on bindings, on the variables of the loops around it, and
//! on data that the loop doesn't write. A length that depends on an ancilla of the iteration is refused.

use std::collections::HashSet;

use rev_core::ir::{
    Access, Block, Callee, Expr, ExprKind, Module, ScalarType, Stmt, StmtKind, Type, Var, VarId,
};
use rev_core::pass;

use crate::kernel::{Atomic, Inst, Op, Relation, Space, Ty};
use crate::plan::{BufferId, Step, Word};

use super::atom::Atom;
use super::builder::Builder;
use super::loops::Visits;
use super::memory::{ArrayLoc, Loc, Mem};
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome};

/// An array: the function and the variable.
pub(super) type Key = (String, VarId);

/// What is found out about lengths.
#[derive(Debug, Default)]
pub(super) struct Measure {
    /// What the loop writes: no length may depend on it.
    written: HashSet<BufferId>,
    /// For each array and axis where its largest length is.
    found: Vec<(Key, Vec<BufferId>)>,
    /// Whether the host doesn't know one of the lengths.
    unknown: bool,
}

impl Measure {
    /// Whether the loop writes a memory.
    pub fn writes(&self, mem: &Mem) -> bool {
        matches!(&mem.address, Atom::Buffer(buffer) if self.written.contains(buffer))
    }
}

/// Whether an array of run-time length is made in a statement, or in what it calls.
pub(super) fn makes_arrays(
    module: &Module,
    links: &str,
    vars: &[Var],
    stmt: &Stmt,
    seen: &mut Vec<String>,
) -> bool {
    let own = match &stmt.kind {
        StmtKind::Ancilla { var, init, .. } => is_array(init, vars.get(var.0 as usize)),
        StmtKind::Let { expr, .. } => matches!(expr.kind, ExprKind::Fill(..)),
        StmtKind::Call { callee: Callee::Param(_), .. } => true,
        StmtKind::Call { callee: Callee::Path(path), .. } => {
            let name = module.resolve(links, path.as_str()).to_string();
            if seen.contains(&name) {
                return false;
            }
            seen.push(name.clone());
            let function = module.functions.get(&name);
            function.is_some_and(|f| f.body.iter().any(|s| makes_arrays(module, &name, &f.vars, s, seen)))
        }
        _ => false,
    };
    own || stmt.blocks().into_iter().flatten().any(|s| makes_arrays(module, links, vars, s, seen))
}

/// Whether an ancilla's first value may be an array of run-time length, as far as its type doesn't say that it is a number.
fn is_array(init: &Expr, var: Option<&Var>) -> bool {
    fn number(ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) | Type::Generic(_) => true,
            Type::Complex(of) | Type::Shadow(of) => number(of),
            _ => false,
        }
    }
    match init.kind {
        ExprKind::Fill(..) => true,
        ExprKind::ZeroShadow(_) | ExprKind::ZeroLike(_) => !var.is_some_and(|v| number(&v.ty)),
        _ => false,
    }
}

impl Lower<'_> {
    /// Whether an array of run-time length is made in a statement of the current function.
    pub fn has_arrays(&self, stmt: &Stmt) -> bool {
        let (links, vars) = self.frames.last().map_or(("", &[][..]), |f| (f.links.as_str(), &f.vars));
        makes_arrays(self.module, links, vars, stmt, &mut Vec::new())
    }

    /// Finds the lengths of the arrays of a parallel loop's iterations, as far as the host doesn't
    /// know them and a kernel can. What it can't is refused where the array is made.
    pub fn measure(&mut self, var: VarId, visits: &Visits, n: &Word, body: &Block) -> Outcome<()> {
        self.sizes.clear();
        if !body.iter().any(|s| self.has_arrays(s)) {
            return Ok(());
        }
        let written = self.written_buffers(body)?;
        let saved = self.save();
        let at = (self.frame()?.span, self.frame()?.statement.clone());
        let checked = std::mem::replace(&mut self.frame_mut()?.checked, false);
        let (name, title) = self.kernel_name("sizes");
        self.builder = Some(Builder::new(name, title, self.options.block));
        self.measuring = Some(Measure { written, ..Measure::default() });
        let done = self.measure_iterations(var, visits, n, body);
        let (builder, measured) = (self.builder.take(), self.measuring.take().filter(|m| m.unknown));
        let (Ok(()), Some(builder), Some(measured)) = (done, builder, measured) else {
            self.restore(saved);
            return Ok(());
        };
        self.frame_mut()?.checked = checked;
        self.leave(at)?;
        for buffer in measured.found.iter().flat_map(|(_, buffers)| buffers) {
            self.step_host(Step::Allocate { buffer: *buffer, shape: Vec::new() });
        }
        self.launch(builder, n.clone(), None);
        for (key, buffers) in measured.found {
            let mut lengths = Vec::new();
            for buffer in buffers {
                let word = self.new_word();
                self.step_host(Step::Read { word, buffer });
                lengths.push(Word::Var(word));
            }
            self.sizes.insert(key, lengths);
        }
        Ok(())
    }

    /// The largest lengths of an array, where a kernel finds them.
    pub fn largest(&self, var: VarId) -> Option<Vec<Word>> {
        let function = self.frames.last()?.function.as_ref()?;
        self.sizes.get(&(function.name.clone(), var)).cloned()
    }

    /// The buffers of the variables that a block writes.
    fn written_buffers(&mut self, body: &Block) -> Outcome<HashSet<BufferId>> {
        let mut vars = HashSet::new();
        for stmt in body {
            stmt.each_access_deep(&mut |place, access| {
                if !matches!(access, Access::Read) {
                    vars.insert(place.var);
                }
            });
        }
        let mut buffers = HashSet::new();
        for var in vars {
            let slot = self.frame()?.slots.get(var.0 as usize).and_then(Option::clone);
            let mem = match &slot {
                Some(Loc::Array(a)) => &a.mem,
                Some(Loc::Memory(m)) => &m.mem,
                Some(Loc::Stack(s)) => &s.values.mem,
                _ => continue,
            };
            if let Atom::Buffer(buffer) = mem.address {
                buffers.insert(buffer);
            }
        }
        Ok(buffers)
    }

    fn measure_iterations(&mut self, var: VarId, visits: &Visits, n: &Word, body: &Block) -> Outcome<()> {
        let (k, _) = self.builder()?.threads();
        let inside = self.compare(Relation::Lt, &k, &Atom::from_word(n.clone(), Ty::U64))?;
        self.builder()?.begin();
        let done = self.at_iteration(var, visits, &k, |l| l.measure_block(body));
        let then = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&inside);
        self.builder()?.emit(Inst::If { cond, then, otherwise: Vec::new() });
        Ok(())
    }

    fn measure_block(&mut self, block: &Block) -> Outcome<()> {
        for stmt in block {
            if self.has_arrays(stmt) {
                let outer = self.enter(stmt)?;
                self.measure_stmt(stmt)?;
                self.leave(outer)?;
            }
        }
        Ok(())
    }

    fn measure_stmt(&mut self, stmt: &Stmt) -> Outcome<()> {
        match &stmt.kind {
            StmtKind::Let { var, expr, body } => {
                let value = self.eval(expr)?;
                let value = self.settle(*var, value)?;
                let at = match value {
                    Val::Fill(_, shape) => self.measure_array(*var, shape)?,
                    Val::Array(a) => Loc::Array(a),
                    value => Loc::Value(self.freeze(&value)),
                };
                self.set_slot(*var, Some(at))?;
                self.measure_block(body)?;
                self.set_slot(*var, None)
            }
            StmtKind::Ancilla { var, init, body, .. } => {
                // ancillas that aren't arrays have no place here, what depends on them can't be found;
                // no length depends on a shadow
                if is_array(init, None) {
                    let at = match self.eval(init)? {
                        Val::Fill(_, shape) => Some(self.measure_array(*var, shape)?),
                        Val::Array(a) => Some(self.measure_array(*var, a.shape)?),
                        shadow => Some(self.storage(*var, shadow)?),
                    };
                    self.set_slot(*var, at)?;
                }
                self.measure_block(body)?;
                self.set_slot(*var, None)
            }
            StmtKind::If { cond, then, otherwise, .. } => {
                let cond = self.truth(cond)?;
                let cond = self.builder()?.operand(&cond);
                let then = self.instructions(|l| l.measure_block(then))?;
                let otherwise = self.instructions(|l| l.measure_block(otherwise))?;
                self.builder()?.emit(Inst::If { cond, then, otherwise });
                Ok(())
            }
            StmtKind::For { var, range, body, .. } => {
                let visits = self.visits(*var, range)?;
                let name = self.name(*var);
                let step = self.builder()?.freeze(&visits.step);
                let value = self.variable(&visits.first, &name)?;
                self.repeat(&visits.count, |l| {
                    l.set_slot(*var, Some(Loc::Value(Val::real(visits.scalar, value.clone()))))?;
                    l.within_loop(&name, value.clone(), |l| l.measure_block(body))?;
                    l.set_slot(*var, None)?;
                    let next = l.op(Op::Add, value.ty(), &[value.clone(), step])?;
                    l.assign(&value, &next)
                })
            }
            StmtKind::Call { callee, direction, args } => {
                let (bound, _) = self.prepare_call(callee, *direction, args)?;
                self.run_callee(bound, &|l, f| l.measure_block(&f.body))
            }
            StmtKind::Compute { compute, body } => {
                self.measure_block(compute)?;
                self.measure_block(body)
            }
            StmtKind::While { body, .. } | StmtKind::Unchecked { body } => self.measure_block(body),
            StmtKind::Inverse { body } => self.measure_block(&pass::inverse_block(body)),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => Ok(()),
        }
    }

    /// Notes the lengths of an array, and gives an array that has them and nothing in it.
    fn measure_array(&mut self, var: VarId, shape: Vec<Atom>) -> Outcome<Loc> {
        let function = self.frame()?.function.as_ref().map_or_else(String::new, |f| f.name.clone());
        let key = (function, var);
        let shape: Vec<Atom> = {
            let builder = self.builder()?;
            shape.iter().map(|n| builder.freeze(n)).collect()
        };
        let known = self.measuring.as_ref().and_then(|m| m.found.iter().find(|(k, _)| *k == key));
        let buffers = match known {
            Some((_, buffers)) => buffers.clone(),
            None => {
                let kind = ArgumentType::Scalar(ScalarType::U64);
                let name = format!("{}_length", self.name(var));
                shape.iter().map(|_| self.new_buffer(&name, &kind, 0)).collect()
            }
        };
        if let Some(measure) = &mut self.measuring {
            measure.unknown |= shape.iter().any(|n| n.word().is_none());
            if !measure.found.iter().any(|(k, _)| *k == key) {
                measure.found.push((key, buffers.clone()));
            }
        }
        for (buffer, n) in buffers.iter().zip(&shape) {
            let mem = self.buffer_mem(*buffer, &[], None)?;
            let builder = self.builder()?;
            let to = builder.address(&mem, 0, &Atom::index(0), None);
            let value = builder.operand(n);
            builder.emit(Inst::Reduce { to, op: Atomic::Max, value, ty: Ty::U64 });
        }
        let mem = Mem {
            id: self.mem_id(),
            space: Space::Global,
            address: Atom::index(0),
            count: Atom::index(0),
            leaves: Vec::new().into(),
            header: 0,
            interleaved: None,
            read_only: true,
        };
        let kind = ArgumentType::None;
        Ok(Loc::Array(ArrayLoc {
            mem: mem.into(),
            first: Atom::index(0),
            shape,
            strides: None,
            kind,
            shared: false,
        }))
    }
}
