//! Every variable is used inside its scope only, and declared as what it is. Scopes that follow each
//! other may declare the same variable, scopes in each other may not.
//!
//! The front end can't break this rule; programs written in the text form or built by hand can.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Block, Expr, ExprKind, Function, Place, Span, Stmt, StmtKind, VarId, VarKind};

use super::context::or;

/// What is in scope at a point.
struct Scope<'a> {
    function: &'a Function,
    live: BTreeSet<VarId>,
    out: Diagnostics,
}

/// The violations; the other rules may look at a function only if there are none.
pub(super) fn check(function: &Function) -> Diagnostics {
    let params: BTreeSet<VarId> = function.params.iter().copied().collect();
    let mut scope = Scope { function, live: params, out: Diagnostics::default() };
    for var in &function.params {
        if !matches!(scope.kind(*var), Some(VarKind::Param(_))) {
            scope.fail(*var, function.span, "is listed as a parameter, but isn't one");
        }
    }
    scope.block(&function.body);
    scope.out
}

/// The violations in an expression over some variables: the result of a pure function.
pub(super) fn check_expr(function: &Function, expr: &Expr) -> Diagnostics {
    let params: BTreeSet<VarId> = function.params.iter().copied().collect();
    let mut scope = Scope { function, live: params, out: Diagnostics::default() };
    scope.expr(expr, expr.span);
    scope.out
}

impl Scope<'_> {
    fn kind(&self, var: VarId) -> Option<VarKind> {
        self.function.vars.get(var.0 as usize).map(|v| v.kind)
    }

    fn fail(&mut self, var: VarId, span: Span, what: &str) {
        let name = self.function.vars.get(var.0 as usize).map_or("?", |v| &v.name);
        self.out.push(Diagnostic::new(Code::UnknownName, span, format!("`{name}` {what}")));
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        stmt.each_expr(&mut |e| self.expr(e, stmt.span));
        stmt.each_place(&mut |p, _| self.place(p, stmt.span));
        match &stmt.kind {
            StmtKind::Let { var, body, .. } => self.within(*var, VarKind::Binding, stmt.span, body),
            StmtKind::Ancilla { var, body, .. } => self.within(*var, VarKind::Ancilla, stmt.span, body),
            StmtKind::For { var, body, parallel, .. } => {
                self.within(*var, VarKind::Index, stmt.span, body);
                for place in parallel.iter().flat_map(|p| &p.injective) {
                    self.place(place, stmt.span);
                }
                for var in parallel.iter().flat_map(|p| &p.disjoint) {
                    self.used(*var, stmt.span);
                }
            }
            StmtKind::Release { var, .. } => self.used(*var, stmt.span),
            StmtKind::Call { callee: crate::ir::Callee::Param(var), .. } => self.used(*var, stmt.span),
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => stmt.blocks().into_iter().for_each(|b| self.block(b)),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. } => {}
        }
    }

    fn within(&mut self, var: VarId, kind: VarKind, span: Span, body: &Block) {
        self.declare(var, kind, span);
        self.block(body);
        self.live.remove(&var);
    }

    fn declare(&mut self, var: VarId, kind: VarKind, span: Span) {
        if self.kind(var) != Some(kind) {
            self.fail(var, span, "is declared as something else than it is listed as");
        } else if !self.live.insert(var) {
            self.fail(var, span, "is declared inside its own scope");
        }
    }

    fn used(&mut self, var: VarId, span: Span) {
        if !self.live.contains(&var) {
            self.fail(var, span, "is used outside of its scope");
        }
    }

    fn place(&mut self, place: &Place, span: Span) {
        self.used(place.var, or(place.span, span));
        place.indices().for_each(|e| self.expr(e, span));
    }

    fn expr(&mut self, expr: &Expr, span: Span) {
        let span = or(expr.span, span);
        match &expr.kind {
            ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                self.place(p, span)
            }
            ExprKind::Block(lets, value) => {
                for (var, e) in lets {
                    self.expr(e, span);
                    self.declare(*var, VarKind::Binding, span);
                }
                self.expr(value, span);
                lets.iter().for_each(|(var, _)| {
                    self.live.remove(var);
                });
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Func(..)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::Cast(..)
            | ExprKind::If(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Contract(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => expr.each_child(&mut |e| self.expr(e, span)),
        }
    }
}
