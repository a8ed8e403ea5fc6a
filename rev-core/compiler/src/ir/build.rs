//! Building expressions: operators with the foldings of 0 and 1 that keep derived code readable.
//!
//! Only foldings that are exact for every scalar are made: `0·x` isn't folded unless the zero is a
//! derivative that vanishes identically, which is what these builders are used for.

use super::{Expr, ExprKind, Number, Place, Type};
use crate::ops::Func;

impl Expr {
    /// An integer literal that takes the type of its context.
    pub fn int(v: i128) -> Expr {
        Expr::new(ExprKind::Literal(Number::Int(v), None))
    }

    /// A decimal literal that takes the type of its context.
    pub fn float(v: f64) -> Expr {
        Expr::new(ExprKind::Literal(Number::Float(v), None))
    }

    /// A truth value.
    pub fn bool(v: bool) -> Expr {
        Expr::new(ExprKind::Literal(Number::Bool(v), None))
    }

    /// An index literal.
    pub fn index(v: usize) -> Expr {
        Expr::new(ExprKind::Literal(Number::Int(v as i128), Some(Type::INDEX)))
    }

    /// The value at a place.
    pub fn read(place: Place) -> Expr {
        let span = place.span;
        Expr { kind: ExprKind::Read(place), span }
    }

    /// An application of a table function, without folding.
    pub fn func(func: Func, args: Vec<Expr>) -> Expr {
        Expr::new(ExprKind::Func(func, args))
    }

    /// Whether it is converted to a type that isn't known: that of what it is added to. Passes make such cotangents, of values
    /// of which only rustc knows the type, while source names the types of conversions; a truth value has none, and stays.
    pub fn takes_any_type(&self) -> bool {
        matches!(self.kind, ExprKind::Cast(_, Type::Unknown))
    }

    /// The factors of a product that is to be rounded together with the sum to which it is added, and
    /// how they are multiplied.
    pub fn fused_factors(&self) -> Option<(Func, &Expr, &Expr)> {
        let ExprKind::Func(Func::Fused, args) = &self.kind else { return None };
        match args.first().map(|e| &e.kind) {
            Some(ExprKind::Func(func @ (Func::Mul | Func::Scale), factors)) => match factors.as_slice() {
                [a, b] => Some((*func, a, b)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `if self { a } else { b }`.
    pub fn choose(self, a: Expr, b: Expr) -> Expr {
        Expr::new(ExprKind::If(Box::new(self), Box::new(a), Box::new(b)))
    }

    /// Whether this is the literal `n`.
    pub fn is_number(&self, n: i32) -> bool {
        match self.kind {
            ExprKind::Literal(Number::Int(v), _) => v == i128::from(n),
            ExprKind::Literal(Number::Float(v), _) => v == f64::from(n),
            _ => false,
        }
    }
}

impl std::ops::Add for Expr {
    type Output = Expr;
    fn add(self, b: Expr) -> Expr {
        match (self.is_number(0), b.is_number(0)) {
            (true, _) => b,
            (_, true) => self,
            _ => Expr::func(Func::Add, vec![self, b]),
        }
    }
}

impl std::ops::Sub for Expr {
    type Output = Expr;
    fn sub(self, b: Expr) -> Expr {
        match (self.is_number(0), b.is_number(0)) {
            (_, true) => self,
            (true, _) => -b,
            _ => Expr::func(Func::Sub, vec![self, b]),
        }
    }
}

impl std::ops::Mul for Expr {
    type Output = Expr;
    fn mul(self, b: Expr) -> Expr {
        if self.is_number(0) || b.is_number(1) {
            self
        } else if b.is_number(0) || self.is_number(1) {
            b
        } else if self.is_number(-1) {
            -b
        } else if b.is_number(-1) {
            -self
        } else {
            Expr::func(Func::Mul, vec![self, b])
        }
    }
}

impl std::ops::Div for Expr {
    type Output = Expr;
    fn div(self, b: Expr) -> Expr {
        if b.is_number(1) || self.is_number(0) {
            self
        } else {
            Expr::func(Func::Div, vec![self, b])
        }
    }
}

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        match self.kind {
            ExprKind::Literal(Number::Int(v), ty) => {
                Expr { kind: ExprKind::Literal(Number::Int(-v), ty), span: self.span }
            }
            ExprKind::Literal(Number::Float(v), ty) => {
                Expr { kind: ExprKind::Literal(Number::Float(-v), ty), span: self.span }
            }
            ExprKind::Func(Func::Neg, mut args) if args.len() == 1 => args.remove(0),
            kind => Expr::func(Func::Neg, vec![Expr { kind, span: self.span }]),
        }
    }
}
