//! Products and sums of whole arrays stand where they can be undone: an array as the whole right side
//! of `+=` or `-=`, a scalar anywhere in the right side of an update or in the value of a binding.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Expr, ExprKind, Stmt, StmtKind, UpdateOp};

use super::context::{or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        match &stmt.kind {
            StmtKind::Update { op: UpdateOp::Add | UpdateOp::Sub, expr, .. } => match &expr.kind {
                ExprKind::Contract(_, factors) => factors.iter().for_each(|e| scalars(stmt, e, out)),
                _ => scalars(stmt, expr, out),
            },
            StmtKind::Let { expr, .. } => scalars(stmt, expr, out),
            _ => stmt.each_expr(&mut |e| none(stmt, e, out)),
        }
        stmt.each_place(&mut |p, _| p.indices().for_each(|e| none(stmt, e, out)));
    })
}

/// Only products that are scalars may stand in an expression, and none in an index.
fn scalars(stmt: &Stmt, e: &Expr, out: &mut Diagnostics) {
    if let ExprKind::Contract(formula, _) = &e.kind {
        if !formula.target.is_scalar() {
            let message = "this is a whole array, which only an update of an array can take";
            report(
                stmt,
                e,
                message,
                "write `c += ...;` for it, into an ancilla where it is needed further on",
                out,
            );
        }
    }
    match &e.kind {
        ExprKind::Read(p) => p.indices().for_each(|e| none(stmt, e, out)),
        _ => e.each_child(&mut |e| scalars(stmt, e, out)),
    }
}

fn none(stmt: &Stmt, e: &Expr, out: &mut Diagnostics) {
    if let ExprKind::Contract(..) = &e.kind {
        let message = "a sum over an array can't stand here";
        return report(stmt, e, message, "bind it first: `let s = ...;`", out);
    }
    e.each_child(&mut |e| none(stmt, e, out));
}

fn report(stmt: &Stmt, e: &Expr, message: &str, help: &str, out: &mut Diagnostics) {
    out.push(Diagnostic::new(Code::ArrayProduct, or(e.span, stmt.span), message).help(help));
}
