//! The element of an array that all iterations of a parallel loop add to: only that one needs copies on threads, or
//! registers of a GPU.

use std::collections::BTreeSet;

use crate::check::overlap::{overlap, Overlap, Values};
use crate::facts::{Accumulated, ParallelFacts, PlaceClass, Site};
use crate::ir::{Expr, Place, Step, Stmt};

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
    let (mut bound, mut named, mut fixed) = (BTreeSet::new(), BTreeSet::new(), true);
    stmt.add_bound(&mut bound);
    for e in element.indices() {
        mentioned_in(e, &mut named);
        e.each_read(&mut |q| {
            fixed &= matches!(facts.classes.get(&q.var), None | Some(PlaceClass::ReadOnly));
        });
    }
    (fixed && named.is_disjoint(&bound)).then_some(element)
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
