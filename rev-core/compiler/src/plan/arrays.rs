//! Which variables are arrays of run-time shape.

use std::collections::BTreeSet;

use super::loan;
use crate::ir::{Block, ExprKind, Function, Place, StmtKind, VarId};

/// The variables of a function that are arrays of run-time shape, which are reached through handles.
pub fn handles(function: &Function) -> BTreeSet<VarId> {
    let array = |var: &VarId| function.var(*var).ty.is_array();
    let mut found: BTreeSet<VarId> = function.params.iter().copied().filter(array).collect();
    add_arrays(function, &function.body, &mut found);
    found
}

/// Adds the ancillas that start as arrays, whose types may be unknown, and the arrays that are lent.
fn add_arrays(function: &Function, block: &Block, found: &mut BTreeSet<VarId>) {
    for stmt in block {
        if let StmtKind::Let { var, .. } = &stmt.kind {
            if loan(function, *var).is_some() && function.var(*var).ty.is_array() {
                found.insert(*var);
            }
        }
        if let StmtKind::Ancilla { var, init, .. } = &stmt.kind {
            let like = |q: &Place| q.is_part() || q.path.is_empty() && found.contains(&q.var);
            let array = match &init.kind {
                ExprKind::Fill(..) => true,
                ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => like(q),
                _ => false,
            };
            if array {
                found.insert(*var);
            }
        }
        stmt.blocks().into_iter().for_each(|b| add_arrays(function, b, found));
    }
}
