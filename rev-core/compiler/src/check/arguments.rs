//! R7: what a call writes is different from everything else that it is given.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Arg, ArgValue, Mode, Place, Span, Stmt, StmtKind};

use super::context::{at, Context};

/// A place that a call is given or that its arguments read.
struct Given<'a> {
    place: &'a Place,
    /// The mode of an argument; `None` for what arguments read.
    mode: Option<Mode>,
}

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::Call { args, .. } = &stmt.kind {
            call(cx, stmt, args, out)
        }
    })
}

fn call(cx: &Context, stmt: &Stmt, args: &[Arg], out: &mut Diagnostics) {
    let given: Vec<Given> = args.iter().flat_map(|a| places(cx, a)).collect();
    for (k, second) in given.iter().enumerate() {
        for first in &given[..k] {
            if conflict(first.mode, second.mode) && cx.same(first.place, second.place) {
                out.push(overlapping(cx, stmt, first, second))
            }
        }
    }
}

fn places<'a>(cx: &Context, arg: &'a Arg) -> Vec<Given<'a>> {
    let read = |place| Given { place, mode: None };
    match &arg.value {
        ArgValue::Place(place) => {
            let own = Given { place, mode: Some(arg.mode) };
            let indices = place.indices().flat_map(|e| cx.depends(e));
            std::iter::once(own).chain(indices.map(read)).collect()
        }
        ArgValue::Expr(e) => cx.depends(e).into_iter().map(read).collect(),
    }
}

/// Two reads don't disturb each other, nor do two accumulations.
fn conflict(a: Option<Mode>, b: Option<Mode>) -> bool {
    let reads = |m| matches!(m, None | Some(Mode::Read));
    let accumulates = |m| m == Some(Mode::Accumulate);
    !(reads(a) && reads(b) || accumulates(a) && accumulates(b))
}

fn overlapping(cx: &Context, stmt: &Stmt, first: &Given, second: &Given) -> Diagnostic {
    let (a, b) = (cx.show(first.place), cx.show(second.place));
    let message = match a == b {
        true => format!("`{b}` is given to a call that also changes it"),
        false => format!("`{b}` is given to a call together with `{a}`, which is the same storage"),
    };
    let d = Diagnostic::new(Code::OverlappingArguments, at(second.place, stmt), message)
        .label(span(first, stmt), role(first.mode));
    d.help(match first.place.is_part() || second.place.is_part() {
        true => "pass parts that don't overlap, for example `&mut a[0..k]` and `&mut a[k..n]`",
        false => "let the call change another place, an ancilla for example, and add that where it belongs",
    })
}

fn span(given: &Given, stmt: &Stmt) -> Span {
    at(given.place, stmt)
}

fn role(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Write) => "changed through this argument",
        Some(Mode::Accumulate) => "accumulated into through this argument",
        Some(Mode::Read) => "read through this argument",
        None => "read here",
    }
}
