//! A program as it is run without checks: no assertions, compute parts written out.

use crate::ir::{Block, Expr, Function, Release, Stmt, StmtKind};
use crate::pass::{fresh_names, inverse_block};

/// The function without what only checks are for: postconditions, what ancillas hold at their
/// release, blocks without checks (nothing is checked anywhere). `compute A { B }` becomes the
/// statements `A; B; A⁻¹`, of which the last ones may be dead.
pub fn plain(function: &Function) -> Function {
    let mut out = Function { checks: false, body: Vec::new(), ..function.clone() };
    out.body = block(&mut out, &function.body);
    out
}

fn block(out: &mut Function, statements: &[Stmt]) -> Block {
    statements.iter().flat_map(|s| stmt(out, s)).collect()
}

fn stmt(out: &mut Function, stmt: &Stmt) -> Block {
    let kind = match &stmt.kind {
        StmtKind::Compute { compute, body } => {
            let mut all = block(out, compute);
            all.extend(block(out, body));
            let mut undo = block(out, &inverse_block(compute));
            fresh_names(out, &mut undo);
            all.extend(undo);
            return all;
        }
        StmtKind::Inverse { body } => {
            let inverse = inverse_block(body);
            return block(out, &inverse);
        }
        StmtKind::Unchecked { body } => return block(out, body),
        StmtKind::Release { .. } => return Vec::new(),
        StmtKind::Ancilla { var, init, release: _, body } => {
            let body = block(out, body);
            StmtKind::Ancilla { var: *var, init: init.clone(), release: Release::Dropped, body }
        }
        StmtKind::If { cond, post: _, then, otherwise } => {
            let (then, otherwise) = (block(out, then), block(out, otherwise));
            StmtKind::If { cond: cond.clone(), post: None, then, otherwise }
        }
        StmtKind::While { cond, post: _, body } => {
            StmtKind::While { cond: cond.clone(), post: Expr::bool(true), body: block(out, body) }
        }
        StmtKind::Let { var, expr, body } => {
            StmtKind::Let { var: *var, expr: expr.clone(), body: block(out, body) }
        }
        StmtKind::For { var, range, parallel, body } => StmtKind::For {
            var: *var,
            range: range.clone(),
            parallel: parallel.clone(),
            body: block(out, body),
        },
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::Call { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::External { .. } => stmt.kind.clone(),
    };
    vec![Stmt { kind, span: stmt.span }]
}
