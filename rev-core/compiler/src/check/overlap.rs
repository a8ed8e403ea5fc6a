//! Whether two places share storage: surely not, surely, or only known at run time.
//!
//! That they surely don't is found by [`facts::Indices`](crate::facts::Indices), which knows bounds
//! and divisibility; that they surely do, here, by equal indices.
//!
//! Both places are taken at the same time: an expression in both has the same value. Places of two
//! times may be compared where nothing that their indices read is written in between.

use std::collections::BTreeMap;

use crate::facts::{Apart, Definitions, Indices, Order};
use crate::ir::{
    axes_of_both, AxisRef, Block, Expr, ExprKind, Function, Place, Span, Step, Stmt, StmtKind, Var, VarId,
};

use crate::ops::Instr;

use super::affine::Affine;

/// What is known about two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// No storage is shared.
    Distinct,
    /// Storage is shared: they are equal, or one is a part of the other.
    Equal,
    /// It depends on the values of indices, and is compared at run time.
    Unknown,
}

/// The values of bindings, which stand for their expressions wherever they are in scope, and the
/// bounds of loop variables.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    vars: &'a [Var],
    definitions: Definitions,
    /// `None` for a variable that is declared more than once, with different values.
    bindings: BTreeMap<VarId, Option<&'a Expr>>,
}

impl<'a> Values<'a> {
    /// The bindings of a function.
    pub fn of(function: &'a Function) -> Values<'a> {
        let definitions = Definitions::of(&function.body);
        let mut values = Values { vars: &function.vars, definitions, bindings: BTreeMap::new() };
        values.collect(&function.body);
        values
    }

    fn collect(&mut self, block: &'a Block) {
        for stmt in block {
            if let StmtKind::Let { var, expr, .. } = &stmt.kind {
                let known = self.bindings.entry(*var).or_insert(Some(expr));
                *known = known.filter(|e| *e == expr);
            }
            stmt.blocks().into_iter().for_each(|b| self.collect(b));
        }
    }

    /// The expression that a binding stands for.
    pub fn binding(&self, var: VarId) -> Option<&'a Expr> {
        self.bindings.get(&var).copied().flatten()
    }

    /// Whether two places are surely different at one moment.
    fn distinct(&self, a: &Place, b: &Place) -> bool {
        let now =
            Apart { index: None, order: Order::Any, varies: &|_| false, rebound: &|_| false, injective: &[] };
        Indices::new(self.vars, &self.definitions).distinct(a, b, &now)
    }

    /// The expression without what doesn't matter to its value: positions, and bindings that are
    /// other names.
    pub fn normal(&self, expr: &Expr) -> Expr {
        let mut normal = expr.clone();
        self.normalize(&mut normal, 16);
        normal
    }

    fn normalize(&self, expr: &mut Expr, depth: u32) {
        let value = match &expr.kind {
            ExprKind::Read(p) if p.path.is_empty() && depth > 0 => self.binding(p.var),
            _ => None,
        };
        if let Some(value) = value {
            *expr = value.clone();
            return self.normalize(expr, depth - 1);
        }
        expr.span = Span::NONE;
        if let ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) =
            &mut expr.kind
        {
            p.span = Span::NONE;
        }
        expr.each_child_mut(&mut |e| self.normalize(e, depth));
    }
}

/// Whether two places share storage.
pub fn overlap(a: &Place, b: &Place, values: &Values) -> Overlap {
    if values.distinct(a, b) {
        return Overlap::Distinct;
    }
    for (s, t) in a.path.iter().zip(&b.path) {
        match meeting(s, t, values) {
            Meeting::Same => {}
            Meeting::Shared => return Overlap::Equal,
            Meeting::Unknown => return Overlap::Unknown,
        }
    }
    Overlap::Equal
}

/// The places that an update or an instruction has to find apart, where checks are on: what is written, and what is read
/// or written besides, which only the values of indices tell apart. Calls make theirs always.
pub fn compared<'s>(stmt: &'s Stmt, values: &Values) -> Vec<(&'s Place, &'s Place)> {
    let (place, others) = match &stmt.kind {
        StmtKind::Update { place, expr, .. } => {
            let mut reads = expr.reads();
            reads.extend(place.indices().flat_map(|e| e.reads()));
            (place, reads)
        }
        // an element that is exchanged with itself stays as it is
        StmtKind::Instr { instr, places, .. } if *instr != Instr::Swap => match places.as_slice() {
            [a, b] => (a, vec![b]),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let unknown = |other: &&Place| overlap(place, other, values) == Overlap::Unknown;
    others.into_iter().filter(unknown).map(|other| (place, other)).collect()
}

/// How a step of one path relates to the other path's step at the same depth, where they aren't
/// surely different.
enum Meeting {
    /// They name the same part.
    Same,
    /// They share elements, but what follows counts from different ones.
    Shared,
    Unknown,
}

fn meeting(s: &Step, t: &Step, values: &Values) -> Meeting {
    use Step::*;
    match (s, t) {
        (Index(i), Index(j)) if i.len() != j.len() => Meeting::Unknown,
        (Index(_), Index(_)) | (Part(_), Part(_)) => axes(s, t, values),
        (Part(_), Index(_)) | (Index(_), Part(_)) => match axes(s, t, values) {
            Meeting::Same | Meeting::Shared => Meeting::Shared,
            Meeting::Unknown => Meeting::Unknown,
        },
        (Element(_), Element(_)) => Meeting::Same,
        (Field(_) | Re | Im, Field(_) | Re | Im) => Meeting::Same,
        (Index(_) | Part(_), Field(_) | Element(_) | Re | Im)
        | (Field(_) | Element(_) | Re | Im, Index(_) | Part(_))
        | (Element(_), Field(_) | Re | Im)
        | (Field(_) | Re | Im, Element(_)) => Meeting::Unknown,
    }
}

/// How what two steps take of an array meets: all of its axes have to.
fn axes(s: &Step, t: &Step, values: &Values) -> Meeting {
    let mut all = Meeting::Same;
    for (s, t) in axes_of_both(s, t) {
        all = match (all, axis(s, t, values)) {
            (_, Meeting::Unknown) => return Meeting::Unknown,
            (Meeting::Same, Meeting::Same) => Meeting::Same,
            _ => Meeting::Shared,
        };
    }
    all
}

fn axis(s: AxisRef, t: AxisRef, values: &Values) -> Meeting {
    use AxisRef::*;
    match (s, t) {
        (Whole, Whole) => Meeting::Same,
        // an index is in its axis, or the program has failed
        (Whole, At(_)) | (At(_), Whole) => Meeting::Shared,
        (Whole, Range(a, b)) | (Range(a, b), Whole) => shared(&[below(a, b)], values),
        (At(i), At(j)) if equal(i, j, values) => Meeting::Same,
        (At(_), At(_)) => Meeting::Unknown,
        (Range(a, b), At(i)) | (At(i), Range(a, b)) => shared(&[at_most(a, i), below(i, b)], values),
        (Range(a, b), Range(c, d)) if equal(a, c, values) && equal(b, d, values) => Meeting::Same,
        (Range(a, b), Range(c, d)) => shared(&[below(a, d), below(c, b), below(a, b), below(c, d)], values),
    }
}

/// Whether two expressions have the same value for what is known of both.
pub fn equal(a: &Expr, b: &Expr, values: &Values) -> bool {
    difference(a, b, values) == Some(0)
}

/// `a - b`, where that is a constant.
fn difference(a: &Expr, b: &Expr, values: &Values) -> Option<i128> {
    Affine::of(a, values).minus(&Affine::of(b, values))?.as_constant()
}

/// That `.0 - .1` is at most `.2`.
type AtMost<'e> = (&'e Expr, &'e Expr, i128);

fn below<'e>(a: &'e Expr, b: &'e Expr) -> AtMost<'e> {
    (a, b, -1)
}

fn at_most<'e>(a: &'e Expr, b: &'e Expr) -> AtMost<'e> {
    (a, b, 0)
}

/// Elements are shared where all of these are known.
fn shared(facts: &[AtMost], values: &Values) -> Meeting {
    let known = |(a, b, most): &AtMost| difference(a, b, values).is_some_and(|d| d <= *most);
    if facts.iter().all(known) {
        Meeting::Shared
    } else {
        Meeting::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::Overlap::{Distinct, Equal, Unknown};
    use super::*;
    use crate::ir::Axis;

    fn read(var: u32) -> Expr {
        Expr::read(Place::var(VarId(var)))
    }

    /// Element `x[i]` of variable 0.
    fn at(i: Expr) -> Place {
        Place::var(VarId(0)).with(Step::Index(vec![i]))
    }

    fn at2(i: Expr, j: Expr) -> Place {
        Place::var(VarId(0)).with(Step::Index(vec![i, j]))
    }

    fn slice(a: Expr, b: Expr) -> Place {
        Place::var(VarId(0)).with(Step::range(a, b))
    }

    fn both(a: Place, b: Place) -> Overlap {
        let values = Values::default();
        let one = overlap(&a, &b, &values);
        assert_eq!(one, overlap(&b, &a, &values), "overlap is symmetric");
        one
    }

    #[test]
    fn variables_and_parts() {
        let z = || Place::var(VarId(0));
        assert_eq!(both(z(), Place::var(VarId(1))), Distinct);
        assert_eq!(both(z(), z()), Equal);
        assert_eq!(both(z(), z().with(Step::Re)), Equal);
        assert_eq!(both(z().with(Step::Re), z().with(Step::Im)), Distinct);
        assert_eq!(both(z().with(Step::Re), z().with(Step::Field("re".into()))), Equal);
        assert_eq!(both(z().with(Step::Field("a".into())), z().with(Step::Field("b".into()))), Distinct);
        assert_eq!(both(z().with(Step::Element(0)), z().with(Step::Element(1))), Distinct);
    }

    #[test]
    fn elements() {
        let (i, j) = (|| read(1), || read(2));
        assert_eq!(both(at(i()), at(i())), Equal);
        assert_eq!(both(at(i()), at(j())), Unknown);
        assert_eq!(both(at(i()), at(i() + Expr::int(1))), Distinct);
        assert_eq!(both(at(Expr::int(0)), at(Expr::int(3))), Distinct);
        assert_eq!(both(at(i() + j()), at(j() + i())), Equal);
        assert_eq!(both(at(i() * Expr::int(2)), at(i() + i())), Equal);
        assert_eq!(both(at(Expr::int(2) * i()), at(i() + i())), Equal);
        assert_eq!(both(at(i() * j()), at(i() * i())), Unknown);
        assert_eq!(both(at(i() * Expr::int(2)), at(j() * Expr::int(2) + Expr::int(1))), Distinct);
        assert_eq!(both(at(i() * Expr::int(2)), at(j() * Expr::int(2))), Unknown);
        // Products wrap, so that only powers of two tell numbers apart.
        assert_eq!(both(at(i() * Expr::int(3)), at(j() * Expr::int(3) + Expr::int(1))), Unknown);
        assert_eq!(both(at(i()), Place::var(VarId(0))), Equal);
        assert_eq!(both(at2(i(), Expr::int(0)), at2(j(), Expr::int(1))), Distinct);
        assert_eq!(both(at2(i(), Expr::int(0)), at2(j(), Expr::int(0))), Unknown);
        let field = |p: Place, name: &str| p.with(Step::Field(name.into()));
        assert_eq!(both(field(at(i()), "a"), field(at(j()), "b")), Distinct);
        assert_eq!(both(field(at(i()), "a"), field(at(j()), "a")), Unknown);
    }

    #[test]
    fn slices() {
        let n = || read(1);
        assert_eq!(both(slice(Expr::int(0), n()), slice(n(), n() + Expr::int(4))), Distinct);
        assert_eq!(both(slice(Expr::int(0), Expr::int(3)), slice(Expr::int(2), Expr::int(5))), Equal);
        assert_eq!(both(slice(Expr::int(0), n()), slice(Expr::int(0), n())), Equal);
        assert_eq!(both(slice(Expr::int(0), n()), slice(Expr::int(1), n())), Unknown);
        assert_eq!(both(slice(Expr::int(0), n()), at(n())), Distinct);
        assert_eq!(both(slice(n(), n() + Expr::int(2)), at(n() + Expr::int(1))), Equal);
        assert_eq!(both(slice(Expr::int(0), n()), at(read(2))), Unknown);
    }

    #[test]
    fn rows_and_columns() {
        let (i, j) = (|| read(1), || read(2));
        let row = |i: Expr| Place::var(VarId(0)).with(Step::at(0, i));
        let column = |j: Expr| Place::var(VarId(0)).with(Step::at(1, j));
        let block = |axes: Vec<Axis>| Place::var(VarId(0)).with(Step::Part(axes));
        assert_eq!(both(row(i()), row(i())), Equal);
        assert_eq!(both(row(i()), row(j())), Unknown);
        assert_eq!(both(row(i()), row(i() + Expr::int(1))), Distinct);
        assert_eq!(both(row(Expr::int(0)), row(Expr::int(1))), Distinct);
        assert_eq!(both(column(Expr::int(0)), column(Expr::int(1))), Distinct);
        assert_eq!(both(column(i()), column(j())), Unknown);
        assert_eq!(both(row(i()), column(j())), Equal);
        assert_eq!(both(row(i()), Place::var(VarId(0))), Equal);
        assert_eq!(both(row(i()), at2(i(), j())), Equal);
        assert_eq!(both(row(i()), at2(j(), i())), Unknown);
        assert_eq!(both(row(i()), at2(i() + Expr::int(1), j())), Distinct);
        assert_eq!(both(column(j()), at2(i(), j() + Expr::int(2))), Distinct);
        let part = |from, to| block(vec![Axis::At(read(1)), Axis::Range(Expr::int(from), Expr::int(to))]);
        assert_eq!(both(part(0, 2), part(2, 4)), Distinct);
        assert_eq!(both(part(0, 3), part(2, 4)), Equal);
        assert_eq!(both(part(0, 2), column(Expr::int(2))), Distinct);
        assert_eq!(both(part(0, 2), column(Expr::int(1))), Equal);
        assert_eq!(both(part(0, 2), row(i())), Equal);
        assert_eq!(both(part(0, 2), row(j())), Unknown);
        // a range that may be empty shares nothing
        let maybe = block(vec![Axis::At(i()), Axis::Range(Expr::int(0), j())]);
        assert_eq!(both(maybe, row(i())), Unknown);
    }

    #[test]
    fn bindings_stand_for_their_values() {
        let function = crate::text::parse_function(
            "fn f(x: &mut [f64], i: usize, k: usize) { let j: usize = i + 1 { x[j] += 1.0 } }",
        );
        let function = function.unwrap();
        let values = Values::of(&function);
        assert_eq!(overlap(&at(read(3)), &at(read(1)), &values), Distinct);
        assert_eq!(overlap(&at(read(3)), &at(read(1) + Expr::int(1)), &values), Equal);
        // however many there are
        let open: String = (1..=40).map(|k| format!("let j{k}: usize = j{} + 1 {{ ", k - 1)).collect();
        let text = format!("fn f(x: &mut [f64], j0: usize) {{ {open} x[j40] += 1.0 {} }}", "}".repeat(40));
        let function = crate::text::parse_function(&text).unwrap();
        let values = Values::of(&function);
        assert_eq!(overlap(&at(read(41)), &at(read(41)), &values), Equal);
        assert_eq!(overlap(&at(read(41)), &at(read(40)), &values), Distinct);
        assert_ne!(overlap(&at(read(41)), &at(read(1)), &values), Equal);
    }
}
