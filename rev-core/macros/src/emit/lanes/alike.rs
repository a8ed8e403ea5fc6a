//! Variables that are alike in all lanes up to a loop that lanes leave one after the other: counters, and
//! what follows from them.
//!
//! In the loop such a variable is a plain value. What a lane has when it leaves is kept for it in a pack, the variable
//! that the statements after the loop see.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Expr, Stmt, StmtKind, VarId};
use rev_compiler::plan::{keeps, Alike};

use super::super::body::Body;

impl Body<'_> {
    /// Emits what follows an ancilla, which holds a pack.
    pub fn after_ancilla(
        &mut self,
        var: VarId,
        init: &Expr,
        emit: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        // what is watched until its release is watched in each lane
        let scalar = self.function.var(var).ty.is_scalar();
        let alike = scalar && !self.varies(init) && !self.held.contains(&var);
        if let Some(lane) = self.lane.as_mut().filter(|_| alike) {
            lane.alike.insert(var);
        }
        let out = emit(self);
        if let Some(lane) = &mut self.lane {
            lane.alike.remove(&var);
        }
        out
    }

    /// Emits a statement, and forgets the variables that are no longer alike after it.
    pub fn lane_stmt(&mut self, stmt: &Stmt) -> TokenStream {
        // what statements in a loop or a branch find isn't what its own do once, in order
        let inner = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. });
        let here = self.lane.as_ref().map(|lane| lane.alike.clone()).unwrap_or_default();
        let in_loop = match &stmt.kind {
            StmtKind::While { cond, body, .. } => self
                .lane
                .as_ref()
                .map(|lane| Alike::of_loop(&lane.varying, cond, body, &here))
                .unwrap_or_default(),
            _ => Alike::default(),
        };
        if let Some(lane) = self.lane.as_mut().filter(|_| inner) {
            lane.alike.clear();
        }
        let out = self.lane_stmt_with(stmt, in_loop);
        if let Some(lane) = &mut self.lane {
            if inner {
                lane.alike = here;
            }
            let varying = lane.varying.without(lane.alike.iter());
            lane.alike.retain(|&v| keeps(stmt, v, &varying));
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
                    __l::assign(__s, #active, #left, __l::splat(::core::clone::Clone::clone(&#name)));
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
