//! A program as it is run without checks: no assertions, compute parts written out.

use crate::ir::{Block, Expr, Function, Release, Stmt, StmtKind};
use crate::pass::{fresh_names, inverse_block};

/// The function without what only checks are for: postconditions, what ancillas hold at their
/// release, blocks without checks (nothing is checked anywhere). `compute A { B }` becomes the
/// statements `A; B; A⁻¹`, of which the last ones may be dead.
pub fn plain(function: &Function) -> Function {
    written(function, false)
}

/// The same with its postconditions, which its inverse and its adjoint decide by.
pub fn written_out(function: &Function) -> Function {
    written(function, true)
}

fn written(function: &Function, posts: bool) -> Function {
    let mut out = Function { checks: false, body: Vec::new(), ..function.clone() };
    let body = Plain { out: &mut out, posts }.block(&function.body);
    Function { body, ..out }
}

struct Plain<'f> {
    out: &'f mut Function,
    posts: bool,
}

impl Plain<'_> {
    fn block(&mut self, statements: &[Stmt]) -> Block {
        statements.iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Block {
        let kind = match &stmt.kind {
            StmtKind::Compute { compute, body } => {
                let mut all = self.block(compute);
                all.extend(self.block(body));
                let mut undo = self.block(&inverse_block(compute));
                fresh_names(self.out, &mut undo);
                all.extend(undo);
                return all;
            }
            StmtKind::Inverse { body } => {
                let inverse = inverse_block(body);
                return self.block(&inverse);
            }
            StmtKind::Unchecked { body } => return self.block(body),
            StmtKind::Release { .. } => return Vec::new(),
            StmtKind::Ancilla { var, init, release: _, body } => {
                let body = self.block(body);
                StmtKind::Ancilla { var: *var, init: init.clone(), release: Release::Dropped, body }
            }
            StmtKind::If { cond, post, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                StmtKind::If {
                    cond: cond.clone(),
                    post: post.clone().filter(|_| self.posts),
                    then,
                    otherwise,
                }
            }
            StmtKind::While { cond, post, body } => {
                let post = if self.posts { post.clone() } else { Expr::bool(true) };
                StmtKind::While { cond: cond.clone(), post, body: self.block(body) }
            }
            StmtKind::Let { var, expr, body } => {
                StmtKind::Let { var: *var, expr: expr.clone(), body: self.block(body) }
            }
            StmtKind::For { var, range, parallel, body } => {
                let body = self.block(body);
                let parallel = parallel.as_ref().map(|declared| declared.about(&body));
                StmtKind::For { var: *var, range: range.clone(), parallel, body }
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. } => stmt.kind.clone(),
        };
        vec![Stmt { kind, span: stmt.span }]
    }
}
