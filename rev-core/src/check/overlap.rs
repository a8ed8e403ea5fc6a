//! Whether two places share storage: surely not, surely, or only known at run time.
//!
//! Both places are taken at the same time: an expression in both has the same value. Places of two
//! times may be compared where nothing that their indices read is written in between.

use std::collections::BTreeMap;

use crate::ir::{Block, Expr, ExprKind, Function, Place, Span, Step, StmtKind, VarId};

use super::affine::{Affine, Comparison};

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

/// The values of bindings, which stand for their expressions wherever they are in scope.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// `None` for a variable that is declared more than once, with different values.
    bindings: BTreeMap<VarId, Option<&'a Expr>>,
}

impl<'a> Values<'a> {
    /// The bindings of a function.
    pub fn of(function: &'a Function) -> Values<'a> {
        let mut values = Values::default();
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
        if let ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) = &mut expr.kind {
            p.span = Span::NONE;
        }
        expr.each_child_mut(&mut |e| self.normalize(e, depth));
    }
}

/// Whether two places share storage.
pub fn overlap(a: &Place, b: &Place, values: &Values) -> Overlap {
    if a.var != b.var {
        return Overlap::Distinct;
    }
    let mut known = Overlap::Equal;
    for (s, t) in a.path.iter().zip(&b.path) {
        match steps(s, t, values) {
            Steps::Distinct => return Overlap::Distinct,
            Steps::Same => {}
            Steps::Unknown => known = Overlap::Unknown,
            Steps::Last(last) => return if known == Overlap::Equal { last } else { known },
        }
    }
    known
}

/// How one step of a path relates to the other path's step at the same depth.
enum Steps {
    Distinct,
    Same,
    Unknown,
    /// Ranges that may share elements: the steps behind them count from different elements.
    Last(Overlap),
}

fn steps(s: &Step, t: &Step, values: &Values) -> Steps {
    use Step::*;
    let same = |equal: bool| if equal { Steps::Same } else { Steps::Distinct };
    match (s, t) {
        (Index(i), Index(j)) => indices(i, j, values),
        (Range(a, b), Range(c, d)) => ranges((a, b), (c, d), values),
        (Range(a, b), Index(i)) | (Index(i), Range(a, b)) => match i.as_slice() {
            [i] => element_of_range(i, (a, b), values),
            _ => Steps::Unknown,
        },
        (Element(k), Element(l)) => same(k == l),
        (Field(_) | Re | Im, Field(_) | Re | Im) => same(field_name(s) == field_name(t)),
        (Index(_) | Range(..), Field(_) | Element(_) | Re | Im)
        | (Field(_) | Element(_) | Re | Im, Index(_) | Range(..))
        | (Element(_), Field(_) | Re | Im)
        | (Field(_) | Re | Im, Element(_)) => Steps::Unknown,
    }
}

fn field_name(step: &Step) -> Option<&str> {
    match step {
        Step::Field(name) => Some(name),
        Step::Re => Some("re"),
        Step::Im => Some("im"),
        Step::Element(_) | Step::Index(_) | Step::Range(..) => None,
    }
}

/// Elements differ when they differ in one dimension.
fn indices(i: &[Expr], j: &[Expr], values: &Values) -> Steps {
    if i.len() != j.len() {
        return Steps::Unknown;
    }
    let each: Vec<Comparison> =
        i.iter().zip(j).map(|(i, j)| Affine::of(i, values).compare(&Affine::of(j, values))).collect();
    if each.contains(&Comparison::Different) {
        Steps::Distinct
    } else if each.contains(&Comparison::Unknown) {
        Steps::Unknown
    } else {
        Steps::Same
    }
}

/// Whether `a <= b` is known.
fn at_most(a: &Expr, b: &Expr, values: &Values) -> Option<bool> {
    Some(Affine::of(a, values).minus(&Affine::of(b, values))?.as_constant()? <= 0)
}

fn ranges(a: (&Expr, &Expr), b: (&Expr, &Expr), values: &Values) -> Steps {
    let at_most = |x, y| at_most(x, y, values);
    if at_most(a.1, b.0) == Some(true) || at_most(b.1, a.0) == Some(true) {
        return Steps::Distinct;
    }
    let equal = |x, y| Affine::of(x, values).compare(&Affine::of(y, values)) == Comparison::Equal;
    if equal(a.0, b.0) && equal(a.1, b.1) {
        return Steps::Same;
    }
    let known_not = |x, y| at_most(x, y) == Some(false);
    let shared = known_not(a.1, b.0) && known_not(b.1, a.0) && known_not(a.1, a.0) && known_not(b.1, b.0);
    Steps::Last(if shared { Overlap::Equal } else { Overlap::Unknown })
}

fn element_of_range(i: &Expr, range: (&Expr, &Expr), values: &Values) -> Steps {
    let at_most = |x, y| at_most(x, y, values);
    match (at_most(range.0, i), at_most(range.1, i)) {
        (Some(false), _) | (_, Some(true)) => Steps::Distinct,
        (Some(true), Some(false)) => Steps::Last(Overlap::Equal),
        _ => Steps::Last(Overlap::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::Overlap::{Distinct, Equal, Unknown};
    use super::*;

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
        Place::var(VarId(0)).with(Step::Range(Box::new(a), Box::new(b)))
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
        assert_eq!(both(at(i() * Expr::int(2)), at(j() * Expr::int(2) + Expr::int(1))), Distinct);
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
    fn bindings_stand_for_their_values() {
        let next = read(1) + Expr::int(1);
        let values = Values { bindings: [(VarId(3), Some(&next))].into_iter().collect() };
        assert_eq!(overlap(&at(read(3)), &at(read(1)), &values), Distinct);
        assert_eq!(overlap(&at(read(3)), &at(read(1) + Expr::int(1)), &values), Equal);
    }
}
