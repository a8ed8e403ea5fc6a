//! Statements inside a kernel.

use rev_core::ir::{Expr, Release, Stmt, StmtKind, VarId};
use rev_core::limits::deeper;
use rev_core::pass;
use rev_core::text;

use crate::kernel::Inst;

use super::memory::Loc;
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome};

/// How many leaves a variable may have that is kept in registers.
pub(super) const REGISTER_LEAVES: usize = 32;

impl Lower<'_> {
    /// Statements one after the other.
    pub fn block(&mut self, block: &[Stmt]) -> Outcome<()> {
        deeper(|| block.iter().try_for_each(|s| self.stmt(s)))
    }

    /// A statement inside a kernel.
    pub fn stmt(&mut self, stmt: &Stmt) -> Outcome<()> {
        let outer = self.enter(stmt)?;
        if let Some(builder) = &mut self.builder {
            let frame = self.frames.last();
            let (text, span) = frame.map_or_else(Default::default, |f| (f.statement.clone(), f.span));
            builder.emit(Inst::Comment { text, span });
        }
        let done = self.stmt_kind(stmt);
        if done.is_err() {
            self.refused.note(stmt);
        }
        done?;
        self.leave(outer)
    }

    /// Notes the statement for messages; what it was before.
    pub fn enter(&mut self, stmt: &Stmt) -> Outcome<(rev_core::ir::Span, String)> {
        let frame = self.frame_mut()?;
        let statement = frame.function.as_ref().map_or_else(String::new, |f| text::headline(f, stmt));
        Ok((
            std::mem::replace(&mut frame.span, stmt.span),
            std::mem::replace(&mut frame.statement, statement),
        ))
    }

    pub fn leave(&mut self, (span, statement): (rev_core::ir::Span, String)) -> Outcome<()> {
        let frame = self.frame_mut()?;
        frame.span = span;
        frame.statement = statement;
        Ok(())
    }

    fn stmt_kind(&mut self, stmt: &Stmt) -> Outcome<()> {
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => self.update(*op, place, expr),
            StmtKind::Instr { instr, places, operands } => self.instruct(*instr, places, operands),
            StmtKind::Let { var, expr, body } => {
                let value = self.eval(expr)?;
                let value = self.settle(*var, value)?;
                let value = self.bound(*var, value)?;
                self.set_slot(*var, Some(value))?;
                self.block(body)?;
                self.check_binding(*var, expr)?;
                self.set_slot(*var, None)
            }
            StmtKind::Ancilla { var, init, release, body } => {
                let value = self.eval(init)?;
                let value = self.settle(*var, value)?;
                let loc = self.storage(*var, value)?;
                if self.asserts() {
                    self.watch(&loc)?;
                }
                self.set_slot(*var, Some(loc))?;
                self.block(body)?;
                if *release != Release::Dropped {
                    self.check_release(*var, init)?;
                }
                self.set_slot(*var, None)
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.branches(cond, post.as_ref().unwrap_or(cond), then, otherwise)
            }
            StmtKind::While { cond, post, body } => self.repeat_while(cond, post, body),
            StmtKind::For { var, range, parallel, body } => {
                if let Some(declared) = parallel {
                    self.check_injective_here(declared)?;
                }
                self.for_loop(stmt, *var, range, parallel.is_some(), body)
            }
            StmtKind::Call { callee, direction, args } => self.call(callee, *direction, args),
            StmtKind::Compute { compute, body } => {
                self.block(compute)?;
                self.block(body)?;
                self.block(&pass::inverse_block(compute))
            }
            StmtKind::Push { stack, place } => self.push(stack, place),
            StmtKind::Pop { stack, place } => self.pop(stack, place),
            StmtKind::Release { var, value } => self.check_release(*var, value),
            // it doesn't change the state
            StmtKind::External { .. } => Ok(()),
            StmtKind::Unchecked { body } => {
                let outer = std::mem::replace(&mut self.frame_mut()?.checked, false);
                self.block(body)?;
                self.frame_mut()?.checked = outer;
                Ok(())
            }
            StmtKind::Inverse { body } => self.block(&pass::inverse_block(body)),
        }
    }

    /// Where a binding's value is.
    fn bound(&mut self, var: VarId, value: Val) -> Outcome<Loc> {
        Ok(match value {
            Val::Array(_) | Val::Fill(..) => self.array_storage(&self.name(var), Some(var), value)?,
            value => Loc::Value(self.freeze(&value)),
        })
    }

    /// New storage for a variable, that holds a value.
    pub fn storage(&mut self, var: VarId, value: Val) -> Outcome<Loc> {
        let name = self.frame()?.vars.get(var.0 as usize).map_or_else(String::new, |v| v.name.clone());
        match value {
            Val::Literal(_) | Val::Choice(..) => {
                Err(self.unsupported(format!("`{name}`, whose type isn't known,")))
            }
            Val::Array(_) | Val::Fill(..) => self.array_storage(&name, Some(var), value),
            Val::EmptyStack(kind) => self.stack_storage(&name, kind),
            Val::Function(_) | Val::None => Ok(Loc::Value(value)),
            value => self.scalar_storage(&name, value),
        }
    }

    /// Registers, or local memory where there would be too many.
    fn scalar_storage(&mut self, name: &str, value: Val) -> Outcome<Loc> {
        let kind = value.kind().unwrap_or(ArgumentType::None);
        if kind.leaves().len() > REGISTER_LEAVES {
            let loc = self.local(&kind)?;
            self.store(&loc, value)?;
            return Ok(loc);
        }
        let builder = self.builder()?;
        Ok(Loc::Registers(value.map(&mut |atom| builder.variable(atom, name))))
    }

    /// The name of a variable.
    pub fn name(&self, var: VarId) -> String {
        let vars = self.frames.last().map(|f| &f.vars);
        vars.and_then(|v| v.get(var.0 as usize)).map_or_else(String::new, |v| v.name.clone())
    }

    /// Evaluates a condition as an assertion would.
    pub fn condition_text(&self, e: &Expr) -> String {
        let function = self.frames.last().and_then(|f| f.function.as_ref());
        function.map_or_else(String::new, |f| text::show(f, e).to_string())
    }
}
