//! What statements ask of types.

use crate::diag::{Code, Diagnostic};
use crate::ir::{Block, Class, Expr, Place, Range, Rank, ScalarType, Stmt, StmtKind, UpdateOp, VarId};
use crate::ops::Instr;

use super::solver::{Need, Solver};
use super::term::{Head, Term};

impl Solver<'_> {
    pub fn block(&mut self, block: &Block) {
        block.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => self.update(stmt, *op, place, expr),
            StmtKind::Instr { instr, places, operands } => self.instr(stmt, *instr, places, operands),
            StmtKind::Let { var, expr, .. } => self.bind(*var, expr),
            StmtKind::Ancilla { var, init, .. } => self.bind(*var, init),
            StmtKind::If { cond, post, .. } => {
                self.condition(cond);
                post.iter().for_each(|q| self.condition(q));
            }
            StmtKind::While { cond, post, .. } => [cond, post].into_iter().for_each(|c| self.condition(c)),
            StmtKind::For { var, range, .. } => self.range(*var, range),
            StmtKind::Call { callee, direction, args } => self.call(stmt, callee, *direction, args),
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
                self.stack(stmt, stack, place)
            }
            StmtKind::Release { var, value } => self.bind(*var, value),
            StmtKind::Compute { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        self.settle();
        stmt.blocks().into_iter().for_each(|b| self.block(b));
    }

    fn update(&mut self, stmt: &Stmt, op: UpdateOp, place: &Place, expr: &Expr) {
        if self.contraction_update(place, expr) {
            return;
        }
        let (target, value) = (self.place(place), self.expr(expr));
        let span = if expr.span.is_some() { expr.span } else { stmt.span };
        self.expect(&target, &value, span, Some((place.span, "this is of type")));
        let what = format!("`{}`", op.symbol());
        match op {
            UpdateOp::Add | UpdateOp::Sub => {
                self.demand(&target, Need::Class(Class::Ring), what, Code::UpdateTarget, place.span)
            }
            UpdateOp::Xor => self.demand(&target, Need::Bits, what, Code::XorType, place.span),
        }
    }

    fn instr(&mut self, stmt: &Stmt, instr: Instr, places: &[Place], operands: &[Expr]) {
        let row = instr.row();
        let targets: Vec<Term> = places.iter().map(|p| self.place(p)).collect();
        if (places.len(), operands.len()) != (row.places, row.operands) {
            operands.iter().for_each(|e| drop(self.expr(e)));
            return self.arity(stmt.span, row.name, row.places + row.operands, places.len() + operands.len());
        }
        let label = places.first().map(|p| (p.span, "this is of type"));
        for (target, place) in targets.iter().zip(places).skip(1) {
            self.expect(&targets[0], target, place.span, label);
        }
        for e in operands {
            let found = self.expr(e);
            let (wanted, label) = match instr {
                Instr::MulInt | Instr::DivInt => (Term::scalar(ScalarType::I64), None),
                _ => (self.unshadowed(&targets[0]), label),
            };
            self.expect(&wanted, &found, e.span, label);
        }
        let need = match (instr, row.class) {
            (Instr::Flip, _) => Some(Need::Bool),
            (_, class) => class.map(Need::Class),
        };
        if let (Some(need), Some(target), Some(place)) = (need, targets.first(), places.first()) {
            self.demand(target, need, format!("`{}`", row.name), Code::FunctionClass, place.span);
        }
    }

    /// The type of values that act on places of a type: for a shadow, what it is the shadow of.
    fn unshadowed(&self, term: &Term) -> Term {
        match self.terms.shallow(term) {
            Term::Node(Head::Shadow, parts) => parts.first().cloned().unwrap_or_else(|| term.clone()),
            other => other,
        }
    }

    fn range(&mut self, var: VarId, range: &Range) {
        let index = self.var(var);
        for e in [&range.start, &range.end] {
            let found = self.expr(e);
            self.expect(&index, &found, e.span, Some((range.start.span, "the range starts at type")));
        }
        self.demand(&index, Need::Class(Class::Integer), "a range", Code::IndexType, range.start.span);
        if let Some(step) = &range.step {
            let found = self.expr(step);
            self.demand(&found, Need::Class(Class::Integer), "a step", Code::IndexType, step.span);
        }
    }

    fn stack(&mut self, stmt: &Stmt, stack: &Place, place: &Place) {
        let (found, value) = (self.place(stack), self.place(place));
        if let Term::Node(Head::Array(Rank::Fixed(2..) | Rank::Dynamic), _) = self.terms.shallow(&value) {
            let message = "a stack keeps arrays with one axis";
            let d = Diagnostic::new(Code::StackType, place.span, message);
            self.out.push(d.help("keep its elements one by one, in a loop"));
            return;
        }
        match self.terms.shallow(&found) {
            Term::Node(Head::Stack, parts)
                if matches!(self.terms.shallow(&parts[0]), Term::Node(Head::Array(_), _))
                    && matches!(self.terms.shallow(&value), Term::Node(Head::Fixed(_), _)) =>
            {
                let message = "a stack of vectors keeps arrays whose length the run gives";
                self.out.push(
                    Diagnostic::new(Code::StackType, place.span, message)
                        .help("a stack of arrays of this length keeps it: `Stack<[T; N]>`"),
                );
            }
            Term::Node(Head::Stack, parts) => {
                self.expect(
                    &parts[0],
                    &value,
                    place.span,
                    Some((stack.span, "the stack's elements are of type")),
                );
            }
            Term::Hole(_) => {
                self.terms.unify(&found, &Term::Node(Head::Stack, vec![value]));
            }
            Term::Node(Head::Struct(_) | Head::Shadow, _) => {}
            Term::Leaf(_) | Term::Node(..) => {
                let message =
                    format!("a stack is needed here, but this is of type `{}`", self.terms.resolve(&found));
                let span = if stack.span.is_some() { stack.span } else { stmt.span };
                self.out.push(
                    Diagnostic::new(Code::StackType, span, message)
                        .help("declare one: `let mut stack = Stack::new();`"),
                );
            }
        }
    }
}
