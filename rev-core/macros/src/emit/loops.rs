//! Counted loops.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Block, Class, Expr, ExprKind, Number, Range, Type, VarId};

use super::body::{Around, Body, Repr};
use super::expr::is_of_literals;

impl Body<'_> {
    /// A loop that runs its iterations in order.
    pub fn for_loop(&mut self, var: VarId, range: &Range, body: &Block) -> TokenStream {
        let values = self.range(var, range);
        let name = self.name(var);
        let body = self.loop_body(var, body);
        quote!(for #name in #values { #body })
    }

    /// The statements of a loop, with its variable.
    pub fn loop_body(&mut self, var: VarId, body: &Block) -> TokenStream {
        self.set(var, Repr::Value);
        self.in_loop(Around::For(var), |b| b.block(body))
    }

    /// An iterator over the values of a range: Rust's own where that is enough, so that the
    /// compiler knows it.
    pub fn range(&mut self, var: VarId, range: &Range) -> TokenStream {
        if range.step.is_some() || !self.is_machine_integer(var) {
            return self.steps(var, range);
        }
        let of = self.counter_type(var, range);
        let (first, end) = (first(&range.start, of.as_ref()), self.expr(&range.end));
        let start = first.clone().unwrap_or_else(|| self.expr(&range.start));
        let of = of.map(|t| quote!(::<#t>));
        let values = match (range.inclusive, first) {
            (true, _) => quote!(::core::ops::RangeInclusive #of ::new(#start, #end)),
            (false, Some(first)) => quote!(#first..#end),
            (false, None) => quote!(::core::ops::Range #of { start: #start, end: #end }),
        };
        if range.reversed {
            quote!((#values).rev())
        } else {
            quote!((#values))
        }
    }

    /// The values of a range as [`Steps`](rev_cpu), which can be split.
    pub fn steps(&mut self, var: VarId, range: &Range) -> TokenStream {
        let p = self.p;
        let (start, end) = (self.expr(&range.start), self.expr(&range.end));
        let (inclusive, from_end, reversed) = (range.inclusive, range.from_end, range.reversed);
        let step = match &range.step {
            Some(step) => self.expr(step),
            None => quote!(1usize),
        };
        let step_type = step_type(range).map(|t| quote!(: #t));
        let of = self.counter_type(var, range).map(|t| quote!(::<#t>));
        let failure = self.fail(|at| quote!(#p::fail::step_below_one(#at, #p::number(__step))));
        quote!({
            let __step #step_type = #step;
            match #p::Steps #of::new(#start, #end, #inclusive, __step, #from_end, #reversed) {
                __Some(__s) => __s,
                __None => #failure,
            }
        })
    }

    /// The type of a loop's variable. Where nothing says what it is, any will do.
    pub fn counter_type(&self, var: VarId, range: &Range) -> Option<TokenStream> {
        let known = super::types::rust_type(&self.function.var(var).ty, self.p);
        let untyped = |e: &Expr| matches!(e.kind, ExprKind::Literal(_, None));
        known.or_else(|| range.exprs().all(untyped).then(|| quote!(usize)))
    }

    /// Whether a range is one of Rust's: consecutive values of a primitive type.
    pub fn is_plain_range(&self, var: VarId, range: &Range) -> bool {
        range.step.is_none() && !range.inclusive && self.is_machine_integer(var)
    }

    fn is_machine_integer(&self, var: VarId) -> bool {
        match &self.function.var(var).ty {
            Type::Scalar(s) => s.class() == Class::Integer,
            _ => false,
        }
    }
}

/// A literal that a range starts at, as one of the counter's type: nearly all loops start at one, and a literal costs the
/// compiler nothing.
fn first(start: &Expr, of: Option<&TokenStream>) -> Option<TokenStream> {
    match &start.kind {
        ExprKind::Literal(Number::Int(v @ 0..=127), None) => format!("{v}{}", of?).parse().ok(),
        _ => None,
    }
}

/// The type of a step of which nothing else says what it is: a step has a type of its own, which may be
/// wider than the loop variable's.
pub fn step_type(range: &Range) -> Option<TokenStream> {
    range.step.as_ref().is_some_and(is_of_literals).then(|| quote!(i128))
}
