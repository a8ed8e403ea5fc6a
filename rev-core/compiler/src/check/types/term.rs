//! Types with holes, and the unification that fills them.
//!
//! A hole is a type that isn't known yet: of a literal, of a binding without an annotation, of a
//! field of a struct that only the Rust compiler has seen. Holes that stay unfilled are
//! [`Type::Unknown`]; nothing is ever an error because of one.

use std::collections::BTreeMap;

use crate::ir::{Length, Rank, ScalarType, Type};

/// A type with holes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// A hole.
    Hole(usize),
    /// A scalar, a scalar type parameter or a function.
    Leaf(Type),
    /// A type made of others.
    Node(Head, Vec<Term>),
}

/// What a type is made by.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Head {
    Complex,
    Array(Rank),
    Fixed(Length),
    Tuple,
    Struct(String),
    Stack,
    Shadow,
}

impl Term {
    pub const INDEX: Term = Term::Leaf(Type::INDEX);
    pub const BOOL: Term = Term::Leaf(Type::BOOL);

    pub fn scalar(ty: ScalarType) -> Term {
        Term::Leaf(Type::Scalar(ty))
    }

    pub fn shadow(of: Term) -> Term {
        Term::Node(Head::Shadow, vec![of])
    }

    pub fn array(of: Term, rank: u8) -> Term {
        Term::Node(Head::Array(Rank::Fixed(rank)), vec![of])
    }
}

/// The holes of a function and what they are filled with.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    filled: Vec<Option<Term>>,
}

impl Terms {
    /// A new hole.
    pub fn hole(&mut self) -> Term {
        self.filled.push(None);
        Term::Hole(self.filled.len() - 1)
    }

    /// A type as a term; what is unknown in it becomes a hole.
    pub fn of(&mut self, ty: &Type) -> Term {
        self.instance(ty, &BTreeMap::new())
    }

    /// The same, with type parameters replaced.
    pub fn instance(&mut self, ty: &Type, parameters: &BTreeMap<String, Term>) -> Term {
        let mut one = |head, ty: &Type| Term::Node(head, vec![self.instance(ty, parameters)]);
        match ty {
            Type::Scalar(_) => Term::Leaf(ty.clone()),
            Type::Generic(name) => parameters.get(name).cloned().unwrap_or_else(|| Term::Leaf(ty.clone())),
            Type::Function(name) => {
                parameters.get(name.as_str()).cloned().unwrap_or_else(|| Term::Leaf(ty.clone()))
            }
            Type::Complex(t) => one(Head::Complex, t),
            Type::Array(t, rank) => one(Head::Array(*rank), t),
            Type::Fixed(t, length) => one(Head::Fixed(length.clone()), t),
            Type::Stack(t) => one(Head::Stack, t),
            Type::Shadow(t) => one(Head::Shadow, t),
            Type::Tuple(ts) => self.node(Head::Tuple, ts, parameters),
            Type::Struct(name, ts) => self.node(Head::Struct(name.clone()), ts, parameters),
            Type::Unknown => self.hole(),
        }
    }

    fn node(&mut self, head: Head, parts: &[Type], parameters: &BTreeMap<String, Term>) -> Term {
        Term::Node(head, parts.iter().map(|t| self.instance(t, parameters)).collect())
    }

    /// The term with its outermost hole replaced by what fills it.
    pub fn shallow(&self, term: &Term) -> Term {
        let mut term = term;
        while let Term::Hole(k) = term {
            match &self.filled[*k] {
                Some(inner) => term = inner,
                None => break,
            }
        }
        term.clone()
    }

    /// The holes that are left in a term.
    pub fn holes(&self, term: &Term) -> Vec<usize> {
        match self.shallow(term) {
            Term::Hole(k) => vec![k],
            Term::Leaf(_) => Vec::new(),
            Term::Node(_, parts) => parts.iter().flat_map(|t| self.holes(t)).collect(),
        }
    }

    /// The type that a term stands for, unknown where a hole isn't filled.
    pub fn resolve(&self, term: &Term) -> Type {
        match self.shallow(term) {
            Term::Hole(_) => Type::Unknown,
            Term::Leaf(ty) => ty,
            Term::Node(head, parts) => {
                let mut parts: Vec<Type> = parts.iter().map(|t| self.resolve(t)).collect();
                let mut first = || Box::new(if parts.is_empty() { Type::Unknown } else { parts.remove(0) });
                match head {
                    Head::Complex => Type::Complex(first()),
                    Head::Array(rank) => Type::Array(first(), rank),
                    Head::Fixed(length) => Type::Fixed(first(), length),
                    Head::Stack => Type::Stack(first()),
                    Head::Shadow => Type::Shadow(first()),
                    Head::Tuple => Type::Tuple(parts),
                    Head::Struct(name) => Type::Struct(name, parts),
                }
            }
        }
    }

    /// Fills holes so that both terms are the same type; false when they surely can't be.
    pub fn unify(&mut self, a: &Term, b: &Term) -> bool {
        match (self.shallow(a), self.shallow(b)) {
            (Term::Hole(i), Term::Hole(j)) if i == j => true,
            (Term::Hole(i), other) | (other, Term::Hole(i)) => {
                // A hole in a type made of itself stays unknown.
                if !self.contains(&other, i) {
                    self.filled[i] = Some(other);
                }
                true
            }
            (Term::Leaf(a), Term::Leaf(b)) => a == b,
            (Term::Node(f, xs), Term::Node(g, ys)) if (f == Head::Shadow) == (g == Head::Shadow) => {
                self.unify_nodes(&f, &xs, &g, &ys)
            }
            // Shadows occur in derived programs only, where in a second derivative the shadow of a
            // shadow is one of the value.
            (Term::Node(Head::Shadow, xs), y) | (y, Term::Node(Head::Shadow, xs)) => self.unify(&xs[0], &y),
            (Term::Node(Head::Struct(_), _), _) | (_, Term::Node(Head::Struct(_), _)) => true,
            (Term::Node(..), _) | (_, Term::Node(..)) => false,
        }
    }

    fn unify_nodes(&mut self, f: &Head, xs: &[Term], g: &Head, ys: &[Term]) -> bool {
        match agree(f, g) {
            Agreement::No => false,
            Agreement::Perhaps => true,
            Agreement::Yes => xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| self.unify(x, y)),
        }
    }

    fn contains(&self, term: &Term, hole: usize) -> bool {
        match self.shallow(term) {
            Term::Hole(k) => k == hole,
            Term::Leaf(_) => false,
            Term::Node(_, parts) => parts.iter().any(|t| self.contains(t, hole)),
        }
    }
}

enum Agreement {
    Yes,
    No,
    Perhaps,
}

/// A struct's name may be an alias of any type, a named length may have any value, and arrays are
/// passed where slices are asked for.
fn agree(f: &Head, g: &Head) -> Agreement {
    let yes = |yes| if yes { Agreement::Yes } else { Agreement::No };
    match (f, g) {
        (Head::Struct(a), Head::Struct(b)) if a == b => Agreement::Yes,
        (Head::Struct(_), _) | (_, Head::Struct(_)) => Agreement::Perhaps,
        (Head::Fixed(Length::Literal(n)), Head::Fixed(Length::Literal(m))) => yes(n == m),
        (Head::Fixed(_), Head::Fixed(_)) => Agreement::Yes,
        (Head::Array(Rank::Fixed(n)), Head::Array(Rank::Fixed(m))) => yes(n == m),
        (Head::Array(_), Head::Array(_)) => Agreement::Yes,
        (Head::Array(Rank::Fixed(1) | Rank::Dynamic), Head::Fixed(_)) => Agreement::Yes,
        (Head::Fixed(_), Head::Array(Rank::Fixed(1) | Rank::Dynamic)) => Agreement::Yes,
        (a, b) => yes(a == b),
    }
}
