//! Writing what inference found into a program: the types of variables and literals, and the
//! quotient of integers where `/` stands between them.

use std::collections::{BTreeMap, VecDeque};

use crate::ir::{Block, Class, Expr, ExprKind, Generic, Number, ScalarType, Type, Var};
use crate::ops::Func;

use super::solver::Solver;

/// What inference found, detached from the program that it was found in.
pub(super) struct Found {
    vars: Vec<Type>,
    /// For each literal and quotient in the order of the walk below, its type.
    exprs: VecDeque<Type>,
}

/// How much is written into the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// The types of variables, and integer quotients.
    Variables,
    /// The types of literals too, with Rust's defaults where nothing decides: `i32` and `f64`.
    Literals,
}

impl Found {
    /// What was found for the expressions of the blocks.
    pub fn new(solver: &Solver, each_expr: impl FnOnce(&mut dyn FnMut(&Expr))) -> Found {
        let types: BTreeMap<usize, Type> =
            solver.noted.iter().map(|(k, t)| (*k, solver.terms.resolve(t))).collect();
        let mut exprs = VecDeque::new();
        each_expr(&mut |e| {
            each_noted(e, &mut |e| {
                exprs
                    .push_back(types.get(&(std::ptr::from_ref(e) as usize)).cloned().unwrap_or(Type::Unknown))
            })
        });
        Found { vars: solver.vars.iter().map(|t| solver.terms.resolve(t)).collect(), exprs }
    }

    /// Completes the types of variables that are unknown in full or in part.
    pub fn vars(&self, vars: &mut [Var]) {
        for (var, ty) in vars.iter_mut().zip(&self.vars) {
            if var.ty.is_partial() {
                var.ty = ty.clone();
            }
        }
    }

    /// Completes an expression; expressions come in the same order as in [`Found::new`].
    pub fn expr(&mut self, expr: &mut Expr, generics: &[Generic], detail: Detail) {
        if is_noted(expr) {
            let ty = self.exprs.pop_front().unwrap_or(Type::Unknown);
            write(expr, ty, generics, detail);
        }
        expr.each_child_mut(&mut |e| self.expr(e, generics, detail));
    }
}

fn write(expr: &mut Expr, ty: Type, generics: &[Generic], detail: Detail) {
    match &mut expr.kind {
        ExprKind::Func(func @ Func::Div, _) if ty.class(generics) == Some(Class::Integer) => {
            *func = Func::Quot
        }
        ExprKind::Func(func @ Func::Rem, _) if ty.class(generics) == Some(Class::Real) => *func = Func::Fmod,
        ExprKind::Literal(number, own @ None) if detail == Detail::Literals => {
            *own = match (ty, number) {
                (Type::Unknown, Number::Int(v)) => Some(Type::Scalar(holding(*v))),
                (Type::Unknown, Number::Float(_)) => Some(Type::Scalar(ScalarType::F64)),
                (ty, _) => Some(ty),
            }
        }
        _ => {}
    }
}

/// The type of a whole number that takes none from what stands beside it.
pub(super) fn holding(v: i128) -> ScalarType {
    match (i32::try_from(v), i64::try_from(v)) {
        (Ok(_), _) => ScalarType::I32,
        (Err(_), Ok(_)) => ScalarType::I64,
        (Err(_), Err(_)) => ScalarType::I128,
    }
}

fn is_noted(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Literal(..) | ExprKind::Func(Func::Div | Func::Rem, _))
}

fn each_noted(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    if is_noted(e) {
        f(e);
    }
    e.each_child(&mut |e| each_noted(e, f));
}

/// Calls `f` on each outermost expression of a block, indices of places among them.
pub(super) fn each_expr(block: &Block, f: &mut dyn FnMut(&Expr)) {
    for stmt in block {
        stmt.each_expr(&mut |e| f(e));
        stmt.each_place(&mut |p, _| p.indices().for_each(&mut *f));
        stmt.blocks().into_iter().for_each(|b| each_expr(b, f));
    }
}

/// The same in the same order, to change them.
pub(super) fn each_expr_mut(block: &mut Block, f: &mut dyn FnMut(&mut Expr)) {
    for stmt in block {
        stmt.each_expr_mut(f);
        stmt.each_place_mut(&mut |p| p.each_index_mut(f));
        stmt.blocks_mut().into_iter().for_each(|b| each_expr_mut(b, f));
    }
}
