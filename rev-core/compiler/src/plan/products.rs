//! Products that are rounded together with a sum. What has any is also compiled for machines with an instruction for it.

use crate::ir::{Expr, ExprKind, Stmt, StmtKind};
use crate::ops::Func;

/// Whether a statement has a product that is rounded together with a sum.
pub(super) fn has_fused_product(stmt: &Stmt) -> bool {
    names_fused_product(stmt) || stmt.blocks().into_iter().flatten().any(has_fused_product)
}

/// Whether a statement has such a product outside of parallel loops, which see to their own.
pub fn has_fused_product_outside(stmt: &Stmt) -> bool {
    let own = !matches!(&stmt.kind, StmtKind::For { parallel: Some(_), .. });
    own && (names_fused_product(stmt) || stmt.blocks().into_iter().flatten().any(has_fused_product_outside))
}

fn names_fused_product(stmt: &Stmt) -> bool {
    fn names(e: &Expr) -> bool {
        let mut found = matches!(&e.kind, ExprKind::Func(Func::Fused | Func::MulAdd, _));
        e.each_child(&mut |child| found |= names(child));
        found
    }
    let mut found = false;
    stmt.each_expr(&mut |e| found |= names(e));
    found
}
