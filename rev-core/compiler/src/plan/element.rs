//! The element or the part of an array that all iterations of a parallel loop add to: only that needs copies on threads, or
//! registers of a GPU. And whose elements it may lie beside.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::overlap::{equal, overlap, Overlap, Values};
use crate::facts::{Accumulated, ParallelFacts, PlaceClass, Site};
use crate::ir::{Axis, Expr, ExprKind, Place, Step, Stmt, VarId};
use crate::ops::Func;

use super::roles::mentioned_in;

/// The index of the element that every term is added to, in an iteration.
pub fn common_index(sites: &[Site], values: &Values) -> Option<Vec<Expr>> {
    match first_element(sites, values)?.path.pop() {
        Some(Step::Index(index)) => Some(index),
        _ => None,
    }
}

/// The element that all iterations add to, if it is one and the same: its index reads nothing that the loop declares
/// or writes.
pub fn common_element(a: &Accumulated, stmt: &Stmt, facts: &ParallelFacts, values: &Values) -> Option<Place> {
    let element = first_element(&a.sites, values)?;
    let fixed = element.indices().all(|e| is_fixed(e, stmt, facts));
    fixed.then_some(element)
}

/// The part of an array that all iterations add to, if some indices of all elements are the same: `t[i, ..]`. Finding it
/// can't fail.
pub fn common_part(a: &Accumulated, stmt: &Stmt, facts: &ParallelFacts, values: &Values) -> Option<Place> {
    let index = |site: &Site| match site.place.path.first() {
        Some(Step::Index(index)) => Some(index.clone()),
        _ => None,
    };
    let all = a.sites.iter().map(index).collect::<Option<Vec<Vec<Expr>>>>()?;
    let (first, others) = all.split_first()?;
    let axis = |(k, e): (usize, &Expr)| {
        let same =
            others.iter().all(|o| o.len() == first.len() && o.get(k).is_some_and(|o| equal(e, o, values)));
        match same && is_plain(e) && is_fixed(e, stmt, facts) {
            true => Axis::At(e.clone()),
            false => Axis::Whole,
        }
    };
    let axes: Vec<Axis> = first.iter().enumerate().map(axis).collect();
    let some = |whole: bool| axes.iter().any(|axis| matches!(axis, Axis::Whole) == whole);
    let place = a.sites.first()?.place.clone();
    (some(true) && some(false)).then_some(Place { path: vec![Step::Part(axes)], ..place })
}

/// Whether an index is made of variables by `+ - *`: finding it can't fail.
pub fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Read(place) => place.path.is_empty(),
        ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Const(_) => true,
        ExprKind::Cast(e, _) => is_plain(e),
        ExprKind::Func(Func::Add | Func::Sub | Func::Mul, args) => args.iter().all(is_plain),
        _ => false,
    }
}

/// Whether an expression reads nothing that a loop declares or writes.
pub fn is_fixed(e: &Expr, stmt: &Stmt, facts: &ParallelFacts) -> bool {
    let (mut bound, mut named, mut fixed) = (BTreeSet::new(), BTreeSet::new(), true);
    stmt.add_bound(&mut bound);
    mentioned_in(e, &mut named);
    e.each_read(&mut |q| {
        fixed &= matches!(facts.classes.get(&q.var), None | Some(PlaceClass::ReadOnly));
    });
    fixed && named.is_disjoint(&bound)
}

/// The variables of which each iteration of a parallel loop around has elements of its own, and whether that is declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Owned(BTreeMap<VarId, bool>);

impl Owned {
    /// Those of another loop inside as well.
    pub fn enter(&mut self, facts: &ParallelFacts) {
        for (var, class) in &facts.classes {
            match class {
                PlaceClass::Owned { declared } => self.insert(*var, *declared),
                PlaceClass::Parts(parts) => {
                    let owned =
                        |(_, class): &(Vec<Place>, PlaceClass)| matches!(class, PlaceClass::Owned { .. });
                    if parts.iter().any(owned) {
                        self.insert(*var, false);
                    }
                }
                PlaceClass::Private | PlaceClass::ReadOnly | PlaceClass::Accumulated(_) => {}
            }
        }
    }

    /// One more.
    pub fn insert(&mut self, var: VarId, declared: bool) {
        *self.0.entry(var).or_default() |= declared;
    }

    /// Whether a variable is one of them, and by declaration.
    pub fn declared(&self, var: VarId) -> Option<bool> {
        self.0.get(&var).copied()
    }

    /// Whether the total of a loop inside may be added only to elements for which it isn't zero, because others are other
    /// iterations'. An element to which all terms go is the iteration's own; by declaration only if there are terms.
    pub fn only_touched(&self, var: VarId, one_element: bool) -> bool {
        self.declared(var).is_some_and(|declared| declared || !one_element)
    }
}

/// The element of the first term, where it is that of all others.
fn first_element(sites: &[Site], values: &Values) -> Option<Place> {
    let head = |place: &Place| match place.path.first() {
        Some(Step::Index(_)) => Some(Place { path: place.path[..1].to_vec(), ..place.clone() }),
        _ => None,
    };
    let element = head(&sites.first()?.place)?;
    let same =
        |site: &Site| head(&site.place).is_some_and(|h| overlap(&element, &h, values) == Overlap::Equal);
    sites.iter().all(same).then_some(element)
}
