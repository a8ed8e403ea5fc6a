//! Variables that are alike in all lanes up to a loop that lanes leave one after the other: counters, and
//! what follows from them.
//!
//! In the loop all active lanes have made the same trips, so that such a variable has one value for them:
//! it is computed once, as a plain value. What a lane has when it leaves is kept for it in a pack, the
//! variable that the statements after the loop see.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{Access, Block, Expr, Stmt, StmtKind, VarId};

use super::super::body::Body;
use super::super::types::is_scalar;
use super::Varying;

/// The variables that are alike in a loop.
#[derive(Debug, Default)]
pub struct Alike {
    /// Those from outside, and whether the loop changes them.
    vars: Vec<(VarId, bool)>,
    /// Names of the loop's own for values that follow from them.
    names: BTreeSet<VarId>,
}

impl Body<'_> {
    /// Emits what follows an ancilla, which holds a pack.
    pub fn after_ancilla(
        &mut self,
        var: VarId,
        init: &Expr,
        emit: impl FnOnce(&mut Self) -> TokenStream,
    ) -> TokenStream {
        let alike = !self.varies(init) && is_scalar(&self.function.var(var).ty);
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
            StmtKind::While { cond, body, .. } => self.alike_in(cond, body, &here),
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
            let varying = without(&lane.varying, lane.alike.iter());
            lane.alike.retain(|&v| keeps(stmt, v, &varying));
        }
        out
    }

    /// The variables of which active lanes have the same value throughout a loop.
    fn alike_in(&self, cond: &Expr, body: &Block, before: &BTreeSet<VarId>) -> Alike {
        let Some(lane) = &self.lane else { return Alike::default() };
        let mut found: BTreeSet<VarId> = before.clone();
        found.retain(|&v| cond.mentions(v) || body.iter().any(|s| touches(s, v)));
        loop {
            let mut varying = without(&lane.varying, found.iter());
            let mut names = BTreeSet::new();
            uniform_names(body, &mut varying, &mut names);
            let left: BTreeSet<VarId> =
                found.iter().copied().filter(|&v| body.iter().all(|s| keeps(s, v, &varying))).collect();
            if left.len() == found.len() {
                let changed = |v: VarId| body.iter().any(|s| writes(s, v));
                return Alike { vars: found.into_iter().map(|v| (v, changed(v))).collect(), names };
            }
            found = left;
        }
    }

    /// Emits a loop with plain values for the variables that are alike in it: what comes before it, what it
    /// is, and what each of its trips ends with.
    pub fn with_alike(
        &mut self,
        alike: &Alike,
        active: &proc_macro2::Ident,
        emit: impl FnOnce(&mut Self, &TokenStream) -> TokenStream,
    ) -> TokenStream {
        let (p, outside) = (self.p, self.mask());
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        for (var, changed) in &alike.vars {
            let (name, left) = (self.name(*var), self.fresh("left"));
            // of a copy: one lane taken from a pack keeps it from being held in registers
            before.extend(quote!(
                let #left = &mut #name;
                let mut #name = #p::lanes::get(
                    &::core::clone::Clone::clone(&*#left), #p::lanes::first_active(__s, #outside)
                );
            ));
            if *changed {
                after.extend(quote!(
                    #p::lanes::assign(__s, #active, #left, #p::lanes::splat(::core::clone::Clone::clone(&#name)));
                ));
            }
        }
        let plain = alike.vars.iter().map(|(v, _)| v).chain(&alike.names);
        let inside = self.lane.as_ref().map(|lane| without(&lane.varying, plain));
        let outer = self.lane.as_mut().zip(inside).map(|(lane, v)| std::mem::replace(&mut lane.varying, v));
        let out = emit(self, &after);
        if let Some((lane, outer)) = self.lane.as_mut().zip(outer) {
            lane.varying = outer;
        }
        quote!(#before #out)
    }
}

/// The same, with some variables plain values.
fn without<'v>(varying: &Varying, plain: impl Iterator<Item = &'v VarId>) -> Varying {
    let mut out = varying.clone();
    plain.for_each(|v| {
        out.packs.remove(v);
    });
    out
}

/// The names that the statements of a block, one after the other, give to values that don't differ.
fn uniform_names(block: &Block, varying: &mut Varying, names: &mut BTreeSet<VarId>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Let { var, expr, body } => {
                if !varying.expr(expr) && varying.packs.remove(var) {
                    names.insert(*var);
                }
                uniform_names(body, varying, names);
            }
            StmtKind::Ancilla { body, .. } => uniform_names(body, varying, names),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }
}

/// Whether a variable that is alike before a statement still is after it.
fn keeps(stmt: &Stmt, var: VarId, varying: &Varying) -> bool {
    match &stmt.kind {
        StmtKind::Update { place, expr, .. } if place.var == var => {
            place.path.is_empty() && !varying.expr(expr)
        }
        StmtKind::Instr { places, operands, .. } if places.iter().any(|q| q.var == var) => {
            places.len() == 1
                && places.iter().all(|q| q.path.is_empty())
                && !operands.iter().any(|e| varying.expr(e))
        }
        StmtKind::Let { body, .. } | StmtKind::Ancilla { body, .. } => {
            body.iter().all(|s| keeps(s, var, varying))
        }
        _ => !writes(stmt, var),
    }
}

fn writes(stmt: &Stmt, var: VarId) -> bool {
    let mut found = false;
    stmt.each_access_deep(&mut |q, access| found |= q.var == var && access != Access::Read);
    found
}

fn touches(stmt: &Stmt, var: VarId) -> bool {
    let mut found = false;
    stmt.each_access_deep(&mut |q, _| found |= q.var == var);
    found
}
