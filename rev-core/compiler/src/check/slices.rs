//! A part of an array, `a[i..j]`, `x.row(i)`, is only passed to calls and to products of arrays, and nothing follows it.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Expr, ExprKind, Place, Step, Stmt, StmtKind};

use super::context::{at, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        stmt.each_place(&mut |place, _| {
            let end = place.path.len() - usize::from(takes_parts(stmt) && !place.path.is_empty());
            found(cx, stmt, place, end, out);
            place.indices().for_each(|e| inside(cx, stmt, e, out));
        });
        stmt.each_expr(&mut |e| inside(cx, stmt, e, out));
    })
}

fn takes_parts(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Update { expr, .. } => {
            matches!(&expr.kind, ExprKind::Contract(formula, _) if !formula.target.is_scalar())
        }
        other => matches!(other, StmtKind::Call { .. }),
    }
}

fn inside(cx: &Context, stmt: &Stmt, expr: &Expr, out: &mut Diagnostics) {
    // The length of a part is a value like others.
    match &expr.kind {
        ExprKind::Read(p) => found(cx, stmt, p, p.path.len(), out),
        ExprKind::Contract(_, factors) => return factors.iter().for_each(|e| factor(cx, stmt, e, out)),
        _ => {}
    }
    expr.each_child(&mut |e| inside(cx, stmt, e, out));
}

fn factor(cx: &Context, stmt: &Stmt, expr: &Expr, out: &mut Diagnostics) {
    let ExprKind::Read(p) = &expr.kind else { return inside(cx, stmt, expr, out) };
    found(cx, stmt, p, p.path.len().saturating_sub(1), out);
    p.indices().for_each(|e| inside(cx, stmt, e, out));
}

fn found(cx: &Context, stmt: &Stmt, place: &Place, end: usize, out: &mut Diagnostics) {
    if place.path[..end].iter().any(|s| matches!(s, Step::Part(_))) {
        let message =
            format!("`{}` is a part of an array, which can only be an argument of a call or a factor of a product of arrays", cx.show(place));
        out.push(Diagnostic::new(Code::RangePlace, at(place, stmt), message).help("loop over the elements"));
    }
}
