//! Index expressions as affine forms `c + Σ k·a` over atoms `a`, so that `2 * i + j` and
//! `j + i + i` are seen to be equal.

use crate::ir::{Expr, ExprKind, Number};
use crate::ops::Func;

use super::overlap::Values;

/// `constant + Σ coefficient · atom`; no atom occurs twice and no coefficient is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affine {
    constant: i128,
    terms: Vec<(i128, Expr)>,
}

/// How far bindings are looked into: a bound for malformed programs, whose bindings may be cyclic.
const DEPTH: u32 = 16;

impl Affine {
    /// The form of an expression, where bindings stand for their values.
    pub fn of(expr: &Expr, values: &Values) -> Affine {
        form(expr, values, DEPTH).unwrap_or_else(|| Affine::atom(expr, values))
    }

    /// The constant that this form is, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self - other`, unless a coefficient is beyond an `i128`.
    pub fn minus(&self, other: &Affine) -> Option<Affine> {
        self.plus(&other.times(-1)?)
    }

    fn constant(constant: i128) -> Affine {
        Affine { constant, terms: Vec::new() }
    }

    fn atom(expr: &Expr, values: &Values) -> Affine {
        Affine { constant: 0, terms: vec![(1, values.normal(expr))] }
    }

    fn plus(&self, other: &Affine) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (k, atom) in &other.terms {
            match sum.terms.iter_mut().find(|(_, a)| a == atom) {
                Some((own, _)) => *own = own.checked_add(*k)?,
                None => sum.terms.push((*k, atom.clone())),
            }
        }
        sum.terms.retain(|(k, _)| *k != 0);
        Some(sum)
    }

    fn times(&self, factor: i128) -> Option<Affine> {
        if factor == 0 {
            return Some(Affine::default());
        }
        let terms = self.terms.iter().map(|(k, a)| Some((k.checked_mul(factor)?, a.clone())));
        Some(Affine { constant: self.constant.checked_mul(factor)?, terms: terms.collect::<Option<_>>()? })
    }
}

fn form(expr: &Expr, values: &Values, depth: u32) -> Option<Affine> {
    match &expr.kind {
        ExprKind::Literal(Number::Int(v), _) => Some(Affine::constant(*v)),
        ExprKind::Read(p) if p.path.is_empty() && depth > 0 => {
            values.binding(p.var).and_then(|e| form(e, values, depth - 1))
        }
        ExprKind::Func(func, args) => {
            let parts: Vec<Affine> = args
                .iter()
                .map(|e| form(e, values, depth).unwrap_or_else(|| Affine::atom(e, values)))
                .collect();
            combined(*func, &parts)
        }
        ExprKind::Read(_)
        | ExprKind::Literal(Number::Float(_) | Number::Bool(_), _)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Len(..)
        | ExprKind::Pure(..)
        | ExprKind::Partials(..)
        | ExprKind::Cast(..)
        | ExprKind::If(..)
        | ExprKind::Block(..)
        | ExprKind::Element(..)
        | ExprKind::Tuple(_)
        | ExprKind::Array(_)
        | ExprKind::Repeat(..)
        | ExprKind::Contract(..)
        | ExprKind::Fill(..)
        | ExprKind::Zero(_)
        | ExprKind::ZeroShadow(_)
        | ExprKind::ZeroLike(_)
        | ExprKind::EmptyStack => None,
    }
}

/// The functions that keep a form affine.
fn combined(func: Func, parts: &[Affine]) -> Option<Affine> {
    match (func, parts) {
        (Func::Add, [a, b]) => a.plus(b),
        (Func::Sub, [a, b]) => a.minus(b),
        (Func::Neg, [a]) => a.times(-1),
        (Func::Mul, [a, b]) => product(a, b),
        (Func::MulAdd, [a, b, c]) => product(a, b)?.plus(c),
        _ => None,
    }
}

fn product(a: &Affine, b: &Affine) -> Option<Affine> {
    match (a.as_constant(), b.as_constant()) {
        (Some(k), _) => b.times(k),
        (_, Some(k)) => a.times(k),
        _ => None,
    }
}
