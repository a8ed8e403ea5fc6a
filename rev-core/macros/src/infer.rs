//! The type of an expression as far as the source alone tells it: enough to choose between integer
//! and real division, and to give `let`s without an annotation a type. The rest is
//! [`Type::Unknown`] and left to the Rust compiler.

use rev_core::ir::{Expr, ExprKind, Length, Number, Place, Rank, Step, Type, Var};
use rev_core::ops::Shape;

/// The type of an expression.
pub fn type_of(e: &Expr, vars: &[Var]) -> Type {
    match &e.kind {
        ExprKind::Literal(_, Some(t)) | ExprKind::Cast(_, t) | ExprKind::Zero(t) => t.clone(),
        ExprKind::Literal(Number::Bool(_), None) => Type::BOOL,
        ExprKind::Literal(Number::Int(_) | Number::Float(_), None) => Type::Unknown,
        ExprKind::Named(_) | ExprKind::Pure(..) | ExprKind::Partials(..) => Type::Unknown,
        ExprKind::Const(_) | ExprKind::Len(..) => Type::INDEX,
        ExprKind::Read(p) => type_of_place(p, vars),
        ExprKind::Func(f, args) => {
            let row = f.row();
            let own = || {
                first_known(args.iter().zip(row.args).filter(|(_, s)| **s == Shape::T).map(|(a, _)| a), vars)
            };
            match row.result {
                Shape::B => Type::BOOL,
                Shape::T => own(),
                Shape::R => real_part(own()),
                Shape::C => Type::Complex(Box::new(own())),
                Shape::I | Shape::S | Shape::SR | Shape::SC => Type::Unknown,
            }
        }
        ExprKind::If(_, a, b) => first_known([&**a, &**b].into_iter(), vars),
        ExprKind::Block(_, e) => type_of(e, vars),
        ExprKind::Element(e, k) => match type_of(e, vars) {
            Type::Tuple(ts) => ts.get(*k as usize).cloned().unwrap_or(Type::Unknown),
            _ => Type::Unknown,
        },
        ExprKind::Tuple(es) => Type::Tuple(es.iter().map(|e| type_of(e, vars)).collect()),
        ExprKind::Array(es) => {
            Type::Fixed(Box::new(first_known(es.iter(), vars)), Length::Literal(es.len() as u64))
        }
        ExprKind::Repeat(e, n) => match length_of(n) {
            Some(n) => Type::Fixed(Box::new(type_of(e, vars)), n),
            None => Type::Unknown,
        },
        ExprKind::Fill(e, shape) => Type::Array(Box::new(type_of(e, vars)), Rank::Fixed(shape.len() as u8)),
        ExprKind::ZeroShadow(p) => Type::Shadow(Box::new(type_of_place(p, vars))),
        ExprKind::EmptyStack => Type::Stack(Box::new(Type::Unknown)),
    }
}

fn first_known<'a>(mut es: impl Iterator<Item = &'a Expr>, vars: &[Var]) -> Type {
    es.find_map(|e| Some(type_of(e, vars)).filter(|t| *t != Type::Unknown)).unwrap_or(Type::Unknown)
}

fn length_of(n: &Expr) -> Option<Length> {
    match &n.kind {
        ExprKind::Literal(Number::Int(n), _) => u64::try_from(*n).ok().map(Length::Literal),
        ExprKind::Const(name) | ExprKind::Named(name) => Some(Length::Named(name.clone())),
        _ => None,
    }
}

fn real_part(t: Type) -> Type {
    match t {
        Type::Complex(r) => *r,
        Type::Scalar(_) => t,
        _ => Type::Unknown,
    }
}

/// The type of the value at a place.
pub fn type_of_place(p: &Place, vars: &[Var]) -> Type {
    let root = vars.get(p.var.0 as usize).map_or(Type::Unknown, |v| v.ty.clone());
    p.path.iter().fold(root, type_of_step)
}

fn type_of_step(t: Type, step: &Step) -> Type {
    match (step, t) {
        (Step::Index(_), Type::Array(e, _) | Type::Fixed(e, _)) => *e,
        (Step::Range(..), Type::Array(e, r)) => Type::Array(e, r),
        (Step::Range(..), Type::Fixed(e, _)) => Type::Array(e, Rank::Fixed(1)),
        (Step::Element(k), Type::Tuple(ts)) => ts.get(*k as usize).cloned().unwrap_or(Type::Unknown),
        (Step::Re | Step::Im, t) => real_part(t),
        (Step::Index(_) | Step::Range(..) | Step::Element(_) | Step::Field(_), _) => Type::Unknown,
    }
}
