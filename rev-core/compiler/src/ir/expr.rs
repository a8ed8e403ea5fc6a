//! Pure expressions.

use super::{is_function_name, FunctionPath, Place, Span, Step, Type, VarId};
use crate::ops::{Contraction, Func};

/// A pure expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// A number or truth value written in a program. Two are equal if they are the same number to every program: `0.0` and
/// `-0.0` are not, `NaN` and `NaN` are.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer. Takes any number type that its context asks for.
    Int(i128),
    /// A decimal number. Takes any non-integer type that its context asks for.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (*self, *other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Number::Bool(a), Number::Bool(b)) => a == b,
            _ => false,
        }
    }
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal, with its type where it is written or known: `2.0`, `1usize`, `T::zero()`.
    /// Without one it has the type of the operand beside it.
    Literal(Number, Option<Type>),
    /// A named constant, by the path written (`PI`, `consts::MASS`); a value of its own Rust type.
    Named(String),
    /// A reversible function as an argument, by the path written.
    Function(FunctionPath),
    /// A const parameter of the function, a `usize`.
    Const(String),
    /// The value at a place.
    Read(Place),
    /// The number of elements of an array along an axis, or of all of it.
    Len(Place, Option<u32>),
    /// A function of the table of pure functions, operators among them.
    Func(Func, Vec<Expr>),
    /// A `#[pure]` function, by the path written.
    Pure(FunctionPath, Vec<Expr>),
    /// The partial derivatives of a `#[pure]` function at the arguments: a tuple with one element
    /// for each argument (where the result is a tuple: a tuple of those, one for each result).
    Partials(FunctionPath, Vec<Expr>),
    /// Conversion to a scalar type: `i as f64`, `T::from_usize(n)`. Carries no derivative from an
    /// integer; between floating-point types it carries it.
    Cast(Box<Expr>, Type),
    /// `if c { a } else { b }`: only the branch taken is evaluated.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Local names, then a value.
    Block(Vec<(VarId, Expr)>, Box<Expr>),
    /// An element of a tuple-valued expression.
    Element(Box<Expr>, u32),
    /// A tuple.
    Tuple(Vec<Expr>),
    /// `[a, b, c]`.
    Array(Vec<Expr>),
    /// `[e; N]`: a fixed-size array of equal elements (the length is a literal or const parameter).
    Repeat(Box<Expr>, Box<Expr>),
    /// An array of run-time shape with equal elements: `vec![e; n]`, `Array2::zeros((n, m))`.
    Fill(Box<Expr>, Vec<Expr>),
    /// The zero of a type: `Camera::<T>::zero()`.
    Zero(Type),
    /// A shadow of zeros, shaped like the value at a place.
    ZeroShadow(Place),
    /// Zeros of the same type and shape as the value at a place; an empty stack for a stack.
    ZeroLike(Place),
    /// An empty stack: `Stack::new()`.
    EmptyStack,
    /// A product or sum of whole arrays by a formula, with one factor for each of the formula's: a
    /// read of a place where that is an array, any expression where it is a scalar. Where the target is
    /// an array, this is the whole right side of an update; where it is a scalar, it stands in the right
    /// side of an update or in the value of a binding.
    Contract(Contraction, Vec<Expr>),
}

/// Whether expressions are the same, one by one.
pub(super) fn all_same(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
}

impl ExprKind {
    /// A constant or a function by a path alone, which of them its letters say ([`is_function_name`]).
    pub fn of_path(path: &str) -> ExprKind {
        match is_function_name(path) {
            true => ExprKind::Function(path.into()),
            false => ExprKind::Named(path.into()),
        }
    }
}

impl Expr {
    /// An expression without a source.
    pub fn new(kind: ExprKind) -> Expr {
        Expr { kind, span: Span::NONE }
    }

    /// Whether its evaluation may be an error: of an index, or of a division of integers, in a pure function too.
    pub fn can_fail(&self) -> bool {
        let mut found = match &self.kind {
            ExprKind::Func(func, _) => matches!(func, Func::Quot | Func::Rem),
            ExprKind::Pure(..) | ExprKind::Partials(..) => true,
            _ => self.named().is_some_and(|(place, _)| {
                place.path.iter().any(|step| matches!(step, Step::Index(_) | Step::Part(_)))
            }),
        };
        self.each_child(&mut |part| found |= part.can_fail());
        found
    }

    /// Whether this is the same expression, wherever both stand in the source.
    pub fn same(&self, other: &Expr) -> bool {
        use ExprKind::*;
        super::step();
        match (&self.kind, &other.kind) {
            (Literal(a, t), Literal(b, u)) => a == b && t == u,
            (Named(a), Named(b)) | (Const(a), Const(b)) => a == b,
            (Function(a), Function(b)) => a == b,
            (Read(a), Read(b)) | (ZeroShadow(a), ZeroShadow(b)) | (ZeroLike(a), ZeroLike(b)) => a.same(b),
            (Len(a, k), Len(b, l)) => k == l && a.same(b),
            (Func(f, a), Func(g, b)) => f == g && all_same(a, b),
            (Pure(f, a), Pure(g, b)) | (Partials(f, a), Partials(g, b)) => f == g && all_same(a, b),
            (Cast(a, t), Cast(b, u)) => t == u && a.same(b),
            (If(a, b, c), If(d, e, f)) => a.same(d) && b.same(e) && c.same(f),
            (Block(lets, a), Block(others, b)) => {
                let pairs = || lets.iter().zip(others);
                lets.len() == others.len() && pairs().all(|((v, a), (w, b))| v == w && a.same(b)) && a.same(b)
            }
            (Element(a, k), Element(b, l)) => k == l && a.same(b),
            (Tuple(a), Tuple(b)) | (Array(a), Array(b)) => all_same(a, b),
            (Repeat(a, n), Repeat(b, m)) => a.same(b) && n.same(m),
            (Fill(a, shape), Fill(b, other)) => a.same(b) && all_same(shape, other),
            (Zero(t), Zero(u)) => t == u,
            (EmptyStack, EmptyStack) => true,
            (Contract(f, a), Contract(g, b)) => f == g && all_same(a, b),
            (
                Literal(..) | Named(_) | Function(_) | Const(_) | Read(_) | Len(..) | Func(..) | Pure(..),
                _,
            )
            | (Partials(..) | Cast(..) | If(..) | Block(..) | Element(..) | Tuple(_), _)
            | (Array(_) | Repeat(..) | Fill(..) | Zero(_) | ZeroShadow(_) | ZeroLike(_) | EmptyStack, _)
            | (Contract(..), _) => false,
        }
    }

    /// Whether it is the value of a table: an array of numbers that are written down, or of such arrays.
    pub fn is_table(&self) -> bool {
        let number = |e: &Expr| matches!(e.kind, ExprKind::Literal(..));
        let entry = |e: &Expr| match &e.kind {
            ExprKind::Literal(..) => true,
            ExprKind::Func(Func::Complex, parts) => parts.iter().all(number),
            _ => e.is_table(),
        };
        matches!(&self.kind, ExprKind::Array(es) if es.iter().all(entry))
    }

    /// The type of a table, or of a number in one.
    pub fn table_type(&self) -> Type {
        match &self.kind {
            ExprKind::Literal(_, Some(ty)) => ty.clone(),
            ExprKind::Func(Func::Complex, parts) => {
                Type::Complex(Box::new(parts.first().map_or(Type::Unknown, Expr::table_type)))
            }
            ExprKind::Array(es) => {
                let element = es.first().map_or(Type::Unknown, Expr::table_type);
                Type::Fixed(Box::new(element), super::Length::Literal(es.len() as u64))
            }
            _ => Type::Unknown,
        }
    }

    /// The same expression at a source position.
    pub fn at(mut self, span: Span) -> Expr {
        self.span = span;
        self
    }
}
