//! Updates of an array from which a binding around them was read: `let a = x[i]; x[j] += a`.
//!
//! Whether `x[j]` is the element that the binding stands for is known when the program runs. There an update is
//! compared with what it reads itself, so what the binding stands for is written into the update: `x[j] += x[i]`.

use std::collections::BTreeSet;

use rev_compiler::check::overlap::{overlap, Overlap, Values};
use rev_compiler::ir::{Block, Expr, ExprKind, Function, Place, Stmt, StmtKind, VarId};

/// The function with bindings written out in the updates that may change what they read; but for the elements that
/// loops visit, which stay as they are.
pub(super) fn with_bindings_written_out(mut function: Function, visited: &BTreeSet<VarId>) -> Function {
    let mut bound = Bound { visited, values: Vec::new() };
    if !may_change_what_is_bound(&function.body, &mut bound) {
        return function;
    }
    let mut body = function.body.clone();
    let values = Values::of(&function);
    written_out(&mut body, &mut bound, &values);
    function.body = body;
    function
}

/// The bindings around a statement that read elements of arrays, or other such bindings.
struct Bound<'a> {
    visited: &'a BTreeSet<VarId>,
    values: Vec<(VarId, Expr)>,
}

/// Adds a binding of which an update may have to know.
fn bind(var: VarId, expr: &Expr, bound: &mut Bound) {
    let of_interest = |q: &Place| !q.path.is_empty() || is_bound(q, bound);
    if !bound.visited.contains(&var) && expr.reads().into_iter().any(of_interest) {
        let expr = in_full(expr, bound);
        bound.values.push((var, expr));
    }
}

fn is_bound(q: &Place, bound: &Bound) -> bool {
    q.path.is_empty() && bound.values.iter().any(|(var, _)| *var == q.var)
}

/// The expression with what its names stand for in their places.
fn in_full(expr: &Expr, bound: &Bound) -> Expr {
    let mut full = expr.clone();
    replace(&mut full, bound);
    full
}

fn replace(expr: &mut Expr, bound: &Bound) {
    let mut known = None;
    if let ExprKind::Read(q) = &expr.kind {
        known = bound.values.iter().find(|(var, _)| *var == q.var && q.path.is_empty());
    }
    match known {
        Some((_, value)) => expr.kind = value.kind.clone(),
        None => expr.each_child_mut(&mut |e| replace(e, bound)),
    }
}

/// The bindings that an update's right side names and that read of the same variable.
fn met<'b>(place: &'b Place, expr: &'b Expr, bound: &'b Bound<'_>) -> impl Iterator<Item = &'b Place> {
    let named =
        move |(var, _): &&(VarId, Expr)| expr.reads().iter().any(|q| q.var == *var && q.path.is_empty());
    let reads = bound.values.iter().filter(named).flat_map(|(_, value)| value.reads());
    reads.filter(move |q| q.var == place.var)
}

fn may_change_what_is_bound(block: &Block, bound: &mut Bound) -> bool {
    block.iter().any(|stmt| {
        let known = bound.values.len();
        let mut own = false;
        if let StmtKind::Update { place, expr, .. } = &stmt.kind {
            own = met(place, expr, bound).next().is_some();
        } else if let StmtKind::Let { var, expr, .. } = &stmt.kind {
            bind(*var, expr, bound);
        }
        let found = own || stmt.blocks().into_iter().any(|b| may_change_what_is_bound(b, bound));
        bound.values.truncate(known);
        found
    })
}

fn written_out(block: &mut Block, bound: &mut Bound, values: &Values) {
    for stmt in block {
        let known = bound.values.len();
        if let StmtKind::Update { place, expr, .. } = &mut stmt.kind {
            if met(place, expr, bound).any(|read| overlap(place, read, values) == Overlap::Unknown) {
                replace(expr, bound);
            }
        } else if let StmtKind::Let { var, expr, .. } = &stmt.kind {
            bind(*var, expr, bound);
        }
        Stmt::blocks_mut(stmt).into_iter().for_each(|b| written_out(b, bound, values));
        bound.values.truncate(known);
    }
}
