//! How much work an iteration of a parallel loop is, roughly: from this follows, before anything has run, on how
//! many threads a loop of few iterations is run.
//!
//! The work is an expression, evaluated before the loop: the trips of a loop inside are counted where its ends
//! are known there, as are the multiplications of a product of arrays whose sizes are.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::facts::trips;
use rev_compiler::ir::{Block, Expr, ExprKind, Number, Place, Range, Stmt, StmtKind, VarId};
use rev_compiler::ops::Func;

use super::body::{Body, Repr};
use super::names::ident;

/// The iterations taken for a loop whose number of them isn't known.
const UNKNOWN_TRIPS: usize = 8;

/// The operations taken for a call.
const CALL_WEIGHT: usize = 32;

/// How often a block runs.
enum Trips {
    Number(usize),
    /// Known at run time, a `usize`.
    Known(TokenStream),
}

/// A number of operations.
#[derive(Default)]
struct Weight {
    known: usize,
    /// What is known at run time, each a `usize`.
    terms: Vec<TokenStream>,
}

impl Weight {
    fn plus(mut self, other: Weight) -> Weight {
        self.known = self.known.saturating_add(other.known);
        self.terms.extend(other.terms);
        self
    }

    fn times(self, trips: &Trips) -> Weight {
        match trips {
            Trips::Number(1) => self,
            Trips::Number(n) => Weight {
                known: self.known.saturating_mul(*n),
                terms: self.terms.into_iter().map(|t| quote!((#t).saturating_mul(#n))).collect(),
            },
            Trips::Known(n) => {
                let each = self.tokens();
                Weight { known: 0, terms: vec![quote!((#each).saturating_mul(#n))] }
            }
        }
    }

    fn tokens(&self) -> TokenStream {
        let Weight { known, terms } = self;
        quote!(#known #(.saturating_add(#terms))*)
    }
}

/// The variables that a loop's body declares, each with the number of its elements where it is an array of which
/// that is known before the loop.
type Inside = BTreeMap<VarId, Option<TokenStream>>;

impl Body<'_> {
    /// The operations of an iteration of a loop, about, as a `usize`.
    pub fn weight(&mut self, var: VarId, body: &Block) -> TokenStream {
        self.weight_of_block(body, &mut Inside::from([(var, None)])).tokens()
    }

    fn weight_of_block(&mut self, block: &Block, inside: &mut Inside) -> Weight {
        block.iter().fold(Weight::default(), |sum, s| {
            let weight = self.weight_of(s, inside);
            sum.plus(weight)
        })
    }

    fn weight_of(&mut self, stmt: &Stmt, inside: &mut Inside) -> Weight {
        let mut known = 1;
        stmt.each_expr(&mut |e| known += size(e));
        stmt.each_place(&mut |q, _| q.indices().for_each(|e| known += size(e)));
        let mut own = Weight { known, terms: Vec::new() };
        let mut times = Trips::Number(1);
        match &stmt.kind {
            StmtKind::Call { .. } => own.known += CALL_WEIGHT,
            StmtKind::Update { place, expr, .. } => own.terms.extend(self.products(place, expr, inside)),
            StmtKind::Let { var, .. } => drop(inside.insert(*var, None)),
            StmtKind::Ancilla { var, init, .. } => {
                let count = self.elements_of(init, inside);
                inside.insert(*var, count);
            }
            StmtKind::For { var, range, .. } => {
                times = self.trips(range, inside);
                inside.insert(*var, None);
            }
            StmtKind::While { .. } => times = Trips::Number(UNKNOWN_TRIPS),
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
        stmt.blocks().into_iter().fold(own, |sum, block| {
            let each = self.weight_of_block(block, inside);
            sum.plus(each.times(&times))
        })
    }

    /// The trips of a loop.
    fn trips(&mut self, range: &Range, inside: &Inside) -> Trips {
        if let Some(n) = trips(self.function, range).and_then(|n| usize::try_from(n).ok()) {
            return Trips::Number(n);
        }
        let end = self.extent(&range.end, inside).filter(|_| range.step.is_none());
        // a start inside the loop, as in `j..d`, is taken for 0
        match (end, self.extent(&range.start, inside)) {
            (Some(end), Some(start)) => Trips::Known(quote!((#end).saturating_sub(#start))),
            (Some(end), None) => Trips::Known(end),
            (None, _) => Trips::Number(UNKNOWN_TRIPS),
        }
    }

    /// The value of an integer expression, if it is known before the loop and can be had without a failure: a
    /// `usize` that is 0 where it is negative.
    fn extent(&mut self, e: &Expr, inside: &Inside) -> Option<TokenStream> {
        let p = self.p;
        match &e.kind {
            ExprKind::Literal(Number::Int(n), _) => {
                let n = usize::try_from(*n).ok()?;
                Some(quote!(#n))
            }
            ExprKind::Const(_) => Some(self.expr(e)),
            ExprKind::Read(place) if is_outside(place, inside) => {
                let value = self.expr(e);
                Some(quote!(#p::parallel::extent(#value)))
            }
            ExprKind::Len(place, _) if is_outside(place, inside) => Some(self.expr(e)),
            ExprKind::Len(place, None) if place.path.is_empty() => inside.get(&place.var)?.clone(),
            ExprKind::Func(func @ (Func::Add | Func::Sub | Func::Mul), args) => {
                let [a, b] = args.as_slice() else { return None };
                let (a, b) = (self.extent(a, inside)?, self.extent(b, inside)?);
                let name = ident(match func {
                    Func::Add => "saturating_add",
                    Func::Sub => "saturating_sub",
                    _ => "saturating_mul",
                });
                Some(quote!((#a).#name(#b)))
            }
            _ => None,
        }
    }

    /// The number of elements of an array that an expression makes.
    fn elements_of(&mut self, init: &Expr, inside: &Inside) -> Option<TokenStream> {
        match &init.kind {
            ExprKind::Fill(_, shape) => {
                let extents: Option<Vec<_>> = shape.iter().map(|e| self.extent(e, inside)).collect();
                let extents = extents?;
                Some(quote!(1usize #(.saturating_mul(#extents))*))
            }
            ExprKind::ZeroShadow(place) | ExprKind::ZeroLike(place) => self.elements(place, inside),
            _ => None,
        }
    }

    /// The number of elements of an array.
    fn elements(&mut self, place: &Place, inside: &Inside) -> Option<TokenStream> {
        if !place.path.is_empty() {
            return None;
        }
        let p = self.p;
        match inside.get(&place.var) {
            Some(count) => count.clone(),
            None if self.repr(place.var) == Repr::Handle => {
                let name = self.name(place.var);
                Some(quote!(#p::Extents::count(&#name)))
            }
            None => None,
        }
    }

    /// The operations of a product of arrays.
    fn products(&mut self, target: &Place, expr: &Expr, inside: &Inside) -> Option<TokenStream> {
        let ExprKind::Contract(_, factors) = &expr.kind else { return None };
        let arrays = factors.iter().filter_map(|f| match &f.kind {
            ExprKind::Read(place) => Some(place),
            _ => None,
        });
        let counts = std::iter::once(target).chain(arrays).map(|place| self.elements(place, inside));
        let counts: Vec<TokenStream> = counts.collect::<Option<_>>()?;
        let p = self.p;
        Some(quote!(#p::parallel::products(&[#(#counts),*])))
    }
}

fn is_outside(place: &Place, inside: &Inside) -> bool {
    place.path.is_empty() && !inside.contains_key(&place.var)
}

fn size(e: &Expr) -> usize {
    let mut n = 1;
    e.each_child(&mut |c| n += size(c));
    n
}
