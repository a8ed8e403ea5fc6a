//! Index expressions as polynomials with integer coefficients, so that `2 * i + 1`, `1 + i + i` and
//! a binding for either are the same.
//!
//! Indices are taken for mathematical integers: where an index wraps around, it is out of range.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};

use crate::ir::{Expr, VarId};

/// What a polynomial is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Atom {
    /// What it stands for.
    pub base: Base,
    /// Whether it is the value on the second side of a comparison, where that may be another one.
    pub primed: bool,
}

/// The value of an atom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// A variable.
    Var(VarId),
    /// An expression that isn't a polynomial of variables: `n / 2`, `idx[i]`, `x.len()`.
    Term(Term),
    /// A number that a comparison makes up, with bounds that it knows.
    Made(usize),
}

/// An expression without source positions, compared by its text.
#[derive(Clone, Debug)]
pub struct Term {
    key: String,
    /// The expression.
    pub expr: Expr,
}

impl Term {
    /// A term for an expression whose positions have been taken out.
    pub fn new(expr: Expr) -> Term {
        Term { key: format!("{expr:?}"), expr }
    }
}

impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        self.key == other.key
    }
}

impl Eq for Term {}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Term) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Term {
    fn cmp(&self, other: &Term) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// A product of atoms, in order.
pub type Monomial = Vec<Atom>;

/// A polynomial: the coefficient of each monomial, none of them zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, i128>,
}

impl Polynomial {
    /// A number.
    pub fn constant(c: i128) -> Polynomial {
        Polynomial::monomial(Vec::new(), c)
    }

    /// An atom.
    pub fn atom(atom: Atom) -> Polynomial {
        Polynomial::monomial(vec![atom], 1)
    }

    fn monomial(m: Monomial, c: i128) -> Polynomial {
        let mut out = Polynomial::default();
        out.add_term(m, c);
        out
    }

    /// Coefficients that don't fit are kept at the largest number: no bound is found then.
    fn add_term(&mut self, m: Monomial, c: i128) {
        let sum = self.terms.get(&m).copied().unwrap_or(0).saturating_add(c);
        match sum {
            0 => self.terms.remove(&m),
            sum => self.terms.insert(m, sum),
        };
    }

    /// The value, if it is a number.
    pub fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The atoms.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.terms.keys().flatten()
    }

    /// The terms: monomials and coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    /// `p` and `q` with `self = p · atom + q` and `q` free of the atom, unless it occurs to a higher power.
    pub fn split(&self, atom: &Atom) -> Option<(Polynomial, Polynomial)> {
        let (mut with, mut without) = (Polynomial::default(), Polynomial::default());
        for (m, c) in self.terms() {
            match m.iter().filter(|a| *a == atom).count() {
                0 => without.add_term(m.clone(), c),
                1 => with.add_term(m.iter().filter(|a| *a != atom).cloned().collect(), c),
                _ => return None,
            }
        }
        Some((with, without))
    }

    /// The same polynomial with other atoms.
    pub fn map_atoms(&self, f: impl Fn(&Atom) -> Atom) -> Polynomial {
        let mut out = Polynomial::default();
        for (m, c) in self.terms() {
            let mut m: Monomial = m.iter().map(&f).collect();
            m.sort();
            out.add_term(m, c);
        }
        out
    }

    /// The constant term.
    pub fn constant_term(&self) -> i128 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }
}

impl Add for Polynomial {
    type Output = Polynomial;
    fn add(mut self, other: Polynomial) -> Polynomial {
        other.terms.into_iter().for_each(|(m, c)| self.add_term(m, c));
        self
    }
}

impl Neg for Polynomial {
    type Output = Polynomial;
    fn neg(mut self) -> Polynomial {
        self.terms.values_mut().for_each(|c| *c = c.saturating_neg());
        self
    }
}

impl Sub for Polynomial {
    type Output = Polynomial;
    fn sub(self, other: Polynomial) -> Polynomial {
        self + -other
    }
}

impl Mul for Polynomial {
    type Output = Polynomial;
    fn mul(self, other: Polynomial) -> Polynomial {
        let mut out = Polynomial::default();
        for (m, a) in self.terms() {
            for (n, b) in other.terms() {
                let mut product: Monomial = m.iter().chain(n).cloned().collect();
                product.sort();
                out.add_term(product, a.saturating_mul(b));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Place, Step};

    fn var(v: u32) -> Polynomial {
        Polynomial::atom(Atom { base: Base::Var(VarId(v)), primed: false })
    }

    #[test]
    fn sums_and_products_have_one_form() {
        let (i, d) = (var(0), var(1));
        let two = || Polynomial::constant(2);
        assert_eq!(two() * i.clone() + d.clone(), d.clone() + i.clone() + i.clone());
        assert_eq!(
            (i.clone() + d.clone()) * (i.clone() - d.clone()),
            i.clone() * i.clone() - d.clone() * d.clone()
        );
        assert_eq!((i.clone() - i).as_constant(), Some(0));
        assert_eq!((two() * d - Polynomial::constant(3)).constant_term(), -3);
    }

    #[test]
    fn a_polynomial_is_split_by_an_atom_it_is_linear_in() {
        let atom = Atom { base: Base::Var(VarId(0)), primed: false };
        let (i, d) = (var(0), var(1));
        let p = d.clone() * i.clone() + d.clone();
        assert_eq!(p.split(&atom), Some((d.clone(), d)));
        assert_eq!((i.clone() * i).split(&atom), None);
    }

    /// `k[i]` and `k[j]` are two numbers of which nothing is known.
    #[test]
    fn other_expressions_are_atoms_of_their_own() {
        let element = |index: u32| {
            let index = Expr::read(Place::var(VarId(index)));
            let read = Expr::read(Place::var(VarId(9)).with(Step::Index(vec![index])));
            Atom { base: Base::Term(Term::new(read)), primed: false }
        };
        assert_eq!(element(0), element(0));
        assert_ne!(element(0), element(1));
        let [a, b] = [0, 1].map(|k| Polynomial::atom(element(k)));
        assert_eq!((a.clone() - b.clone()).as_constant(), None);
        let p = var(2) * a + b.clone();
        assert_eq!(p.split(&element(0)), Some((var(2), b)));
    }
}
