//! The state of type inference over one function: the types of its variables, what the program
//! asks of them, and what doesn't fit.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Class, Expr, Generic, Module, Number, Span, Type, Var, VarId};

use super::term::{Head, Term, Terms};

/// Where a function stands: its names, and its module where that is known.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub name: &'a str,
    pub generics: &'a [Generic],
    pub vars: &'a [Var],
    pub module: Option<&'a Module>,
}

/// What an operation asks of a type, decided when all types are known.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    pub term: Term,
    pub need: Need,
    /// The operation, as it is named in messages.
    pub what: String,
    pub code: Code,
    pub span: Span,
}

/// An ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Class(Class),
    /// `<`, `min`, …: integers and real numbers, and `bool`.
    Order,
    /// `/`: of fields, or the quotient of integers.
    Division,
    /// `%`: of integers and real numbers.
    Remainder,
    /// `^`: integers and `bool`.
    Bits,
    Bool,
}

/// A relation between types that needs one of them to be known.
#[derive(Clone, Debug)]
pub(super) enum Relation {
    /// The second is the type of the first one's real part.
    Real(Term, Term),
    /// The third is an element of the first.
    Element(Term, u32, Term),
}

/// The inference over one function.
pub(super) struct Solver<'a> {
    pub scope: Scope<'a>,
    pub terms: Terms,
    /// The type of each variable.
    pub vars: Vec<Term>,
    pub demands: Vec<Demand>,
    pub relations: Vec<Relation>,
    /// Literals without a type of their own.
    pub literals: Vec<(Number, Term, Span)>,
    /// The types of literals and quotients, by the address of the expression.
    pub noted: BTreeMap<usize, Term>,
    /// The types of parts of places whose whole is not known, by their path without indices.
    pub parts: BTreeMap<(VarId, String), Term>,
    /// The types of named constants.
    pub constants: BTreeMap<String, Term>,
    /// What meets something of which only rustc knows the type.
    pub open: Vec<Term>,
    pub out: Diagnostics,
}

impl<'a> Solver<'a> {
    pub fn new(scope: Scope<'a>) -> Solver<'a> {
        let mut terms = Terms::default();
        let vars = scope.vars.iter().map(|v| terms.of(&v.ty)).collect();
        Solver {
            scope,
            terms,
            vars,
            demands: Vec::new(),
            relations: Vec::new(),
            literals: Vec::new(),
            noted: BTreeMap::new(),
            parts: BTreeMap::new(),
            constants: BTreeMap::new(),
            open: Vec::new(),
            out: Diagnostics::default(),
        }
    }

    pub fn var(&mut self, var: VarId) -> Term {
        match self.vars.get(var.0 as usize) {
            Some(term) => term.clone(),
            None => self.terms.hole(),
        }
    }

    /// A type that only rustc knows.
    pub fn unknown(&mut self) -> Term {
        let term = self.terms.hole();
        self.open.push(term.clone());
        term
    }

    pub fn note(&mut self, expr: &Expr, term: &Term) {
        self.noted.insert(std::ptr::from_ref(expr) as usize, term.clone());
    }

    pub fn class(&self, ty: &Type) -> Option<Class> {
        ty.class(self.scope.generics)
    }

    /// Demands that `found` is `wanted`; otherwise reports the mismatch at `span` with `label`.
    pub fn expect(&mut self, wanted: &Term, found: &Term, span: Span, label: Option<(Span, &str)>) -> bool {
        if self.terms.unify(wanted, found) {
            return true;
        }
        let (w, f) = (self.terms.resolve(wanted), self.terms.resolve(found));
        let message = format!("expected `{w}`, found `{f}`");
        let mut d = Diagnostic::new(Code::TypeMismatch, span, message);
        if let Some((other, text)) = label.filter(|(other, _)| other.is_some() && *other != span) {
            d = d.label(other, format!("{text} `{w}`"));
        }
        self.out.push(match conversion(&w, self.class(&w), self.class(&f)) {
            Some(help) => d.help(help),
            None => d,
        });
        false
    }

    pub fn demand(&mut self, term: &Term, need: Need, what: impl Into<String>, code: Code, span: Span) {
        self.demands.push(Demand { term: term.clone(), need, what: what.into(), code, span })
    }

    /// Settles the relations that can be, until none can.
    pub fn settle(&mut self) {
        loop {
            let before = self.relations.len();
            for relation in std::mem::take(&mut self.relations) {
                if !self.settled(&relation) {
                    self.relations.push(relation);
                }
            }
            if self.relations.len() == before {
                return;
            }
        }
    }

    fn settled(&mut self, relation: &Relation) -> bool {
        match relation {
            Relation::Real(whole, part) => match self.real_part(whole) {
                Some(real) => {
                    self.terms.unify(part, &real);
                    true
                }
                None => false,
            },
            Relation::Element(tuple, k, element) => match self.terms.shallow(tuple) {
                Term::Node(Head::Tuple, parts) => {
                    if let Some(part) = parts.get(*k as usize) {
                        self.terms.unify(part, element);
                    }
                    true
                }
                _ => false,
            },
        }
    }

    /// The type of the real part: of a complex number its real type, of a real number itself.
    pub fn real_part(&mut self, whole: &Term) -> Option<Term> {
        match self.terms.shallow(whole) {
            Term::Node(Head::Complex, parts) => parts.first().cloned(),
            Term::Node(Head::Shadow, parts) => Some(Term::shadow(self.real_part(parts.first()?)?)),
            Term::Leaf(ty) => match self.class(&ty) {
                Some(Class::Real | Class::Integer) => Some(Term::Leaf(ty)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// How a value of the class `found` becomes one of the type `wanted`.
fn conversion(wanted: &Type, class: Option<Class>, found: Option<Class>) -> Option<String> {
    match (wanted, class, found) {
        (Type::Generic(name), Some(Class::Ring | Class::Field | Class::Real), Some(Class::Integer)) => {
            Some(format!("convert it: `{name}::from_usize(...)`"))
        }
        (Type::Scalar(_), Some(Class::Integer), Some(Class::Integer))
        | (Type::Scalar(_), Some(Class::Real), Some(Class::Integer | Class::Real)) => {
            Some(format!("convert it: `... as {wanted}`"))
        }
        _ => None,
    }
}
