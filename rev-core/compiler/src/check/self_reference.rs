//! R1: a statement doesn't read what it writes, and changes different places.
//!
//! Only what is surely the same place is an error here; where it depends on index values, the
//! places are compared at run time.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Expr, Place, Span, Stmt, StmtKind, UpdateOp};

use super::context::{at, or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| match &stmt.kind {
        StmtKind::Update { op, place, expr } => {
            out.append(update(cx, stmt, *op, place, expr));
        }
        StmtKind::Instr { places, operands, .. } => {
            let places: Vec<&Place> = places.iter().collect();
            different(cx, stmt, &places, out);
            let operands: Vec<&Expr> = operands.iter().collect();
            places
                .iter()
                .for_each(|p| out.append(reads_target(cx, stmt, p, &operands, &places, "statement")));
        }
        StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
            let places = [stack, place];
            different(cx, stmt, &places, out);
            places.iter().for_each(|p| out.append(reads_target(cx, stmt, p, &[], &places, "statement")));
        }
        StmtKind::Let { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { .. }
        | StmtKind::Call { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Release { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => {}
    })
}

fn update(cx: &Context, stmt: &Stmt, op: UpdateOp, place: &Place, expr: &Expr) -> Diagnostics {
    let mut found = reads_target(cx, stmt, place, &[expr], &[place], "update");
    for d in &mut found.0 {
        d.help.push(repair(cx, op, place));
    }
    found
}

/// What the writer of `y += y` may have meant.
fn repair(cx: &Context, op: UpdateOp, place: &Place) -> String {
    let p = cx.show(place);
    match op {
        UpdateOp::Add => format!(
            "accumulate into another place, or use an instruction: `scale_by({p}, c)` or `mul_int({p}, k)` for a multiple, `neg({p})`"
        ),
        UpdateOp::Sub | UpdateOp::Xor => format!(
            "to bring `{p}` back to 0, uncompute it with the statements that computed it; \
             otherwise accumulate into another place"
        ),
    }
}

/// The reads of `target`, in expressions and in indices of places, as one diagnostic.
fn reads_target(
    cx: &Context,
    stmt: &Stmt,
    target: &Place,
    exprs: &[&Expr],
    places: &[&Place],
    what: &str,
) -> Diagnostics {
    let indices = places.iter().flat_map(|p| p.indices());
    let reads = exprs.iter().copied().chain(indices).flat_map(|e| cx.depends(e));
    let clashes: Vec<&Place> = reads.filter(|r| cx.same(target, r)).collect();
    let Some((first, rest)) = clashes.split_first() else { return Diagnostics::default() };
    let d = Diagnostic::new(Code::ReadsTarget, at(first, stmt), message(cx, target, first, what))
        .label(at(target, stmt), "changed here");
    rest.iter().fold(d, |d, r| d.label(at(r, stmt), "read here too")).into()
}

fn message(cx: &Context, target: &Place, read: &Place, what: &str) -> String {
    let (t, r) = (cx.show(target), cx.show(read));
    match t == r {
        true => format!("`{r}` is read by the {what} that changes it"),
        false => format!("`{r}` is read by the {what} that changes `{t}`, which is the same storage"),
    }
}

/// The places of an instruction are pairwise different.
fn different(cx: &Context, stmt: &Stmt, places: &[&Place], out: &mut Diagnostics) {
    for (k, second) in places.iter().enumerate() {
        for first in places[..k].iter().filter(|first| cx.same(first, second)) {
            out.push(same_place(cx, at(first, stmt), at(second, stmt), first, second))
        }
    }
}

fn same_place(cx: &Context, first_span: Span, span: Span, first: &Place, second: &Place) -> Diagnostic {
    let (a, b) = (cx.show(first), cx.show(second));
    let message = match a == b {
        true => format!("`{b}` is given twice"),
        false => format!("`{b}` shares storage with `{a}`"),
    };
    Diagnostic::new(Code::SamePlace, or(span, first_span), message)
        .label(first_span, "given here first")
        .help("name places that differ: an instruction changes each of them")
}
