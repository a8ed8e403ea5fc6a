//! The sums of parallel loops whose iterations run in order, on one thread: in the deterministic mode they are added in blocks too,
//! which gives the bits of the devices that run the iterations otherwise.

use crate::check::overlap::{overlap, Overlap, Values};
use crate::facts::{classify, Accumulated, ParallelFacts, PlaceClass, Sum};
use crate::ir::{Function, Place, Step, Stmt, VarId};
use crate::text::show;

use super::element::{common_element, is_fixed};
use super::Around;

/// What a loop adds to, and uses in no other way.
#[derive(Clone, Debug, PartialEq)]
pub struct SumInOrder {
    /// All that is added to: elements with indices that stay the same in the loop, or something of which they are.
    pub place: Place,
    /// Whether a total that is zero isn't added: the element may be another iteration's of a loop around.
    pub touched: bool,
}

impl SumInOrder {
    /// `z.re sum`, with the names of a function.
    pub fn text(&self, function: &Function) -> String {
        let touched = if self.touched { " where touched" } else { "" };
        format!("{} sum{touched}", show(function, &self.place))
    }
}

/// The sums of a loop.
///
/// Left out are those into elements of an array of which the loop uses others in another way, where their indices change in it or may be
/// equal: then it isn't known what may be set to zero for a block.
pub fn sums_in_order(function: &Function, values: &Values, around: &Around, stmt: &Stmt) -> Vec<SumInOrder> {
    let facts = classify(function, stmt).unwrap_or_default();
    let mut sums = Vec::new();
    let mut add = |var: VarId, place: Option<Place>, class: &PlaceClass| {
        if let (PlaceClass::Accumulated(how @ Accumulated { sum: Sum::Add, .. }), Some(place)) =
            (class, place)
        {
            let one_element = common_element(how, stmt, &facts, values).is_some();
            let touched = around.owned.only_touched(var, one_element);
            sums.push(SumInOrder { place, touched });
        }
    };
    for (var, class) in &facts.classes {
        match class {
            PlaceClass::Parts(parts) => {
                for (places, class) in parts {
                    let others = parts.iter().flat_map(|(others, _)| others).filter(|q| !places.contains(q));
                    let place = one_place(places, stmt, &facts, values).or_else(|| field(places, others));
                    add(*var, place, class);
                }
            }
            class => add(*var, Some(Place::var(*var)), class),
        }
    }
    sums
}

/// The place of which all others are parts, where it is the same in all iterations.
fn one_place(places: &[Place], stmt: &Stmt, facts: &ParallelFacts, values: &Values) -> Option<Place> {
    let outermost = places.iter().min_by_key(|q| q.path.len())?;
    let one = places.iter().all(|q| overlap(outermost, q, values) == Overlap::Equal);
    let stays = outermost.indices().all(|e| is_fixed(e, stmt, facts));
    let is_element = !outermost.path.iter().any(|step| matches!(step, Step::Part(_)));
    (one && stays && is_element).then(|| outermost.clone())
}

/// The field that all places are in, and no other one.
fn field<'a>(places: &[Place], mut others: impl Iterator<Item = &'a Place>) -> Option<Place> {
    let outermost = places.iter().map(Place::field).min_by_key(|f| f.len())?;
    let inside = places.iter().all(|q| q.field().starts_with(outermost));
    let alone = |q: &Place| !q.field().starts_with(outermost) && !outermost.starts_with(q.field());
    let place = Place { path: outermost.to_vec(), ..places.first()?.clone() };
    (inside && others.all(alone)).then_some(place)
}
