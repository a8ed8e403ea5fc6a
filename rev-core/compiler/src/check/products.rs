//! Products that are rounded together with the sum to which they are added (`y += fused(a * b)`) stand
//! where there is such a sum; or where a product gets a name (`let x = fused(a * b)`), for the sums of the
//! adjoint.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Expr, ExprKind, Stmt, StmtKind, UpdateOp};
use crate::ops::Func;

use super::context::{or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        match (&stmt.kind, whole(stmt)) {
            (StmtKind::Update { place, .. }, Some((a, b))) => {
                [a, b].into_iter().chain(place.indices()).for_each(|e| none(stmt, e, out));
            }
            (StmtKind::Let { .. }, Some((a, b))) => [a, b].into_iter().for_each(|e| none(stmt, e, out)),
            _ => stmt.each_expr(&mut |e| none(stmt, e, out)),
        }
        stmt.each_place(&mut |p, _| p.indices().for_each(|e| none(stmt, e, out)));
    })
}

/// The factors of the product that a statement adds, subtracts or binds.
fn whole(stmt: &Stmt) -> Option<(&Expr, &Expr)> {
    match &stmt.kind {
        StmtKind::Update { op: UpdateOp::Add | UpdateOp::Sub, expr, .. } | StmtKind::Let { expr, .. } => {
            expr.fused_factors().map(|(_, a, b)| (a, b))
        }
        _ => None,
    }
}

fn none(stmt: &Stmt, e: &Expr, out: &mut Diagnostics) {
    if let ExprKind::Func(Func::Fused, _) = &e.kind {
        let message = "`fused` needs a product that is added as a whole";
        let diagnostic = Diagnostic::new(Code::FusedProduct, or(e.span, stmt.span), message);
        return out
            .push(diagnostic.help("write `y += fused(a * b);`, or `mul_add(a, b, c)` inside an expression"));
    }
    e.each_child(&mut |e| none(stmt, e, out));
}
