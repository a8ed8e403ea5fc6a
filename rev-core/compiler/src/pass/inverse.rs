//! The inverse of a program: the order of statements reversed, each replaced by its own inverse.
//!
//! It is an involution on the structure, not only on the meaning: the inverse of the inverse is
//! the same tree, spans included.

use crate::ir::{Block, Derived, Direction, Expr, Function, Range, Stmt, StmtKind};

/// The inverse of a function that has been through the uncompute pass.
pub(crate) fn inverse_function(function: &Function) -> Function {
    let name = match Derived::Inverse.source(&function.name) {
        Some(name) => name.to_string(),
        None => Derived::Inverse.of(&function.name),
    };
    Function { name, body: inverse_block(&function.body), ..function.clone() }
}

/// The inverse of a sequence of statements.
pub fn inverse_block(block: &[Stmt]) -> Block {
    block.iter().rev().map(inverse_stmt).collect()
}

fn inverse_stmt(stmt: &Stmt) -> Stmt {
    use StmtKind::*;
    let kind = match &stmt.kind {
        Update { op, place, expr } => Update { op: op.inverse(), place: place.clone(), expr: expr.clone() },
        Instr { instr, places, operands } => {
            Instr { instr: instr.row().inverse, places: places.clone(), operands: operands.clone() }
        }
        Let { var, expr, body } => Let { var: *var, expr: expr.clone(), body: inverse_block(body) },
        Ancilla { var, init, release, body } => {
            Ancilla { var: *var, init: init.clone(), release: *release, body: inverse_block(body) }
        }
        If { cond, post, then, otherwise } => inverse_if(cond, post.as_ref(), then, otherwise),
        While { cond, post, body } => {
            While { cond: post.clone(), post: cond.clone(), body: inverse_block(body) }
        }
        For { var, range, parallel, body } => For {
            var: *var,
            range: Range { reversed: !range.reversed, ..range.clone() },
            parallel: parallel.clone(),
            body: inverse_block(body),
        },
        Call { callee, direction, args } => Call {
            callee: callee.clone(),
            direction: Direction { inverse: !direction.inverse, ..*direction },
            args: args.clone(),
        },
        Compute { compute, body } => Compute { compute: compute.clone(), body: inverse_block(body) },
        Push { stack, place } => Pop { stack: stack.clone(), place: place.clone() },
        Pop { stack, place } => Push { stack: stack.clone(), place: place.clone() },
        Release { var, value } => Release { var: *var, value: value.clone() },
        External { code } => External { code: code.clone() },
        Unchecked { body } => Unchecked { body: inverse_block(body) },
        Inverse { body } => Inverse { body: inverse_block(body) },
    };
    Stmt { kind, span: stmt.span }
}

/// Without a postcondition the condition holds again after the branch, so it stays where it is.
fn inverse_if(cond: &Expr, post: Option<&Expr>, then: &Block, otherwise: &Block) -> StmtKind {
    StmtKind::If {
        cond: post.unwrap_or(cond).clone(),
        post: post.map(|_| cond.clone()),
        then: inverse_block(then),
        otherwise: inverse_block(otherwise),
    }
}
