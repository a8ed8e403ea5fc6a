//! R2: what a binding reads stays as it is while the binding is in scope.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Block, Expr, Place, StmtKind, VarId};

use super::context::{at, or, Context, Written};
use super::overlap::Overlap;

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::Let { var, expr, body } = &stmt.kind {
            for w in cx.writes_to(body, std::iter::once(expr)) {
                if let Some(read) = cx.clash(expr, w.place).filter(|_| !is_compared(cx, expr, &w)) {
                    let read_span = or(read.span, or(expr.span, stmt.span));
                    out.push(
                        Diagnostic::new(Code::BindingChanged, w.span, message(cx, *var, read, w.place))
                            .label(read_span, format!("`{}` reads `{}` here", cx.name(*var), cx.show(read)))
                            .help(format!(
                                "end the scope of `{}` before this statement with a block of its own, \
                                 or write the result elsewhere",
                                cx.name(*var)
                            )),
                    );
                }
            }
            released(cx, *var, expr, body, out);
        }
    })
}

/// Whether the writing statement reads all of the binding's places itself that it may write: with these it is compared
/// when it runs.
fn is_compared(cx: &Context, expr: &Expr, w: &Written) -> bool {
    let pairs = cx.compared(w.stmt);
    let compared =
        |read: &Place| pairs.iter().any(|(place, other)| std::ptr::eq(*place, w.place) && other.same(read));
    let shared = |read: &&Place| cx.overlap(read, w.place) != Overlap::Distinct;
    !pairs.is_empty() && cx.depends(expr).into_iter().filter(shared).all(compared)
}

fn message(cx: &Context, var: VarId, read: &Place, written: &Place) -> String {
    let (n, r, w) = (cx.name(var), cx.show(read), cx.show(written));
    match cx.overlap(read, written) {
        Overlap::Equal => format!("`{w}` is changed while `{n}` stands for a value computed from it"),
        Overlap::Unknown | Overlap::Distinct => {
            format!("`{w}` may be the same element as `{r}`, from which `{n}` is computed")
        }
    }
}

/// A release inside the scope ends what the binding reads as well.
fn released(cx: &Context, var: VarId, expr: &Expr, body: &Block, out: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for read in expr.reads() {
        if seen.insert(read.var) {
            for stmt in cx.releases_in(body, read.var) {
                let (n, a) = (cx.name(var), cx.name(read.var));
                let message = format!("`{a}` is released while `{n}` stands for a value computed from it");
                out.push(
                    Diagnostic::new(Code::BindingChanged, stmt.span, message)
                        .label(at(read, stmt), format!("`{n}` reads `{a}` here"))
                        .help(format!("release `{a}` after the scope of `{n}`")),
                );
            }
        }
    }
}
