//! R3: an ancilla starts at a value without a derivative, which its scope doesn't change.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::facts::each_derivative_read;
use crate::ir::{Block, Expr, Release, Stmt, StmtKind, VarId};

use super::context::{at, or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::Ancilla { var, init, release, body } = &stmt.kind {
            match release {
                Release::Managed | Release::Uncomputed | Release::Checked => {
                    constant(cx, stmt, *var, init, out);
                    unchanged(cx, stmt, *var, init, body, out);
                }
                Release::Dropped => {}
            }
        }
    })
}

fn constant(cx: &Context, stmt: &Stmt, var: VarId, init: &Expr, out: &mut Diagnostics) {
    each_derivative_read(init, &mut |place| {
        if !cx.types.place(place).is_inactive(&cx.function.generics) {
            let (a, p) = (cx.name(var), cx.show(place));
            out.push(
                Diagnostic::new(
                    Code::AncillaInitActive,
                    at(place, stmt),
                    format!("the ancilla `{a}` starts at a value computed from `{p}`, which may carry a derivative"),
                )
                .help(format!("start at 0 and accumulate: `{a} += {p};`"))
                .help(format!("if `{a}` doesn't change, make it a binding, without `mut`: `let {a} = ...;`")),
            )
        }
    })
}

fn unchanged(cx: &Context, stmt: &Stmt, var: VarId, init: &Expr, body: &Block, out: &mut Diagnostics) {
    for w in cx.writes_to(body, std::iter::once(init)) {
        if let Some(read) = cx.clash(init, w.place) {
            let (a, r) = (cx.name(var), cx.show(read));
            out.push(
                Diagnostic::new(
                    Code::AncillaInitChanged,
                    w.span,
                    format!(
                        "`{}` is changed in the scope of the ancilla `{a}`, which has to return to a value \
                             computed from it",
                        cx.show(w.place)
                    ),
                )
                .label(
                    or(read.span, or(init.span, stmt.span)),
                    format!("the first value of `{a}` reads `{r}`"),
                )
                .help(format!("start `{a}` at 0 and add `{r}` to it")),
            );
        }
    }
}
