//! Statements to text.

use super::Printer;
use crate::ir::*;

impl Printer<'_> {
    /// Statements, each on a line of its own.
    pub(super) fn stmts(&mut self, block: &[Stmt]) {
        for s in block {
            self.line();
            self.stmt(s);
        }
    }

    /// `{ … }` with the statements indented.
    fn block(&mut self, block: &[Stmt]) {
        if self.heads_only {
            return self.push("{ … }");
        }
        self.push("{");
        self.indent += 1;
        self.stmts(block);
        self.indent -= 1;
        self.line();
        self.push("}");
    }

    pub(super) fn stmt(&mut self, s: &Stmt) {
        if self.encoded && s.span != Span::NONE {
            self.mark(s.span);
            self.push(" ");
        }
        match &s.kind {
            StmtKind::Update { op, place, expr } => {
                self.place(place);
                self.push(" ");
                self.push(op.symbol());
                self.push(" ");
                self.expr(expr);
            }
            StmtKind::Instr { instr, places, operands } => {
                let row = instr.row();
                let regular = places.len() == row.places && operands.len() == row.operands;
                self.push(row.name);
                self.push(if regular { "(" } else { "(; " });
                self.list(places, Self::place);
                match regular {
                    true if !operands.is_empty() => self.push(", "),
                    true => {}
                    false => self.push("; "),
                }
                self.list(operands, Self::expr);
                self.push(")");
            }
            StmtKind::Let { var, expr, body } => {
                self.binding(*var, expr);
                self.push(" ");
                self.block(body);
            }
            StmtKind::Ancilla { var, init, release, body } => {
                self.push(match release {
                    Release::Managed => "managed anc ",
                    Release::Uncomputed => "uncomputed anc ",
                    Release::Checked => "anc ",
                    Release::Dropped => "dropped anc ",
                });
                self.var(*var);
                self.var_type(*var);
                self.push(" = ");
                self.expr(init);
                self.push(" ");
                self.block(body);
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.push("if ");
                self.expr(cond);
                self.push(" ");
                self.block(then);
                if !otherwise.is_empty() {
                    self.push(" else ");
                    self.block(otherwise);
                }
                if let Some(post) = post {
                    self.push(" post ");
                    self.expr(post);
                }
            }
            StmtKind::While { cond, post, body } => {
                self.push("while ");
                self.expr(cond);
                self.push(" post ");
                self.expr(post);
                self.push(" ");
                self.block(body);
            }
            StmtKind::For { var, range, parallel, body } => {
                self.for_loop(*var, range, parallel.as_ref(), body)
            }
            StmtKind::Call { callee, direction, args } => self.call_stmt(callee, *direction, args),
            StmtKind::Compute { compute, body } => {
                self.push("compute ");
                self.block(compute);
                self.push(" do ");
                self.block(body);
            }
            StmtKind::Push { stack, place } => self.stack_stmt("push(", stack, place),
            StmtKind::Pop { stack, place } => self.stack_stmt("pop(", stack, place),
            StmtKind::Release { var, value } => {
                self.push("release ");
                self.var(*var);
                self.push(" = ");
                self.expr(value);
            }
            StmtKind::External { code } => {
                self.push("external ");
                self.quoted('"', code);
            }
            StmtKind::Unchecked { body } => {
                self.push("unchecked ");
                self.block(body);
            }
            StmtKind::Inverse { body } => {
                self.push("inverse ");
                self.block(body);
            }
        }
    }

    fn stack_stmt(&mut self, head: &str, stack: &Place, place: &Place) {
        self.push(head);
        self.place(stack);
        self.push(", ");
        self.place(place);
        self.push(")");
    }

    fn for_loop(&mut self, var: VarId, range: &Range, parallel: Option<&Parallel>, body: &[Stmt]) {
        self.push(if parallel.is_some() { "par for " } else { "for " });
        self.var(var);
        if self.vars.get(var.0 as usize).is_some_and(|v| v.ty != Type::INDEX) {
            self.var_type(var);
        }
        self.push(" in ");
        self.range(range);
        if let Some(Parallel { injective, disjoint }) = parallel {
            if !injective.is_empty() {
                self.push(" injective(");
                self.list(injective, Self::place);
                self.push(")");
            }
            if !disjoint.is_empty() {
                self.push(" disjoint(");
                self.list(disjoint, |p, v| p.var(*v));
                self.push(")");
            }
        }
        self.push(" ");
        self.block(body);
    }

    /// The values of a loop as the chain of adapters that Rust would write: `.rev()` before
    /// `.step_by(k)` counts the steps from the end. An empty `.step_by()` stands for no step.
    pub(super) fn range(&mut self, r: &Range) {
        let chained = r.step.is_some() || r.from_end || r.reversed;
        if chained {
            self.push("(");
        }
        self.expr(&r.start);
        self.push(if r.inclusive { "..=" } else { ".." });
        self.expr(&r.end);
        if !chained {
            return;
        }
        self.push(")");
        if r.from_end {
            self.push(".rev()");
        }
        if r.step.is_some() || r.from_end {
            self.push(".step_by(");
            r.step.iter().for_each(|k| self.expr(k));
            self.push(")");
        }
        if r.from_end != r.reversed {
            self.push(".rev()");
        }
    }

    fn call_stmt(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) {
        self.push(if direction.inverse { "uncall " } else { "call " });
        match direction.adjoint - u8::from(direction.transposed) {
            0 => {}
            1 => self.push("adjoint "),
            n => self.push(&format!("adjoint^{n} ")),
        }
        if direction.transposed {
            self.push("tangents ");
        }
        match callee {
            Callee::Path(path) => {
                if self.uses.contains_key(path.as_str()) {
                    self.push("fn ");
                }
                self.path(path.as_str());
            }
            Callee::Param(var) => self.var(*var),
        }
        self.push("(");
        self.list(args, Self::argument);
        self.push(")");
    }

    fn argument(&mut self, arg: &Arg) {
        match (&arg.value, arg.mode) {
            (ArgValue::Place(p), Mode::Read) => {
                self.push("&");
                self.place(p);
            }
            (ArgValue::Place(p), mode) => {
                self.mode(mode);
                self.place(p);
            }
            (ArgValue::Expr(e), Mode::Read) => self.expr(e),
            (ArgValue::Expr(e), mode) => {
                self.mode(mode);
                self.push("= ");
                self.expr(e);
            }
        }
    }
}
