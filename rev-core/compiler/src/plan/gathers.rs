//! Which loops would do little in lanes but gather.
//!
//! A row of a sparse matrix, a merge of two lists, a search: each iteration goes through memory by indices of its own, as
//! often as its data says, and adds a product at most. In lanes each of these numbers would be fetched by itself, under a
//! mask, until the longest row has ended. One iteration after the other is 2 to 4 times as fast.

use crate::ir::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::ops::Instr;

use super::Varying;

/// Whether the iterations of a loop mostly gather: they differ in how often they run a loop that chooses elements by
/// what isn't a linear index, and compute nothing that takes longer than fetching a number.
pub fn mostly_gathers(varying: &Varying, body: &Block) -> bool {
    body.iter().any(|s| gathers(varying, s, false)) && !body.iter().any(computes)
}

/// Whether a statement chooses elements so in a loop, or `inside` one, of which lanes run different numbers of trips.
fn gathers(varying: &Varying, stmt: &Stmt, inside: bool) -> bool {
    // the condition of a `while` is part of each trip
    let apart = inside || matches!(stmt.kind, StmtKind::While { .. }) && varying.parts(stmt);
    let mut found = false;
    if apart {
        stmt.each_access(&mut |q, _| {
            found |= q.indices().any(|e| varying.expr(e) && !varying.is_linear(e));
        });
    }
    let inside = apart || matches!(stmt.kind, StmtKind::For { .. }) && varying.parts(stmt);
    found || stmt.blocks().into_iter().flatten().any(|s| gathers(varying, s, inside))
}

/// Whether a statement computes an elementary function, or may: in another function.
fn computes(stmt: &Stmt) -> bool {
    let mut found = match &stmt.kind {
        StmtKind::Call { .. } | StmtKind::External { .. } => true,
        StmtKind::Instr { instr, .. } => matches!(instr, Instr::Rot | Instr::Irot),
        _ => false,
    };
    stmt.each_expr(&mut |e| found |= takes_long(e));
    found || stmt.blocks().into_iter().flatten().any(computes)
}

fn takes_long(e: &Expr) -> bool {
    let mut found = match &e.kind {
        ExprKind::Func(func, _) => func.is_elementary(),
        ExprKind::Pure(..) | ExprKind::Partials(..) => true,
        _ => false,
    };
    e.each_child(&mut |c| found |= takes_long(c));
    found
}
