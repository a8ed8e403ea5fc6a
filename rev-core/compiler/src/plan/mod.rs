//! The plan: what is emitted of a function, as data. Backends that print programs ask it and decide nothing.

mod alike;
mod lanes;
mod vary;
mod width;
mod work;

use std::collections::BTreeSet;

use crate::ir::{Block, ExprKind, Function, Place, StmtKind, Type, VarId};

pub use alike::{keeps, Alike};
pub use lanes::{counts, is_laned, is_own_part, passes, Lanes};
pub use vary::Varying;
pub use width::{width, Width};
pub use work::{Arithmetic, Count, Work};

/// The variables of a function that are arrays of run-time shape, which are reached through handles.
pub fn handles(function: &Function) -> BTreeSet<VarId> {
    let array = |var: &VarId| is_array(&function.var(*var).ty);
    let mut found: BTreeSet<VarId> = function.params.iter().copied().filter(array).collect();
    add_arrays(&function.body, &mut found);
    found
}

fn is_array(ty: &Type) -> bool {
    match ty {
        Type::Array(..) => true,
        Type::Shadow(t) => is_array(t),
        _ => false,
    }
}

/// Adds the ancillas that start as arrays. Their types may be unknown.
fn add_arrays(block: &Block, found: &mut BTreeSet<VarId>) {
    for stmt in block {
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
        stmt.blocks().into_iter().for_each(|b| add_arrays(b, found));
    }
}
