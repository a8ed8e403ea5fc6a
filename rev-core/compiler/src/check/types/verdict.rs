//! The end of inference: whether the types found can do what the program asks of them.

use std::collections::BTreeSet;

use crate::diag::{Code, Diagnostic};
use crate::ir::{Class, Number, ScalarType, Span, Type, VarKind};

use super::apply::holding;
use super::solver::{Demand, Need, Relation, Solver};
use super::term::Term;

impl Solver<'_> {
    /// Gives names of literals among themselves, of which nothing else says what type they have, Rust's defaults.
    pub fn default(&mut self) {
        self.settle();
        let is_name = |kind| matches!(kind, VarKind::Binding | VarKind::Ancilla);
        let others = self.scope.vars.iter().zip(&self.vars).filter(|(var, _)| !is_name(var.kind));
        self.open.extend(others.map(|(_, term)| term.clone()));
        for relation in &self.relations {
            match relation {
                Relation::Real(a, b) | Relation::Element(a, _, b) => self.open.extend([a.clone(), b.clone()]),
            }
        }
        let open: BTreeSet<usize> = self.open.iter().flat_map(|t| self.terms.holes(t)).collect();
        let is_real = |need: &Need| matches!(need, Need::Class(Class::Field | Class::Real));
        let mut real: BTreeSet<usize> = self
            .demands
            .iter()
            .filter(|d| is_real(&d.need))
            .flat_map(|d| self.terms.holes(&d.term))
            .collect();
        let floats = self.literals.iter().filter(|(n, ..)| matches!(n, Number::Float(_)));
        real.extend(floats.flat_map(|(_, t, _)| self.terms.holes(t)));
        for (number, term, _) in self.literals.clone() {
            let ty = match number {
                Number::Int(v) => holding(v),
                Number::Float(_) | Number::Bool(_) => ScalarType::F64,
            };
            if let [hole] = self.terms.holes(&term)[..] {
                if !open.contains(&hole) {
                    let ty = if real.contains(&hole) { ScalarType::F64 } else { ty };
                    self.terms.unify(&term, &Term::scalar(ty));
                }
            }
        }
    }

    /// Reports every demand and literal that a known type doesn't satisfy.
    pub fn verdict(&mut self) {
        self.settle();
        for demand in std::mem::take(&mut self.demands) {
            let ty = self.terms.resolve(&demand.term);
            if !self.satisfies(&ty, demand.need) {
                let d = self.unable(&demand, &ty);
                self.out.push(d);
            }
        }
        for (number, term, span) in std::mem::take(&mut self.literals) {
            let ty = self.terms.resolve(&term);
            let found = self.misfit(number, &ty, span);
            self.out.0.extend(found);
        }
    }

    fn satisfies(&self, ty: &Type, need: Need) -> bool {
        match ty {
            Type::Unknown | Type::Struct(..) | Type::Shadow(_) => return true,
            Type::Scalar(_) | Type::Generic(_) | Type::Complex(_) => {}
            Type::Array(..) | Type::Fixed(..) | Type::Tuple(_) | Type::Stack(_) | Type::Function(_) => {
                return false
            }
        }
        let Some(class) = self.class(ty) else { return true };
        match need {
            Need::Class(needed) => class.provides(needed),
            Need::Order => *ty == Type::BOOL || matches!(class, Class::Integer | Class::Real),
            Need::Division => class.provides(Class::Field) || class == Class::Integer,
            Need::Remainder => matches!(class, Class::Integer | Class::Real),
            Need::Bits => *ty == Type::BOOL || class == Class::Integer,
            Need::Bool => *ty == Type::BOOL,
        }
    }

    fn unable(&self, demand: &Demand, ty: &Type) -> Diagnostic {
        let class = self.class(ty);
        let code = match (demand.code, class) {
            // A scalar that can't be added is another matter than something that isn't a scalar.
            (Code::UpdateTarget, Some(_)) => Code::FunctionClass,
            (code, _) => code,
        };
        let bound = match (ty, class) {
            (Type::Generic(name), Some(class)) => format!("type `{name}: {class:?}`"),
            _ => format!("type `{ty}`"),
        };
        let message = format!("{} needs {}, but this is of {bound}", demand.what, needed(demand.need));
        let d = Diagnostic::new(code, demand.span, message);
        match help(demand, ty, class) {
            Some(help) => d.help(help),
            None => d,
        }
    }

    fn misfit(&self, number: Number, ty: &Type, span: Span) -> Option<Diagnostic> {
        let class = self.class(ty)?;
        let what = match (number, class) {
            (Number::Bool(_), _) => (*ty != Type::BOOL).then_some("a truth value can't be of")?,
            (Number::Int(_), Class::Scalar) => "a whole number can't be of",
            (Number::Float(_), Class::Scalar | Class::Integer | Class::Ring) => {
                "a decimal number can't be of"
            }
            (Number::Int(v), _) if !fits(v, ty) => "this number doesn't fit into",
            (Number::Int(_) | Number::Float(_), _) => return None,
        };
        Some(Diagnostic::new(Code::LiteralKind, span, format!("{what} type `{ty}`")))
    }
}

fn needed(need: Need) -> &'static str {
    match need {
        Need::Class(Class::Scalar) => "a scalar",
        Need::Class(Class::Ring) => "a number",
        Need::Class(Class::Integer) => "an integer",
        Need::Class(Class::Field) => "a real or complex number",
        Need::Class(Class::Real) => "a real number",
        Need::Order | Need::Remainder => "an integer or a real number",
        Need::Division => "a number that can be divided",
        Need::Bits => "an integer or a `bool`",
        Need::Bool => "a `bool`",
    }
}

fn help(demand: &Demand, ty: &Type, class: Option<Class>) -> Option<String> {
    match (ty, class, demand.need) {
        (Type::Array(..) | Type::Fixed(..), _, _) => Some("loop over the elements".to_string()),
        (Type::Generic(name), Some(Class::Scalar | Class::Ring | Class::Field), Need::Class(needed)) => {
            Some(format!("ask more of the type parameter: `{name}: {needed:?}`"))
        }
        (
            Type::Generic(name),
            Some(Class::Scalar | Class::Ring | Class::Field),
            Need::Order | Need::Remainder,
        ) => Some(format!("ask more of the type parameter: `{name}: Real`")),
        (Type::Generic(name), Some(Class::Scalar | Class::Ring), Need::Division) => {
            Some(format!("ask more of the type parameter: `{name}: Field`"))
        }
        (_, Some(Class::Integer), Need::Class(Class::Field | Class::Real)) => {
            Some("convert it: `... as f64`, `T::from_usize(...)`".to_string())
        }
        (_, Some(Class::Scalar), Need::Class(Class::Ring)) if *ty == Type::BOOL => {
            Some("use `^=`, `flip`, `&&` and `||` for a `bool`".to_string())
        }
        (_, Some(Class::Scalar), Need::Class(Class::Integer)) if *ty == Type::BOOL => {
            Some("use `&&`, `||` and `!` for a `bool`".to_string())
        }
        (Type::Complex(_), _, Need::Order) => {
            Some("compare a real value of it: `z.re`, `z.norm()`".to_string())
        }
        _ => None,
    }
}

/// Whether an integer type holds a value; other types hold every whole number well enough.
fn fits(v: i128, ty: &Type) -> bool {
    let Type::Scalar(s) = ty else { return true };
    match (s.signed(), s.bits()) {
        (None, _) | (Some(true), 128) => true,
        (Some(true), bits) => (-1 << (bits - 1)..1 << (bits - 1)).contains(&v),
        (Some(false), 128) => v >= 0,
        (Some(false), bits) => (0..1 << bits).contains(&v),
    }
}
