//! R4: an `if` whose branches change its condition has a postcondition, which can tell them apart.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Block, Expr, ExprKind, Number, Stmt, StmtKind};

use super::context::{or, Context};
use super::overlap::Overlap;

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::If { cond, post, then, otherwise } = &stmt.kind {
            match post {
                None => [then, otherwise].into_iter().for_each(|b| unchanged(cx, stmt, cond, b, out)),
                Some(post) => out.0.extend(constant(stmt, post)),
            }
        }
    })
}

fn unchanged(cx: &Context, stmt: &Stmt, cond: &Expr, branch: &Block, out: &mut Diagnostics) {
    for w in cx.writes_to(branch, std::iter::once(cond)) {
        if let Some(read) = cx.clash(cond, w.place) {
            let (r, w_text) = (cx.show(read), cx.show(w.place));
            let message = match cx.overlap(read, w.place) {
                Overlap::Equal => format!("`{w_text}` is changed in a branch whose condition reads it"),
                Overlap::Unknown | Overlap::Distinct => {
                    format!("`{w_text}` may be the same element as `{r}`, which the condition of this branch reads")
                }
            };
            out.push(
                Diagnostic::new(Code::ConditionChanged, w.span, message)
                    .label(or(read.span, or(cond.span, stmt.span)), "read by the condition here")
                    .help(
                        "add a condition that is true exactly after the first branch: `#[post(...)] if ...`, \
                         or keep which way it went: `#[keep(k)] if ...`",
                    ),
            );
        }
    }
}

/// `post true` fails after the second branch, `post false` after the first.
fn constant(stmt: &Stmt, post: &Expr) -> Option<Diagnostic> {
    let (value, branch) = match post.kind {
        ExprKind::Literal(Number::Bool(true), _) => (true, "second"),
        ExprKind::Literal(Number::Bool(false), _) => (false, "first"),
        _ => return None,
    };
    let message = format!("the postcondition is always {value}, so it fails after the {branch} branch");
    Some(Diagnostic::new(Code::ConstantPostcondition, or(post.span, stmt.span), message))
}
