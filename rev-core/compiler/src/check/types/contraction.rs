//! What a formula asks of the types of its arrays.

use crate::diag::{Code, Diagnostic};
use crate::ir::{Class, Expr, ExprKind, Place, Span};
use crate::ops::{Axes, Contraction, Operand};

use super::solver::{Need, Solver};
use super::term::{Head, Term};

impl Solver<'_> {
    /// The type of a product: of its elements where the target is a scalar. Where it is an array, the
    /// statement says what it is ([`Solver::contraction_update`]).
    pub fn contraction(&mut self, expr: &Expr, formula: &Contraction, factors: &[Expr]) -> Term {
        let (element, shadow) = self.factors(expr, formula, factors);
        let element = if shadow { Term::shadow(element) } else { element };
        match formula.target.rank() {
            Some(0) => element,
            Some(n) => Term::array(element, n as u8),
            None => self.unknown(),
        }
    }

    /// `place += product` of arrays: whether it is one.
    pub fn contraction_update(&mut self, place: &Place, expr: &Expr) -> bool {
        let ExprKind::Contract(formula, factors) = &expr.kind else { return false };
        if formula.target.is_scalar() {
            return false;
        }
        let target = self.place(place);
        let (element, _) = self.factors(expr, formula, factors);
        self.operand(&formula.target, &target, &element, place.span);
        self.settle();
        true
    }

    /// The type of the elements, and whether the product is one of shadows.
    fn factors(&mut self, expr: &Expr, formula: &Contraction, factors: &[Expr]) -> (Term, bool) {
        let element = self.unknown();
        let mut shadow = false;
        for (operand, factor) in formula.factors().iter().zip(factors) {
            let found = self.expr(factor);
            shadow |= matches!(self.terms.shallow(&found), Term::Node(Head::Shadow, _));
            self.operand(operand, &found, &element, factor.span);
        }
        let span = factors.first().map_or(expr.span, |f| if f.span.is_some() { f.span } else { expr.span });
        self.demand(&element, Need::Class(Class::Ring), "a product of arrays", Code::FunctionClass, span);
        self.settle();
        (element, shadow)
    }

    fn operand(&mut self, operand: &Operand, found: &Term, element: &Term, span: Span) {
        let found = self.without_shadows(found);
        match operand.axes {
            Axes::Letters(_, 0) => {
                self.expect(element, &found, span, None);
            }
            Axes::Letters(_, n) => {
                self.expect(&Term::array(element.clone(), n), &found, span, None);
            }
            Axes::All => match found {
                Term::Node(Head::Array(_) | Head::Fixed(_), parts) => {
                    self.expect(element, &parts[0], span, None);
                }
                Term::Hole(_) | Term::Node(Head::Struct(_), _) => {}
                Term::Leaf(_) | Term::Node(..) => {
                    let ty = self.terms.resolve(&found);
                    let message = format!("an array is needed here, but this is of type `{ty}`");
                    self.out.push(Diagnostic::new(Code::TypeMismatch, span, message));
                }
            },
        }
    }

    fn without_shadows(&self, term: &Term) -> Term {
        match self.terms.shallow(term) {
            Term::Node(Head::Shadow, parts) if !parts.is_empty() => self.without_shadows(&parts[0]),
            other => other,
        }
    }
}
