//! Whether the difference of two indices can be zero.

use super::polynomial::{Atom, Base, Polynomial};
use super::{Apart, Indices, Order};
use crate::ir::{Expr, ExprKind, Place, Step};

/// The difference of an index at one moment and one at another.
pub struct Difference<'a> {
    indices: &'a Indices<'a>,
    apart: &'a Apart<'a>,
    /// The bounds of the numbers made up for the elements of ranges.
    made: Vec<(Polynomial, Polynomial)>,
}

impl<'a> Difference<'a> {
    pub fn new(indices: &'a Indices<'a>, apart: &'a Apart<'a>) -> Difference<'a> {
        Difference { indices, apart, made: Vec::new() }
    }

    /// An index; of a range any element, `from + t` for `t` below the range's length.
    pub fn element(&mut self, from: &Expr, to: Option<&Expr>, second: bool) -> Polynomial {
        let start = self.at(self.indices.polynomial(from), second);
        let Some(to) = to else { return start };
        let last = self.at(self.indices.polynomial(to), second) - start.clone() - Polynomial::constant(1);
        self.made.push((Polynomial::constant(0), last));
        start + Polynomial::atom(Atom { base: Base::Made(self.made.len() - 1), primed: second })
    }

    /// A polynomial at the second moment has its own values of what varies.
    fn at(&self, p: Polynomial, second: bool) -> Polynomial {
        if !second {
            return p;
        }
        p.map_atoms(|a| Atom { base: a.base.clone(), primed: self.indices.atom_varies(a, self.apart) })
    }

    /// Whether the difference is certainly not zero.
    pub fn is_never_zero(&self, d: Polynomial) -> bool {
        self.is_indivisible(&d) || self.has_sign(&d) || d.atoms().any(|a| self.moves_past(&d, a))
    }

    /// A power of two divides all coefficients, but not the constant: `2i - (2j + 1)`. Unlike other
    /// divisors it does so in wrapping arithmetic too, so that this holds for indices read from data.
    fn is_indivisible(&self, d: &Polynomial) -> bool {
        let twos = d.terms().filter(|(m, _)| !m.is_empty()).map(|(_, c)| c.trailing_zeros()).min();
        d.constant_term().trailing_zeros() < twos.unwrap_or(0)
    }

    fn has_sign(&self, d: &Polynomial) -> bool {
        let one = || Polynomial::constant(1);
        self.is_natural(&(-self.extreme(d, true) - one()))
            || self.is_natural(&(self.extreme(d, false) - one()))
    }

    /// `d = c (v - v') + r` with `v` and `v'` at least `step` apart and `|r| < |c| · step`; where it is
    /// known which of the two is greater, one side of that suffices.
    fn moves_past(&self, d: &Polynomial, v: &Atom) -> bool {
        let Some(step) = self.least_change(v).filter(|_| !v.primed) else { return false };
        let moved = Atom { base: v.base.clone(), primed: true };
        let Some((c, rest)) = d.split(v) else { return false };
        let Some((minus_c, r)) = rest.split(&moved) else { return false };
        let free = |p: &Polynomial| !p.atoms().any(|a| *a == moved || a == v);
        if minus_c != -c.clone() || !free(&c) || !free(&r) {
            return false;
        }
        let order = if matches!(v.base, Base::Var(_)) { self.apart.order } else { Order::Any };
        match (c.as_constant(), r.as_constant()) {
            (Some(c), Some(r)) if c != 0 => self.misses(v, order, c, r, step),
            _ => {
                let reach = c * Polynomial::constant(step);
                self.is_less(&r, &reach, order) || self.is_less(&-r, &-reach, order)
            }
        }
    }

    /// Whether no values of `v` and `v'` have `c (v' - v) = r`.
    fn misses(&self, v: &Atom, order: Order, c: i128, r: i128, step: i128) -> bool {
        if r.checked_rem(c.saturating_mul(step)).is_some_and(|rest| rest != 0) {
            return true;
        }
        let Some(change) = r.checked_div(c) else { return false };
        let wrong_way = match order {
            Order::Any => change == 0,
            Order::Up => change <= 0,
            Order::Down => change >= 0,
        };
        wrong_way || self.is_too_far(v, change)
    }

    /// Whether no two values of a loop variable are `distance` apart.
    fn is_too_far(&self, v: &Atom, distance: i128) -> bool {
        let Base::Var(var) = v.base else { return false };
        let Some((first, last)) = self.indices.bounds(var) else { return false };
        (last - first).as_constant().is_some_and(|width| distance.saturating_abs() > width)
    }

    /// Whether `r` is less than `c` where the second value is greater, greater than `-c` where it is smaller.
    fn is_less(&self, r: &Polynomial, c: &Polynomial, order: Order) -> bool {
        let most = c.clone() - Polynomial::constant(1);
        let below = || self.is_natural(&(most.clone() - self.extreme(r, true)));
        let above = || self.is_natural(&(most.clone() + self.extreme(r, false)));
        // one-sided bounds need the sign of `c`, which the two together imply
        match order {
            Order::Any => below() && above(),
            Order::Up => self.is_natural(&most) && below(),
            Order::Down => self.is_natural(&most) && above(),
        }
    }

    /// By how much an atom's two values differ at least, if they certainly differ.
    fn least_change(&self, atom: &Atom) -> Option<i128> {
        match &atom.base {
            Base::Var(v) => (self.apart.index == Some(*v)).then(|| self.indices.step(*v)),
            Base::Term(t) => match &t.expr.kind {
                ExprKind::Read(p) => self.is_injective(p).then_some(1),
                _ => None,
            },
            Base::Made(_) => None,
        }
    }

    /// Whether a place is an element of an index array without repetitions, and another element at
    /// the second moment.
    fn is_injective(&self, p: &Place) -> bool {
        let declared = self.apart.injective.iter().any(|d| {
            let path = p.path.get(..d.path.len());
            d.var == p.var && path.is_some_and(|path| path.iter().zip(&d.path).all(|(a, b)| same_field(a, b)))
        });
        declared && !(self.apart.rebound)(p.var) && self.indices.distinct(p, p, self.apart)
    }

    /// A bound of a polynomial, from the bounds of the loop variables in it.
    fn extreme(&self, p: &Polynomial, most: bool) -> Polynomial {
        let mut p = p.clone();
        while let Some(next) = self.without_one_variable(&p, most) {
            p = next;
        }
        p
    }

    fn without_one_variable(&self, p: &Polynomial, most: bool) -> Option<Polynomial> {
        let bounded: Vec<(&Atom, (Polynomial, Polynomial))> =
            p.atoms().filter_map(|a| Some((a, self.bounds(a)?))).collect();
        bounded.iter().find_map(|(atom, (least, greatest))| {
            // the bounds of an inner variable may mention an outer one, so that one has to wait
            let waits = bounded
                .iter()
                .any(|(other, (l, g))| other != atom && l.atoms().chain(g.atoms()).any(|a| a == *atom));
            let (c, rest) = p.split(atom).filter(|_| !waits)?;
            let up = self.is_natural(&c);
            if !up && !self.is_natural(&-c.clone()) {
                return None;
            }
            Some(c * if up == most { greatest.clone() } else { least.clone() } + rest)
        })
    }

    fn bounds(&self, atom: &Atom) -> Option<(Polynomial, Polynomial)> {
        match &atom.base {
            Base::Var(v) => {
                let (least, greatest) = self.indices.bounds(*v)?;
                // an atom that doesn't vary belongs to either moment, so its bounds may not vary either
                let varies = |p: &Polynomial| p.atoms().any(|a| self.indices.atom_varies(a, self.apart));
                let sided = self.indices.atom_varies(atom, self.apart);
                let usable = sided || !(varies(&least) || varies(&greatest));
                usable.then(|| (self.at(least, atom.primed), self.at(greatest, atom.primed)))
            }
            Base::Term(_) => None,
            Base::Made(k) => self.made.get(*k).cloned(),
        }
    }

    /// Whether a polynomial is certainly at least zero.
    fn is_natural(&self, p: &Polynomial) -> bool {
        p.terms().all(|(m, c)| c >= 0 && m.iter().all(|a| self.indices.is_natural(a)))
    }
}

fn same_field(a: &Step, b: &Step) -> bool {
    match (a, b) {
        (Step::Element(a), Step::Element(b)) => a == b,
        _ => super::field_name(a).is_some() && super::field_name(a) == super::field_name(b),
    }
}
