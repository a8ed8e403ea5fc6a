//! How much work an iteration of a parallel loop is, roughly: from this follows, before anything has run, on how
//! many threads a loop of few iterations is run.
//!
//! The work is an expression, evaluated before the loop: the trips of a loop inside are counted where its ends
//! are known there, as are the multiplications of a product of arrays whose sizes are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::facts::trips;
use crate::ir::{Block, Expr, ExprKind, Function, Number, Place, Range, Stmt, StmtKind, VarId};
use crate::ops::Func;
use crate::text::show;

/// The iterations taken for a loop whose number of them isn't known.
const UNKNOWN_TRIPS: usize = 8;

/// The operations taken for a call.
const CALL_WEIGHT: usize = 32;

/// A number of operations: what is known, and what is known at run time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// As a number.
    pub known: usize,
    /// What is added to it.
    pub terms: Vec<Count>,
}

/// A count that is known where a loop starts. No result is below zero, nor past the largest number.
#[derive(Clone, Debug, PartialEq)]
pub enum Count {
    /// A number.
    Number(usize),
    /// The value of an integer expression, 0 where it is negative.
    Value(Expr),
    /// A length or a constant.
    Size(Expr),
    /// The elements of an array.
    Elements(VarId),
    /// The elements of an array of a shape.
    Shape(Vec<Count>),
    /// The operations of a product of arrays with so many elements, the result among them.
    Products(Vec<Count>),
    /// A sum, a difference or a product.
    Of(Arithmetic, Box<[Count; 2]>),
    /// Operations.
    Work(Work),
}

/// What is done with two counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
}

impl Arithmetic {
    fn of(self, a: Count, b: Count) -> Count {
        Count::Of(self, Box::new([a, b]))
    }
}

impl Work {
    /// The operations of an iteration of a loop over `var`, about. `arrays` are those whose elements can be counted.
    pub fn of_iteration(function: &Function, arrays: &BTreeSet<VarId>, var: VarId, body: &Block) -> Work {
        Counted { function, arrays, inside: Inside::from([(var, None)]) }.block(body)
    }

    fn plus(mut self, other: Work) -> Work {
        self.known = self.known.saturating_add(other.known);
        self.terms.extend(other.terms);
        self
    }

    fn times(self, trips: &Count) -> Work {
        let by = |count| Arithmetic::Mul.of(count, trips.clone());
        match trips {
            Count::Number(1) => self,
            Count::Number(n) => {
                Work { known: self.known.saturating_mul(*n), terms: self.terms.into_iter().map(by).collect() }
            }
            _ => Work { known: 0, terms: vec![by(Count::Work(self))] },
        }
    }

    /// The expression, with the names of a function.
    pub fn text(&self, function: &Function) -> String {
        let terms: Vec<String> = self.terms.iter().map(|t| t.text(function)).collect();
        match (self.known, terms.as_slice()) {
            (0, [_, ..]) => terms.join(" + "),
            (known, []) => known.to_string(),
            (known, terms) => format!("{known} + {}", terms.join(" + ")),
        }
    }
}

impl Count {
    fn text(&self, function: &Function) -> String {
        let all = |counts: &[Count]| counts.iter().map(|c| c.text(function)).collect::<Vec<_>>().join(", ");
        match self {
            Count::Number(n) => n.to_string(),
            Count::Value(e) | Count::Size(e) => show(function, e).to_string(),
            Count::Elements(var) => format!("count({})", function.var(*var).name),
            Count::Shape(extents) => format!("shape({})", all(extents)),
            Count::Products(counts) => format!("products({})", all(counts)),
            Count::Of(op, args) => {
                let [a, b] = [&args[0], &args[1]].map(|c| c.text(function));
                format!("({a} {op} {b})")
            }
            Count::Work(work) if work.terms.is_empty() => work.text(function),
            Count::Work(work) => format!("({})", work.text(function)),
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
        })
    }
}

/// The variables that a loop's body declares, each with the number of its elements where it is an array of which
/// that is known before the loop.
type Inside = BTreeMap<VarId, Option<Count>>;

/// Statements while their work is counted.
struct Counted<'a> {
    function: &'a Function,
    arrays: &'a BTreeSet<VarId>,
    inside: Inside,
}

impl Counted<'_> {
    fn block(&mut self, block: &Block) -> Work {
        block.iter().fold(Work::default(), |sum, s| sum.plus(self.stmt(s)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Work {
        let mut known = 1;
        stmt.each_expr(&mut |e| known += size(e));
        stmt.each_place(&mut |q, _| q.indices().for_each(|e| known += size(e)));
        let mut own = Work { known, terms: Vec::new() };
        let mut times = Count::Number(1);
        match &stmt.kind {
            StmtKind::Call { .. } => own.known += CALL_WEIGHT,
            StmtKind::Update { place, expr, .. } => own.terms.extend(self.products(place, expr)),
            StmtKind::Let { var, .. } => drop(self.inside.insert(*var, None)),
            StmtKind::Ancilla { var, init, .. } => {
                let count = self.elements_of(init);
                self.inside.insert(*var, count);
            }
            StmtKind::For { var, range, .. } => {
                times = self.trips(range);
                self.inside.insert(*var, None);
            }
            StmtKind::While { .. } => times = Count::Number(UNKNOWN_TRIPS),
            StmtKind::Instr { .. }
            | StmtKind::If { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        stmt.blocks().into_iter().fold(own, |sum, block| sum.plus(self.block(block).times(&times)))
    }

    /// The trips of a loop.
    fn trips(&self, range: &Range) -> Count {
        if let Some(n) = trips(self.function, range).and_then(|n| usize::try_from(n).ok()) {
            return Count::Number(n);
        }
        // a start inside the loop, as in `j..d`, is taken for 0
        match self.extent(&range.end).filter(|_| range.step.is_none()) {
            Some(end) => match self.extent(&range.start) {
                Some(start) => Arithmetic::Sub.of(end, start),
                None => end,
            },
            None => Count::Number(UNKNOWN_TRIPS),
        }
    }

    /// The value of an integer expression, if it is known before the loop and can be had without a failure.
    fn extent(&self, e: &Expr) -> Option<Count> {
        match &e.kind {
            ExprKind::Literal(Number::Int(n), _) => Some(Count::Number(usize::try_from(*n).ok()?)),
            ExprKind::Const(_) => Some(Count::Size(e.clone())),
            ExprKind::Read(place) if self.is_outside(place) => Some(Count::Value(e.clone())),
            ExprKind::Len(place, _) if self.is_outside(place) => Some(Count::Size(e.clone())),
            ExprKind::Len(place, None) if place.path.is_empty() => self.inside.get(&place.var)?.clone(),
            ExprKind::Func(func @ (Func::Add | Func::Sub | Func::Mul), args) => {
                let [a, b] = args.as_slice() else { return None };
                let op = match func {
                    Func::Add => Arithmetic::Add,
                    Func::Sub => Arithmetic::Sub,
                    _ => Arithmetic::Mul,
                };
                Some(op.of(self.extent(a)?, self.extent(b)?))
            }
            _ => None,
        }
    }

    /// The number of elements of an array that an expression makes.
    fn elements_of(&self, init: &Expr) -> Option<Count> {
        match &init.kind {
            ExprKind::Fill(_, shape) => {
                shape.iter().map(|e| self.extent(e)).collect::<Option<_>>().map(Count::Shape)
            }
            ExprKind::ZeroShadow(place) | ExprKind::ZeroLike(place) => self.elements(place),
            _ => None,
        }
    }

    /// The number of elements of an array.
    fn elements(&self, place: &Place) -> Option<Count> {
        if !place.path.is_empty() {
            return None;
        }
        match self.inside.get(&place.var) {
            Some(count) => count.clone(),
            None => self.arrays.contains(&place.var).then_some(Count::Elements(place.var)),
        }
    }

    /// The operations of a product of arrays.
    fn products(&self, target: &Place, expr: &Expr) -> Option<Count> {
        let ExprKind::Contract(_, factors) = &expr.kind else { return None };
        let arrays = factors.iter().filter_map(|f| match &f.kind {
            ExprKind::Read(place) => Some(place),
            _ => None,
        });
        let counts = std::iter::once(target).chain(arrays).map(|place| self.elements(place));
        counts.collect::<Option<_>>().map(Count::Products)
    }

    fn is_outside(&self, place: &Place) -> bool {
        place.path.is_empty() && !self.inside.contains_key(&place.var)
    }
}

/// The operations that stand in a body, each once however often it runs.
pub fn operations(body: &[Stmt]) -> usize {
    body.iter()
        .map(|stmt| {
            let mut n = if matches!(stmt.kind, StmtKind::Call { .. }) { CALL_WEIGHT } else { 1 };
            stmt.each_expr(&mut |e| n += size(e));
            n + stmt.blocks().into_iter().map(|block| operations(block)).sum::<usize>()
        })
        .sum()
}

fn size(e: &Expr) -> usize {
    let mut n = 1;
    e.each_child(&mut |c| n += size(c));
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::handles;
    use crate::text::parse_function;

    /// The work of an iteration of the first loop.
    fn work(params: &str, body: &str) -> String {
        let f = parse_function(&format!("fn f({params}) {{ par for i in 0..9 {{ {body} }} }}")).unwrap();
        let StmtKind::For { var, body, .. } = &f.body[0].kind else { panic!("{f}") };
        Work::of_iteration(&f, &handles(&f), *var, body).text(&f)
    }

    #[test]
    fn trips_are_counted_where_they_are_known() {
        assert_eq!(work("y: &mut [f64], x: [f64]", "y[i] += x[i]"), "4");
        assert_eq!(work("y: &mut [f64]", "for k in 0..3 { y[i] += 1.0 }"), "12");
        assert_eq!(
            work("y: &mut [f64], x: [f64]", "for k in 0..len(x) { y[i] += x[k] }"),
            "3 + (4 * (len(x) - 0))"
        );
        assert_eq!(work("y: &mut [f64], n: usize", "for k in i..n - 1 { y[i] += 1.0 }"), "5 + (3 * (n - 1))");
        assert_eq!(work("y: &mut [f64], n: [usize]", "for k in 0..n[i] { y[i] += 1.0 }"), "28");
    }

    #[test]
    fn arrays_of_an_iteration_have_known_sizes() {
        let body = "anc a: [f64] = fill(0.0, n, 2) { for k in 0..len(a) { y[i] += 1.0 } }";
        assert_eq!(work("y: &mut [f64], n: usize", body), "8 + (3 * (shape(n, 2) - 0))");
    }
}
