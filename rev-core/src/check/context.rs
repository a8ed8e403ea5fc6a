//! What every rule looks at: the function, the values of its bindings, its types, and the walk over
//! its statements.

use crate::ir::{Access, Block, Expr, ExprKind, Function, Place, Span, Stmt, Type, VarId};

use super::overlap::{overlap, Overlap, Values};
use super::types::Types;

/// The function under test and what is known about it.
pub(super) struct Context<'a> {
    pub function: &'a Function,
    pub values: Values<'a>,
    pub types: Types<'a>,
}

/// A place that a block writes, and the statement that does it.
pub(super) struct Written<'a> {
    pub place: &'a Place,
    pub span: Span,
}

impl<'a> Context<'a> {
    pub fn new(function: &'a Function) -> Context<'a> {
        Context { function, values: Values::of(function), types: Types::of(function) }
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

/// The places that a block writes, at any depth, in the order of the source.
pub(super) fn writes(block: &Block) -> Vec<Written<'_>> {
    let mut out = Vec::new();
    each_stmt(block, &mut |stmt| {
        stmt.each_place(&mut |place, access| match access {
            Access::Read => {}
            Access::Accumulate | Access::Write => out.push(Written { place, span: at(place, stmt) }),
        })
    });
    out
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
