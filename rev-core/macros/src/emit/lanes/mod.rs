//! Parallel loops in lanes: the statements of several iterations at once.
//!
//! A group of iterations runs the body once, on packs: what differs between them is held in vectors,
//! one lane for each; what doesn't stays a plain value ([`Varying`]). A condition that differs becomes a
//! mask, under which both branches run; a loop runs until no lane is active. Elements chosen by an
//! index that differs are gathered and scattered, and what all iterations accumulate into gets the
//! sum over the lanes.
//!
//! The functions that a laned loop calls are emitted for lanes too, with packs as arguments
//! ([`program`]). Those that can't be (and everything else that has no lanes) run lane by lane.
//! Variables that are alike in all lanes that a loop still has are plain values in it ([`mod@alike`]).
//! What runs in lanes, and in how many, the plan says ([`rev_compiler::plan`]).
//! Nothing here depends on the instruction set: every function of the runtime takes it as its first
//! argument, `__s`.

mod alike;
mod call;
mod checks;
mod expr;
mod place;
mod program;
mod rows;
mod stmt;

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, ToTokens};
use rev_compiler::ir::{Block, VarId};
use rev_compiler::plan::{AlikeSoFar, Lanes, Varying};

use super::body::Body;
use super::names::ident;
pub use program::{declared, program};
use rows::Row;

/// What the emitter knows while it emits statements for lanes.
pub struct Lane {
    /// The values that differ.
    pub varying: Varying,
    /// The arrays from outside into which iterations only accumulate.
    pub shared: BTreeSet<VarId>,
    /// The scalars held in packs that have the same value in all lanes so far.
    alike: AlikeSoFar,
    /// The mask of the active lanes.
    mask: Ident,
    /// Names given so far.
    names: usize,
    /// The rows that packs hold.
    rows: Vec<Row>,
    /// The lane of which an error tells.
    failing: Option<TokenStream>,
    /// Whether these are a function's statements: whoever calls it in lanes has to know which of them an error is about.
    called: bool,
}

impl Lane {
    /// The lanes of a mask: those of a group of iterations, or for which a function is called.
    pub fn under(Lanes { varying, shared }: Lanes, mask: Ident) -> Lane {
        let (alike, rows) = (AlikeSoFar::default(), Vec::new());
        Lane { varying, shared, alike, mask, names: 0, rows, failing: None, called: false }
    }

    /// The same in a function that lanes call.
    pub fn called(self) -> Lane {
        Lane { called: true, ..self }
    }
}

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One plain value for all lanes.
    Uniform,
    /// The first lane's and a step.
    Linear,
    /// A pack.
    Pack,
}

impl Body<'_> {
    /// The statements of a loop for the lanes of a group.
    pub fn laned(&mut self, var: VarId, body: &Block, lane: Lane) -> TokenStream {
        let outside = self.lane.replace(lane);
        let statements = self.loop_body(var, body);
        self.lane = outside;
        statements
    }

    /// How a variable is held.
    pub fn kind(&self, var: VarId) -> Kind {
        match &self.lane {
            Some(lane) if lane.varying.linear.contains(&var) => Kind::Linear,
            Some(lane) if lane.varying.packs.contains(&var) => Kind::Pack,
            Some(_) | None => Kind::Uniform,
        }
    }

    /// A number of a loop that is around, for messages: of the lane that they are about.
    pub fn lane_number(&self, var: VarId) -> TokenStream {
        let name = self.name(var);
        let lane = self.told();
        match self.kind(var) {
            Kind::Uniform => quote!(#name),
            Kind::Linear => quote!(#name.at(#lane)),
            Kind::Pack => quote!(__l::get(&#name, #lane)),
        }
    }

    /// The number of the lane of which an error tells: the first active one, where it is about none.
    pub fn told(&self) -> TokenStream {
        let active = self.mask();
        let failing = self.lane.as_ref().and_then(|lane| lane.failing.clone());
        failing.unwrap_or_else(|| quote!(__l::first_active(__s, #active)))
    }

    /// An error with the lane that it tells of, where a caller has to know.
    pub fn about_told(&self, error: TokenStream) -> TokenStream {
        if !self.lane.as_ref().is_some_and(|lane| lane.called) {
            return error;
        }
        let lane = self.told();
        quote!(#error.in_lane(#lane))
    }

    /// The mask of the active lanes, as an argument.
    fn mask(&self) -> TokenStream {
        self.lane.as_ref().map(|lane| &lane.mask).into_token_stream()
    }

    /// Emits with another mask.
    fn masked<R>(&mut self, mask: &Ident, emit: impl FnOnce(&mut Self) -> R) -> R {
        let outside = self.lane.as_mut().map(|lane| std::mem::replace(&mut lane.mask, mask.clone()));
        let out = emit(self);
        if let Some((lane, outside)) = self.lane.as_mut().zip(outside) {
            lane.mask = outside;
        }
        out
    }

    /// Emits an error about a lane whose number is in a variable.
    pub fn failing_at(
        &mut self,
        lane: TokenStream,
        make: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        self.about_lane(lane, |b| b.fail(make))
    }

    /// Emits what tells of the lane `__lane`.
    fn of_lane(&mut self, emit: impl FnOnce(&mut Self) -> TokenStream) -> TokenStream {
        self.about_lane(quote!(__lane), emit)
    }

    pub fn about_lane<R>(&mut self, lane: TokenStream, emit: impl FnOnce(&mut Self) -> R) -> R {
        if let Some(state) = &mut self.lane {
            state.failing = Some(lane);
        }
        let out = emit(self);
        if let Some(state) = &mut self.lane {
            state.failing = None;
        }
        out
    }

    /// A name that nothing else has.
    fn fresh(&mut self, prefix: &str) -> Ident {
        let count = self.lane.as_mut().map_or(0, |lane| {
            lane.names += 1;
            lane.names
        });
        ident(&format!("__{prefix}{count}"))
    }

    fn varies(&self, e: &rev_compiler::ir::Expr) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.varying.expr(e))
    }

    fn is_own(&self, var: VarId) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.varying.own.contains(&var))
    }
}
