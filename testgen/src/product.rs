//! Products and sums of whole arrays.

use rev_core::ir::*;
use rev_core::ops::{Contraction, Func};

use crate::generator::{Generator, Use};
use crate::scope::{Element, Known, Permission, What};

/// The letters of a whole array: `i` runs over the long axis, `j` over the short one, in every array.
fn letters(what: &What) -> Option<&'static str> {
    match what {
        What::Reals => Some("i"),
        What::Matrix => Some("ij"),
        What::Triple { .. } => Some("j"),
        What::Real
        | What::Complex
        | What::Int
        | What::Index(_)
        | What::Bool
        | What::Rows
        | What::Ints
        | What::Indices { .. }
        | What::Duo
        | What::Mixed
        | What::Body
        | What::Stack(_)
        | What::Depth
        | What::Narrow(_)
        | What::Function => None,
    }
}

impl Generator<'_> {
    /// `c += product` of whole arrays, or `y += s * product` where that is a number. Not in loops, where
    /// numbers would grow.
    pub(crate) fn product(&mut self) -> Option<Stmt> {
        if self.scopes.loops() > 0 {
            return None;
        }
        let op = [UpdateOp::Add, UpdateOp::Sub][self.dice.below(2)];
        if self.dice.chance(30) {
            let place = self.place(Element::Real, Use::Accumulate)?;
            let sum = self.sum_of_products(place.var, "")?;
            let expr = Expr::func(Func::Mul, vec![self.eighth(), sum]);
            return self.leaf(StmtKind::Update { op, place, expr });
        }
        let whole = |k: &&Known| {
            letters(&k.what).is_some()
                && matches!(k.permission, Permission::Full | Permission::Accumulate)
                && self.allowed(k, Use::Accumulate)
        };
        let targets: Vec<Known> = self.scopes.known.iter().filter(whole).cloned().collect();
        let target = self.dice.pick(&targets)?.clone();
        let own = letters(&target.what)?;
        let result = format!("{own}{}", self.triangle(own));
        let expr = self.sum_of_products(target.id, &result)?;
        self.leaf(StmtKind::Update { op, place: Place::var(target.id), expr })
    }

    fn triangle(&mut self, own: &str) -> &'static str {
        if own != "ij" || self.dice.chance(60) {
            return "";
        }
        [":lower", ":upper", ":strict_lower", ":strict_upper"][self.dice.below(4)]
    }

    fn sum_of_products(&mut self, target: VarId, result: &str) -> Option<Expr> {
        let whole = |k: &&Known| {
            letters(&k.what).is_some()
                && k.id != target
                && matches!(k.permission, Permission::Full | Permission::Read)
        };
        let arrays: Vec<Known> = self.scopes.known.iter().filter(whole).cloned().collect();
        let (mut text, mut factors) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.dice.below(2) {
            let array = self.dice.pick(&arrays)?.clone();
            let own = letters(&array.what)?;
            text.push(format!("{own}{}", self.triangle(own)));
            factors.push(Expr::read(Place::var(array.id)));
        }
        if !result.is_empty() {
            text.push(String::new());
            factors.push(self.eighth());
        }
        let formula = Contraction::parse(&format!("{}->{result}", text.join(","))).ok()?;
        Some(Expr::new(ExprKind::Contract(formula, factors)))
    }

    /// A factor that keeps sums small.
    fn eighth(&self) -> Expr {
        let factor = 0.125 / self.times as f64;
        Expr::new(ExprKind::Literal(Number::Float(factor), Some(Type::Generic("T".into()))))
    }
}
