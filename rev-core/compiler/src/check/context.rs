//! What every rule looks at: the function, the values of its bindings, its types, and the walk over
//! its statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use crate::ir::{Access, Block, Expr, ExprKind, Function, Place, Span, Stmt, StmtKind, Type, VarId};

use super::overlap::{compared, overlap, Overlap, Values};
use super::types::Types;

/// The function under test and what is known about it.
pub(super) struct Context<'a> {
    pub function: &'a Function,
    pub values: Values<'a>,
    pub types: Types<'a>,
    order: Order<'a>,
}

/// The statements in the order of the source, with what they write: so that a rule about a scope looks at what it is
/// about, not at all that is in the scope.
#[derive(Default)]
struct Order<'a> {
    /// The numbers of a statement and of those in it.
    numbers: HashMap<*const Stmt, Range<usize>>,
    writes: BTreeMap<VarId, Vec<(usize, Written<'a>)>>,
    releases: BTreeMap<VarId, Vec<(usize, &'a Stmt)>>,
    count: usize,
}

impl<'a> Order<'a> {
    fn add(&mut self, block: &'a Block) {
        for stmt in block {
            let number = self.count;
            self.count += 1;
            stmt.each_place(&mut |place, access| match access {
                Access::Read => {}
                Access::Accumulate | Access::Write => {
                    let written = Written { place, span: at(place, stmt), stmt };
                    self.writes.entry(place.var).or_default().push((number, written));
                }
            });
            if let StmtKind::Release { var, .. } = &stmt.kind {
                self.releases.entry(*var).or_default().push((number, stmt));
            }
            stmt.blocks().into_iter().for_each(|b| self.add(b));
            self.numbers.insert(std::ptr::from_ref(stmt), number..self.count);
        }
    }

    fn of(&self, block: &Block) -> Range<usize> {
        let number = |s: &Stmt| self.numbers.get(&std::ptr::from_ref(s)).cloned().unwrap_or_default();
        match (block.first(), block.last()) {
            (Some(first), Some(last)) => number(first).start..number(last).end,
            _ => 0..0,
        }
    }
}

/// The part of a list in the order of the source that is in a range.
fn within<'l, T>(list: Option<&'l Vec<(usize, T)>>, range: &Range<usize>) -> &'l [(usize, T)] {
    let list = list.map_or(&[][..], Vec::as_slice);
    let from = list.partition_point(|(k, _)| *k < range.start);
    let to = list.partition_point(|(k, _)| *k < range.end);
    &list[from..to.max(from)]
}

/// A place that a block writes, and the statement that does it.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub place: &'a Place,
    pub span: Span,
    pub stmt: &'a Stmt,
}

impl<'a> Context<'a> {
    pub fn new(function: &'a Function) -> Context<'a> {
        let mut order = Order::default();
        order.add(&function.body);
        Context { function, values: Values::of(function), types: Types::of(function), order }
    }

    /// The writes in a block, at any depth and in the order of the source, to variables on which expressions depend.
    pub fn writes_to<'e>(&self, block: &Block, exprs: impl Iterator<Item = &'e Expr>) -> Vec<Written<'a>> {
        let range = self.order.of(block);
        let vars: BTreeSet<VarId> = exprs.flat_map(|e| self.depends(e)).map(|p| p.var).collect();
        let mut found: Vec<(usize, Written)> =
            vars.iter().flat_map(|v| within(self.order.writes.get(v), &range)).copied().collect();
        found.sort_by_key(|(k, _)| *k);
        found.into_iter().map(|(_, w)| w).collect()
    }

    /// The releases of a variable in a block, at any depth.
    pub fn releases_in(&self, block: &Block, var: VarId) -> impl Iterator<Item = &'a Stmt> + '_ {
        within(self.order.releases.get(&var), &self.order.of(block)).iter().map(|(_, s)| *s)
    }

    /// The name of a variable as it is shown in messages.
    pub fn name(&self, var: VarId) -> &'a str {
        &self.function.var(var).name
    }

    /// A place as it is shown in messages.
    pub fn show(&self, place: &Place) -> String {
        crate::text::show(self.function, place).to_string()
    }

    /// Where a variable is declared.
    pub fn declared(&self, var: VarId) -> Span {
        self.function.var(var).span
    }

    pub fn overlap(&self, a: &Place, b: &Place) -> Overlap {
        overlap(a, b, &self.values)
    }

    /// The pairs of places that a statement finds apart when it runs.
    pub fn compared(&self, stmt: &'a Stmt) -> Vec<(&'a Place, &'a Place)> {
        compared(stmt, &self.values)
    }

    /// The constant that a binding stands for.
    pub fn constant(&self, var: VarId) -> Option<&'a str> {
        match &self.values.binding(var)?.kind {
            ExprKind::Named(path) => Some(path),
            _ => None,
        }
    }

    /// Whether two places surely share storage.
    pub fn same(&self, a: &Place, b: &Place) -> bool {
        self.overlap(a, b) == Overlap::Equal
    }

    /// Calls `f` on each statement of the function, outer ones first.
    pub fn each_stmt(&self, f: &mut dyn FnMut(&'a Stmt)) {
        each_stmt(&self.function.body, f)
    }

    /// The places that an expression depends on: those it reads, and stacks whose height it asks for.
    pub fn depends<'e>(&self, expr: &'e Expr) -> Vec<&'e Place> {
        let mut places = expr.reads();
        self.heights(expr, &mut places);
        places
    }

    fn heights<'e>(&self, expr: &'e Expr, places: &mut Vec<&'e Place>) {
        if let ExprKind::Len(p, _) = &expr.kind {
            if matches!(self.types.place(p), Type::Stack(_)) {
                places.push(p);
            }
        }
        expr.each_child(&mut |e| self.heights(e, places));
    }

    /// The first place that an expression depends on and that may share storage with a written one.
    pub fn clash<'e>(&self, expr: &'e Expr, written: &Place) -> Option<&'e Place> {
        self.depends(expr).into_iter().find(|p| self.overlap(p, written) != Overlap::Distinct)
    }
}

/// Calls `f` on each statement of a block and of the blocks in it, outer ones first.
pub(super) fn each_stmt<'a>(block: &'a Block, f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in block {
        f(stmt);
        stmt.blocks().into_iter().for_each(|b| each_stmt(b, f));
    }
}

/// The position of a place, or of its statement where the place has none.
pub(super) fn at(place: &Place, stmt: &Stmt) -> Span {
    or(place.span, stmt.span)
}

/// The first position if it is one, else the second.
pub(super) fn or(span: Span, other: Span) -> Span {
    if span.is_some() {
        span
    } else {
        other
    }
}
