//! R5 and R6: conditions that a `while` loop can satisfy, and ranges that stay as they are.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Block, Expr, Range, Stmt, StmtKind};

use super::affine::Affine;
use super::context::{or, Context};
use super::overlap::Overlap;

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| match &stmt.kind {
        StmtKind::While { cond, post, body } => out.0.extend(while_loop(cx, stmt, cond, post, body)),
        StmtKind::For { range, body, .. } => {
            bounds(cx, stmt, range, body, out);
            out.0.extend(range.step.as_ref().and_then(|step| zero_step(cx, stmt, step)));
        }
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::Let { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::If { .. }
        | StmtKind::Call { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::Release { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => {}
    })
}

/// The first of the ways in which a `while` loop can't work.
fn while_loop(cx: &Context, stmt: &Stmt, cond: &Expr, post: &Expr, body: &Block) -> Option<Diagnostic> {
    let counter = "count the iterations in an ancilla that starts at 0, and use that it is above 0";
    let found = if cx.values.normal(cond) == cx.values.normal(post) {
        let message = "the postcondition is the loop's condition, but has to be false before the loop";
        Diagnostic::new(Code::ConstantPostcondition, or(post.span, stmt.span), message)
            .label(or(cond.span, stmt.span), "the loop runs while this is true")
            .help(counter)
    } else if !changes(cx, body, cond) {
        let message = "the loop's body changes nothing that its condition reads, so the loop never ends";
        Diagnostic::new(Code::ConstantCondition, or(cond.span, stmt.span), message)
    } else if !changes(cx, body, post) {
        let message = "the loop's body changes nothing that the postcondition reads, \
                       so it can't be false before the loop and true after an iteration";
        Diagnostic::new(Code::ConstantPostcondition, or(post.span, stmt.span), message).help(counter)
    } else {
        return None;
    };
    Some(found)
}

fn changes(cx: &Context, body: &Block, expr: &Expr) -> bool {
    cx.writes_to(body, std::iter::once(expr)).iter().any(|w| cx.clash(expr, w.place).is_some())
}

fn bounds(cx: &Context, stmt: &Stmt, range: &Range, body: &Block, out: &mut Diagnostics) {
    for w in cx.writes_to(body, range.exprs()) {
        for expr in range.exprs() {
            let Some(read) = cx.clash(expr, w.place) else { continue };
            let (r, w_text) = (cx.show(read), cx.show(w.place));
            let message = match cx.overlap(read, w.place) {
                Overlap::Equal => format!("`{w_text}` is changed in a loop whose range reads it"),
                Overlap::Unknown | Overlap::Distinct => {
                    format!("`{w_text}` may be the same element as `{r}`, which the range of this loop reads")
                }
            };
            out.push(
                Diagnostic::new(Code::BoundsChanged, w.span, message)
                    .label(or(read.span, or(expr.span, stmt.span)), "read by the range here")
                    .help("use a `while` loop with a postcondition, or a bound that the loop doesn't change"),
            );
        }
    }
}

fn zero_step(cx: &Context, stmt: &Stmt, step: &Expr) -> Option<Diagnostic> {
    (Affine::of(step, &cx.values).as_constant()? == 0)
        .then(|| Diagnostic::new(Code::ZeroStep, or(step.span, stmt.span), "the step of this range is 0"))
}
