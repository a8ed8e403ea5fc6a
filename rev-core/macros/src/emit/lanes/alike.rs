//! Variables that are alike in all lanes up to a loop that lanes leave one after the other: counters, and
//! what follows from them.
//!
//! In the loop such a variable is a plain value. What a lane has when it leaves is kept for it in a pack, the variable
//! that the statements after the loop see. Which these are is the plan's ([`AlikeSoFar`](rev_compiler::plan::AlikeSoFar)).

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Expr, Stmt, VarId};
use rev_compiler::plan::Alike;

use super::super::body::Body;

impl Body<'_> {
    /// Emits what follows an ancilla, which holds a pack.
    pub fn after_ancilla(
        &mut self,
        var: VarId,
        init: &Expr,
        emit: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let watched = self.held.contains(&var);
        if let Some(lane) = &mut self.lane {
            lane.alike.enter_scope(self.function, var, init, &lane.varying, watched);
        }
        let out = emit(self);
        if let Some(lane) = &mut self.lane {
            lane.alike.leave_scope(var);
        }
        out
    }

    /// Emits a statement.
    pub fn lane_stmt(&mut self, stmt: &Stmt) -> TokenStream {
        let entered =
            self.lane.as_mut().map(|lane| lane.alike.enter(stmt, &lane.varying)).unwrap_or_default();
        let out = self.lane_stmt_with(stmt, &entered.inside);
        if let Some(lane) = &mut self.lane {
            lane.alike.leave(stmt, &lane.varying, entered);
        }
        out
    }

    /// Emits a loop with plain values for the variables that are alike in it: what comes before it, what it
    /// is, and what each of its trips ends with.
    pub fn with_alike(
        &mut self,
        alike: &Alike,
        active: &proc_macro2::Ident,
        emit: impl FnOnce(&mut Self, &TokenStream) -> TokenStream,
    ) -> TokenStream {
        let outside = self.mask();
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        for (var, changed) in &alike.vars {
            let (name, left) = (self.name(*var), self.fresh("left"));
            // of a copy: one lane taken from a pack keeps it from being held in registers
            before.extend(quote!(
                let #left = &mut #name;
                let mut #name = __l::get(
                    &::core::clone::Clone::clone(&*#left), __l::first_active(__s, #outside)
                );
            ));
            if *changed {
                after.extend(quote!(
                    __l::assign(__s, #active, #left, __l::broadcast(__s, ::core::clone::Clone::clone(&#name)));
                ));
            }
        }
        let plain = alike.vars.iter().map(|(v, _)| v).chain(&alike.names);
        let inside = self.lane.as_ref().map(|lane| lane.varying.without(plain));
        let outer = self.lane.as_mut().zip(inside).map(|(lane, v)| std::mem::replace(&mut lane.varying, v));
        let out = emit(self, &after);
        if let Some((lane, outer)) = self.lane.as_mut().zip(outer) {
            lane.varying = outer;
        }
        quote!(#before #out)
    }
}
