//! P1 to P3: the iterations of a parallel loop don't disturb each other. What they do to each place
//! is found by [`facts::classify`](crate::facts::classify); here its conflicts become diagnostics.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::facts::{classify, Conflict, How, Site};
use crate::ir::{accesses, Parallel, Place, Span, Stmt, StmtKind, Type, VarId};

use super::context::{or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        if let StmtKind::For { var, parallel: Some(declared), .. } = &stmt.kind {
            if let Err(conflicts) = classify(cx.function, stmt) {
                out.0.extend(conflicts.iter().map(|c| conflict(cx, *var, c)));
            }
            declarations(cx, stmt, declared, out);
        }
    })
}

fn conflict(cx: &Context, index: VarId, conflict: &Conflict) -> Diagnostic {
    let Conflict { write, other } = conflict;
    let (w, o) = (cx.show(&write.place), cx.show(&other.place));
    let i = cx.name(index);
    let whole = write.place.path.is_empty();
    let (code, message) = if [write.how, other.how].contains(&How::Stack) {
        (
            Code::ParallelStack,
            format!("the stack `{w}` is used by the iterations of the parallel loop over `{i}`"),
        )
    } else if other.how == How::Read {
        (
            Code::ReadWriteConflict,
            match whole {
                true => {
                    format!("`{w}` is changed and read by the iterations of the parallel loop over `{i}`")
                }
                false => format!(
                    "`{w}` is changed by one iteration of the parallel loop over `{i}`, \
                 and may be read as `{o}` by another"
                ),
            },
        )
    } else if whole {
        (Code::RacingWrites, format!("`{w}` is changed by every iteration of the parallel loop over `{i}`"))
    } else if write == other {
        let message =
            format!("`{w}` may be the same element in two iterations of the parallel loop over `{i}`");
        (Code::RacingWrites, message)
    } else {
        let message = format!(
            "`{w}` is changed by one iteration of the parallel loop over `{i}`, \
             and may be changed as `{o}` by another"
        );
        (Code::RacingWrites, message)
    };
    let d = Diagnostic::new(code, span(write), message);
    let d = if span(other) == span(write) { d } else { d.label(span(other), what(other.how)) };
    let d = d.label(cx.declared(index), "iterations run in any order");
    repairs(cx, write, other).into_iter().fold(d, Diagnostic::help)
}

fn span(site: &Site) -> Span {
    or(site.place.span, site.stmt)
}

fn what(how: How) -> &'static str {
    match how {
        How::Read => "read here",
        How::Accumulate(_) => "accumulated into here",
        How::Change => "changed here",
        How::Stack => "used here",
    }
}

fn repairs(cx: &Context, write: &Site, other: &Site) -> Vec<String> {
    if [write.how, other.how].contains(&How::Stack) {
        return vec!["declare the stack inside the loop, or make the loop sequential".to_string()];
    }
    let name = cx.name(write.place.var);
    let mut repairs = Vec::new();
    if let Some(array) = write.place.indices().flat_map(|e| e.reads()).find(|p| !p.path.is_empty()) {
        let array = cx.name(array.var);
        repairs.push(format!("if `{array}` holds no value twice, declare it: `#[injective({array})]`"));
    }
    if !write.place.path.is_empty() {
        repairs.push(format!("if iterations touch different elements, declare it: `#[disjoint({name})]`"));
    }
    repairs.push("otherwise only accumulate into it with `+=`, or make the loop sequential".to_string());
    repairs
}

/// Declarations are about something that the loop uses.
fn declarations(cx: &Context, stmt: &Stmt, declared: &Parallel, out: &mut Diagnostics) {
    for array in &declared.injective {
        let at = or(array.span, stmt.span);
        if !uses(stmt, array.var) {
            out.push(unused(cx, array.var, at));
        } else if !is_index_array(cx, array) {
            let message = format!("`{}` isn't an array of integers, so it holds no indices", cx.show(array));
            out.push(Diagnostic::new(Code::ParallelDeclaration, at, message));
        }
    }
    for var in &declared.disjoint {
        if !uses(stmt, *var) {
            out.push(unused(cx, *var, stmt.span));
        }
    }
}

fn unused(cx: &Context, var: VarId, at: Span) -> Diagnostic {
    let message = format!("`{}` isn't used in the loop that declares something about it", cx.name(var));
    Diagnostic::new(Code::ParallelDeclaration, at, message)
}

fn uses(stmt: &Stmt, var: VarId) -> bool {
    stmt.blocks().into_iter().any(|block| accesses(block, var))
}

fn is_index_array(cx: &Context, array: &Place) -> bool {
    match cx.types.place(array) {
        Type::Array(element, _) | Type::Fixed(element, _) => element.is_inactive(&cx.function.generics),
        Type::Unknown | Type::Struct(..) => true,
        _ => false,
    }
}
