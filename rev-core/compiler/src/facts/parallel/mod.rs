//! Parallel loops: whether the iterations are independent, and how each written place may be
//! written by many of them at once.
//!
//! A variable from outside the loop is *owned* when no two iterations touch the same element of it,
//! of which one writes (P2); it is *accumulated* when the iterations only add to it and none reads it (P3).
//! Anything else is a conflict, which names two accesses. Parts of a variable that no access
//! connects (two fields, even and odd elements) are judged separately.
//!
//! The facts hold for adjoint programs as well: shadows are ordinary variables, and an argument
//! that a callee accumulates into is an accumulation.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

use super::index::{Apart, Definitions, Indices, Order, Spread};
use crate::ir::{Access, Expr, Function, Parallel, Place, Span, Step, Stmt, StmtKind, UpdateOp, VarId};

/// What is known about a parallel loop without conflicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParallelFacts {
    /// The class of every variable that occurs in the loop's body.
    pub classes: BTreeMap<VarId, PlaceClass>,
}

/// How the iterations of a parallel loop use a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum PlaceClass {
    /// Each iteration has its own: declared inside, or the loop's index.
    Private,
    /// From outside, and not written.
    ReadOnly,
    /// Each element that is written is touched by one iteration only.
    Owned {
        /// Whether the program declares it, because it can't be proven.
        declared: bool,
    },
    /// Iterations add to the same elements, and none reads them.
    Accumulated(Accumulated),
    /// Parts of the variable have different classes: the places accessed of each part.
    Parts(Vec<(Vec<Place>, PlaceClass)>),
}

/// How a place is accumulated into.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulated {
    /// Which kind of sum it is.
    pub sum: Sum,
    /// Every iteration accumulates into the same elements, whatever its index: a scalar, or a small
    /// array over which an inner loop runs.
    pub uniform: bool,
    /// Some element is chosen by data: through an index array, by a condition on values.
    pub scattered: bool,
    /// Some element is accumulated into by a called function.
    pub called: bool,
    /// Every access.
    pub sites: Vec<Site>,
}

/// Operations that may be done in any order, but not mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `+=`, `-=`
    Add,
    /// `^=`
    Xor,
}

/// An access of a place from outside the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The place.
    pub place: Place,
    /// How it is accessed.
    pub how: How,
    /// Whether a called function does it.
    pub called: bool,
    /// How the element depends on the iteration.
    pub spread: Spread,
    /// The statement.
    pub stmt: Span,
}

/// How an iteration accesses a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Its value is read.
    Read,
    /// It is accumulated into.
    Accumulate(Sum),
    /// It is changed in another way.
    Change,
    /// It is the stack of a push or pop.
    Stack,
}

/// Two accesses that keep iterations from running in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// A write.
    pub write: Site,
    /// A read or write, by another iteration or in the middle of a sum.
    pub other: Site,
}

impl ParallelFacts {
    /// The class of a place that is written or read in the loop's body.
    pub fn class_of(&self, place: &Place) -> Option<&PlaceClass> {
        match self.classes.get(&place.var)? {
            PlaceClass::Parts(parts) => {
                parts.iter().find(|(places, _)| places.contains(place)).map(|(_, class)| class)
            }
            class => Some(class),
        }
    }

    /// The variables that are accumulated into, in whole or in part.
    pub fn accumulated(&self) -> impl Iterator<Item = (VarId, &Accumulated)> {
        self.classes.iter().flat_map(|(var, class)| {
            let parts: Vec<&PlaceClass> = match class {
                PlaceClass::Parts(parts) => parts.iter().map(|(_, c)| c).collect(),
                class => vec![class],
            };
            parts.into_iter().filter_map(|class| match class {
                PlaceClass::Accumulated(a) => Some((*var, a)),
                _ => None,
            })
        })
    }
}

/// The facts about a loop as a parallel one: about every variable, or every conflict. A loop that
/// isn't declared parallel is judged as if it were; for another statement there is nothing to say.
pub fn classify(function: &Function, stmt: &Stmt) -> Result<ParallelFacts, Vec<Conflict>> {
    classify_at(function, stmt, false)
}

/// The same where an access of a part of an element (a field, a real part) counts as one of the
/// element, and an access of a part of anything else as one of the variable: for threads that reach
/// parts through references to the whole.
pub fn classify_whole(function: &Function, stmt: &Stmt) -> Result<ParallelFacts, Vec<Conflict>> {
    classify_at(function, stmt, true)
}

fn classify_at(function: &Function, stmt: &Stmt, whole: bool) -> Result<ParallelFacts, Vec<Conflict>> {
    let StmtKind::For { var, parallel, body, .. } = &stmt.kind else { return Ok(ParallelFacts::default()) };
    let mut bound = BTreeSet::new();
    stmt.add_bound(&mut bound);
    let definitions = Definitions::of(&function.body);
    let indices = Indices::new(&function.vars, &definitions);
    let mut accesses = Accesses { bound: &bound, whole, sites: BTreeMap::new(), written: BTreeSet::new() };
    body.iter().for_each(|s| accesses.add(s));
    let Accesses { sites, written, .. } = accesses;
    let declared = parallel.clone().unwrap_or_default();
    let judge = Judge { indices, index: *var, bound: &bound, written: &written, declared: &declared };
    judge.all(sites)
}

/// The accesses of a loop's body, by variable.
struct Accesses<'a> {
    bound: &'a BTreeSet<VarId>,
    whole: bool,
    sites: BTreeMap<VarId, Vec<Site>>,
    written: BTreeSet<VarId>,
}

impl Accesses<'_> {
    fn add(&mut self, stmt: &Stmt) {
        let called = matches!(stmt.kind, StmtKind::Call { .. });
        stmt.each_expr(&mut |e| self.add_reads(e, stmt));
        stmt.each_place(&mut |place, access| {
            self.add_site(place, how(stmt, place, access), called, stmt);
            place.indices().for_each(|e| self.add_reads(e, stmt));
        });
        stmt.blocks().into_iter().flatten().for_each(|s| self.add(s));
    }

    fn add_reads(&mut self, expr: &Expr, stmt: &Stmt) {
        expr.each_read(&mut |p| self.add_site(p, How::Read, false, stmt));
    }

    fn add_site(&mut self, place: &Place, how: How, called: bool, stmt: &Stmt) {
        if how != How::Read {
            self.written.insert(place.var);
        }
        let sites = self.sites.entry(place.var).or_default();
        if !self.bound.contains(&place.var) {
            let mut place = place.clone();
            if self.whole {
                let reached = matches!(place.path.first(), Some(Step::Index(_) | Step::Part(_)));
                place.path.truncate(usize::from(reached));
            }
            sites.push(Site { place, how, called, spread: Spread::Uniform, stmt: stmt.span });
        }
    }
}

fn how(stmt: &Stmt, place: &Place, access: Access) -> How {
    match (&stmt.kind, access) {
        (_, Access::Read) => How::Read,
        (StmtKind::Update { op, .. }, _) => How::Accumulate(match op {
            UpdateOp::Add | UpdateOp::Sub => Sum::Add,
            UpdateOp::Xor => Sum::Xor,
        }),
        (StmtKind::Push { stack, .. } | StmtKind::Pop { stack, .. }, _) if std::ptr::eq(stack, place) => {
            How::Stack
        }
        (_, Access::Accumulate) => How::Accumulate(Sum::Add),
        (_, Access::Write) => How::Change,
    }
}

struct Judge<'a> {
    indices: Indices<'a>,
    index: VarId,
    bound: &'a BTreeSet<VarId>,
    written: &'a BTreeSet<VarId>,
    declared: &'a Parallel,
}

impl Judge<'_> {
    fn all(&self, sites: BTreeMap<VarId, Vec<Site>>) -> Result<ParallelFacts, Vec<Conflict>> {
        let mut facts = ParallelFacts::default();
        let mut conflicts = Vec::new();
        for (var, sites) in sites {
            match self.variable(var, sites) {
                Ok(class) => {
                    facts.classes.insert(var, class);
                }
                Err(found) => conflicts.extend(found),
            }
        }
        if conflicts.is_empty() {
            Ok(facts)
        } else {
            Err(conflicts)
        }
    }

    fn variable(&self, var: VarId, mut sites: Vec<Site>) -> Result<PlaceClass, Vec<Conflict>> {
        if self.bound.contains(&var) {
            return Ok(PlaceClass::Private);
        }
        if sites.iter().all(|s| s.how == How::Read) {
            return Ok(PlaceClass::ReadOnly);
        }
        let declared = self.declared.disjoint.contains(&var);
        sites.iter_mut().for_each(|s| s.spread = self.spread(&s.place));
        let mut parts = Vec::new();
        let mut conflicts = Vec::new();
        for part in self.parts(sites) {
            match self.part(&part) {
                Ok(class) => parts.push((part, class)),
                Err(found) => conflicts.push(*found),
            }
        }
        let parts: Vec<(Vec<Place>, PlaceClass)> = with_whole_sums(parts)
            .into_iter()
            .map(|(sites, class)| (sites.into_iter().map(|s| s.place).collect(), class))
            .collect();
        // what can be proven needn't be believed
        let proven = conflicts.is_empty() && parts.iter().all(|(_, class)| !is_sum(class));
        if declared && !proven {
            return Ok(PlaceClass::Owned { declared });
        }
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        Ok(merged(&parts).unwrap_or(PlaceClass::Parts(parts)))
    }

    /// Groups accesses that may touch the same element.
    fn parts(&self, sites: Vec<Site>) -> Vec<Vec<Site>> {
        let mut parts: Vec<Vec<Site>> = Vec::new();
        for site in sites {
            let (touched, mut apart): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.iter().any(|s| self.may_meet(&s.place, &site.place)));
            apart.push(touched.into_iter().flatten().chain([site]).collect());
            parts = apart;
        }
        parts
    }

    /// The class of accesses that are connected, or the two that forbid one.
    fn part(&self, sites: &[Site]) -> Result<PlaceClass, Box<Conflict>> {
        if sites.iter().all(|s| s.how == How::Read) {
            return Ok(PlaceClass::ReadOnly);
        }
        if self.colliding(sites, |_, _| true).is_none() {
            return Ok(PlaceClass::Owned { declared: false });
        }
        if let Some(sum) = accumulated(sites) {
            return Ok(sum);
        }
        let blame = |a: &Site, b: &Site| !matches!((a.how, b.how), (How::Accumulate(s), How::Accumulate(t)) if s == t);
        let pair = self.colliding(sites, blame).or_else(|| self.meeting(sites, blame));
        match pair {
            Some((write, other)) => Err(Box::new(Conflict { write: write.clone(), other: other.clone() })),
            None => Ok(PlaceClass::Owned { declared: false }),
        }
    }

    /// Two accesses, one of them a write, that may touch one element in different iterations.
    fn colliding<'s>(
        &self,
        sites: &'s [Site],
        wanted: impl Fn(&Site, &Site) -> bool,
    ) -> Option<(&'s Site, &'s Site)> {
        pairs(sites).find(|(a, b)| wanted(a, b) && !self.distinct(&a.place, &b.place, Some(self.index)))
    }

    /// Two accesses, one of them a write, that may touch one element at all.
    fn meeting<'s>(
        &self,
        sites: &'s [Site],
        wanted: impl Fn(&Site, &Site) -> bool,
    ) -> Option<(&'s Site, &'s Site)> {
        pairs(sites).find(|(a, b)| wanted(a, b) && self.may_meet(&a.place, &b.place))
    }

    fn may_meet(&self, a: &Place, b: &Place) -> bool {
        !self.distinct(a, b, None)
    }

    /// Whether two places differ whenever the index does, or (without an index) always.
    fn distinct(&self, a: &Place, b: &Place, index: Option<VarId>) -> bool {
        let injective = if index.is_some() { self.declared.injective.as_slice() } else { &[] };
        self.apart(index, injective, |apart| self.indices.distinct(a, b, apart))
    }

    fn spread(&self, place: &Place) -> Spread {
        self.apart(Some(self.index), &[], |apart| {
            place.indices().map(|e| self.indices.spread(e, apart)).max().unwrap_or(Spread::Uniform)
        })
    }

    fn apart<R>(&self, index: Option<VarId>, injective: &[Place], f: impl Fn(&Apart) -> R) -> R {
        f(&Apart {
            index,
            order: Order::Any,
            varies: &|v| self.bound.contains(&v) || self.written.contains(&v),
            rebound: &|v| self.bound.contains(&v),
            injective,
        })
    }
}

fn is_sum(class: &PlaceClass) -> bool {
    matches!(class, PlaceClass::Accumulated(_))
}

/// The class of accesses that are all terms of sums.
fn accumulated(sites: &[Site]) -> Option<PlaceClass> {
    Some(PlaceClass::Accumulated(Accumulated {
        sum: common_sum(sites)?,
        uniform: sites.iter().all(|s| s.spread == Spread::Uniform),
        scattered: sites.iter().any(|s| s.spread == Spread::Scattered),
        called: sites.iter().any(|s| s.called),
        sites: sites.to_vec(),
    }))
}

/// A part of the accesses to a variable, with its class.
type Classed = (Vec<Site>, PlaceClass);

/// The parts, those of one field put together where nothing but sums is formed in them and iterations meet in one: tasks
/// have copies of all of the field.
fn with_whole_sums(parts: Vec<Classed>) -> Vec<Classed> {
    let mut fields: Vec<(Vec<Step>, Vec<Classed>)> = Vec::new();
    for part in parts {
        let field = part.0.iter().map(|s| s.place.field()).min_by_key(|f| f.len()).unwrap_or_default();
        match fields.iter_mut().find(|(other, _)| *other == field) {
            Some((_, of_field)) => of_field.push(part),
            None => fields.push((field.to_vec(), vec![part])),
        }
    }
    let whole = |(_, of_field): (_, Vec<Classed>)| {
        let sites: Vec<Site> = of_field.iter().flat_map(|(sites, _)| sites.clone()).collect();
        match accumulated(&sites).filter(|_| of_field.iter().any(|(_, class)| is_sum(class))) {
            Some(sum) => vec![(sites, sum)],
            None => of_field,
        }
    };
    fields.into_iter().flat_map(whole).collect()
}

/// The class of a variable whose parts have classes of one kind.
fn merged(parts: &[(Vec<Place>, PlaceClass)]) -> Option<PlaceClass> {
    let mut classes = parts.iter().map(|(_, class)| class);
    let mut all = classes.next()?.clone();
    for class in classes {
        match (&mut all, class) {
            (PlaceClass::Accumulated(a), PlaceClass::Accumulated(b)) if a.sum == b.sum => {
                a.uniform &= b.uniform;
                a.scattered |= b.scattered;
                a.called |= b.called;
                a.sites.extend(b.sites.iter().cloned());
            }
            (PlaceClass::Owned { .. }, PlaceClass::Owned { .. } | PlaceClass::ReadOnly) => {}
            (all @ PlaceClass::ReadOnly, PlaceClass::Owned { .. }) => *all = class.clone(),
            (all, class) if all == class => {}
            _ => return None,
        }
    }
    Some(all)
}

/// Pairs of a write and another access, or the same one in another iteration.
fn pairs(sites: &[Site]) -> impl Iterator<Item = (&Site, &Site)> {
    let writes = sites.iter().filter(|s| s.how != How::Read);
    writes.flat_map(move |w| sites.iter().map(move |s| (w, s)))
}

/// The kind of sum that all accesses are terms of.
fn common_sum(sites: &[Site]) -> Option<Sum> {
    let sum = |s: &Site| match s.how {
        How::Accumulate(sum) => Some(sum),
        How::Read | How::Change | How::Stack => None,
    };
    let first = sites.first().and_then(sum)?;
    sites.iter().all(|s| sum(s) == Some(first)).then_some(first)
}
