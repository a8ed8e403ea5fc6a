//! Lines: the elements of an array along an innermost loop, found in range before it.
//!
//! An element whose index is the loop's variable plus something that the loop doesn't change,
//! `a[[c, k + i]]` for `i` in a range, runs along an axis of its array. Without checks, where every
//! such line of the loop is in range and its elements lie side by side, the loop runs on slices of
//! its own length: no access can fail, and the compiler may take several iterations at once. Else
//! the loop runs as it stands, and fails in the iteration and with the message that it should.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_core::ir::{
    Access, Block, Expr, ExprKind, Place, Range, Rank, ScalarType, Step, Stmt, StmtKind, Type, VarId,
};
use rev_core::ops::Func;

use super::body::{Body, Repr};
use super::expr::Reach;
use super::names::ident;

/// A line of an array.
#[derive(Clone)]
pub struct Line {
    /// The array with the index of its element.
    element: Place,
    /// The axis along which the loop goes.
    axis: usize,
    /// The slice's name.
    name: Ident,
    /// The name of the number of the iteration.
    number: Ident,
}

impl Body<'_> {
    /// The loop in two forms: along lines, and `otherwise`. `None` where it has no lines.
    pub fn along_lines(
        &mut self,
        var: VarId,
        range: &Range,
        body: &Block,
        otherwise: &TokenStream,
    ) -> Option<TokenStream> {
        let innermost = body.iter().all(is_straight);
        if self.checked || !innermost || !self.counts_by_one(var, range) {
            return None;
        }
        let lines = self.lines_of(var, body);
        if lines.is_empty() {
            return None;
        }
        let (name, number) = (self.name(var), ident("__number"));
        let (start, end) = (self.expr(&range.start), self.expr(&range.end));
        let slices: Vec<TokenStream> = lines.iter().map(|line| self.slice_of(line)).collect();
        let names: Vec<Ident> = lines.iter().map(|line| line.name.clone()).collect();
        let outside = std::mem::replace(&mut self.lines, lines);
        let statements = self.loop_body(var, body);
        self.lines = outside;
        let numbers = if range.reversed { quote!((0..__count).rev()) } else { quote!(0..__count) };
        Some(quote!({
            let __first: usize = #start;
            let __count: usize = usize::saturating_sub(#end, __first);
            let __lines = {
                let #name = __first;
                (#(#slices,)*)
            };
            if let (#(::core::option::Option::Some(#names),)*) = __lines {
                for #number in #numbers {
                    let #name = usize::wrapping_add(__first, #number);
                    #statements
                }
            } else {
                #otherwise
            }
        }))
    }

    fn counts_by_one(&self, var: VarId, range: &Range) -> bool {
        let counter = &self.function.var(var).ty;
        *counter == Type::Scalar(ScalarType::Usize) && self.is_plain_range(var, range)
    }

    /// The lines of a loop's body, each once.
    fn lines_of(&self, var: VarId, body: &Block) -> Vec<Line> {
        let mut changing = BTreeSet::new();
        for stmt in body {
            stmt.add_bound(&mut changing);
            stmt.each_access_deep(&mut |place, access| {
                if access != Access::Read {
                    changing.insert(place.var);
                }
            });
        }
        let mut lines: Vec<Line> = Vec::new();
        for stmt in body {
            stmt.each_access_deep(&mut |place, _| {
                if lines.iter().any(|line| same_element(&line.element, place)) {
                    return;
                }
                if let Some(axis) = self.axis_along(var, place, &changing) {
                    let element = Place { path: place.path[..1].to_vec(), ..place.clone() };
                    let (name, number) = (ident(&format!("__line{}", lines.len())), ident("__number"));
                    lines.push(Line { element, axis, name, number });
                }
            });
        }
        lines
    }

    /// The axis along which a place goes with a loop variable.
    fn axis_along(&self, var: VarId, place: &Place, changing: &BTreeSet<VarId>) -> Option<usize> {
        let Some(Step::Index(index)) = place.path.first() else { return None };
        let handle = self.repr(place.var) == Repr::Handle && !self.atomic.contains(&place.var);
        if !handle || !has_lines(&self.function.var(place.var).ty) || self.lent_element(place).is_some() {
            return None;
        }
        let axis = index.iter().position(|e| e.mentions(var))?;
        let others = index.iter().enumerate().filter(|(k, _)| *k != axis);
        let still = others.into_iter().all(|(_, e)| is_still(e, var, changing));
        (still && goes_along(&index[axis], var, changing)).then_some(axis)
    }

    /// The slice that a line is, at the first value of the loop's variable.
    fn slice_of(&mut self, line: &Line) -> TokenStream {
        let array = self.name(line.element.var);
        let index: Vec<TokenStream> = match line.element.path.first() {
            Some(Step::Index(index)) => self.exprs(index),
            _ => Vec::new(),
        };
        let axis = line.axis;
        quote!(#array.line([#(#index),*], #axis, __count))
    }

    /// The line with which the path of a place begins, and the number of the element on it.
    pub fn line_of(&self, place: &Place) -> Option<(Ident, Ident)> {
        let line = self.lines.iter().find(|line| same_element(&line.element, place))?;
        Some((line.name.clone(), line.number.clone()))
    }

    /// An element on a line, which is always there.
    pub fn line_place(
        &mut self,
        line: &Ident,
        number: &Ident,
        array: &TokenStream,
        index: &[Expr],
        place: &Place,
        reach: Reach,
    ) -> TokenStream {
        let p = self.p;
        let method = ident(if reach == Reach::Read { "rd" } else { "wr" });
        let (index, shown) = (self.exprs(index), self.show(place));
        let axes = 0..index.len();
        let absent = self.fail(|at| {
            let sizes = axes.map(|k| quote!(#p::Extents::extent(&#array, #k)));
            quote!(#p::fail::out_of_range(#at, #shown, &[#(#index),*], &[#(#sizes),*]))
        });
        quote!((*match #line.#method([#number]) {
            ::core::option::Option::Some(__e) => __e,
            ::core::option::Option::None => #absent,
        }))
    }
}

/// Whether a statement has no loops and no calls in it.
fn is_straight(stmt: &Stmt) -> bool {
    let own = !matches!(
        stmt.kind,
        StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Call { .. } | StmtKind::External { .. }
    );
    own && stmt.blocks().into_iter().flatten().all(is_straight)
}

/// Arrays whose number of dimensions is known.
fn has_lines(ty: &Type) -> bool {
    match ty {
        Type::Array(_, Rank::Fixed(_)) | Type::Fixed(..) => true,
        Type::Shadow(inner) => has_lines(inner),
        _ => false,
    }
}

fn same_element(element: &Place, place: &Place) -> bool {
    match (element.path.first(), place.path.first()) {
        (Some(Step::Index(a)), Some(Step::Index(b))) => {
            element.var == place.var && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
        }
        _ => false,
    }
}

/// Whether an index is the loop's variable plus what the loop doesn't change.
fn goes_along(e: &Expr, var: VarId, changing: &BTreeSet<VarId>) -> bool {
    match &e.kind {
        ExprKind::Read(p) => p.var == var && p.path.is_empty(),
        ExprKind::Func(Func::Add, args) => match args.as_slice() {
            [a, b] => {
                goes_along(a, var, changing) && is_still(b, var, changing)
                    || is_still(a, var, changing) && goes_along(b, var, changing)
            }
            _ => false,
        },
        ExprKind::Func(Func::Sub, args) => match args.as_slice() {
            [a, b] => goes_along(a, var, changing) && is_still(b, var, changing),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an index is arithmetic on what a loop doesn't change, and can't fail.
fn is_still(e: &Expr, var: VarId, changing: &BTreeSet<VarId>) -> bool {
    match &e.kind {
        ExprKind::Literal(..) | ExprKind::Const(_) | ExprKind::Named(_) => true,
        ExprKind::Read(p) => p.path.is_empty() && p.var != var && !changing.contains(&p.var),
        ExprKind::Len(p, _) => p.path.is_empty() && !changing.contains(&p.var),
        ExprKind::Func(Func::Add | Func::Sub | Func::Mul, args) => {
            args.iter().all(|a| is_still(a, var, changing))
        }
        _ => false,
    }
}
