//! Variables that are alike in all lanes up to a loop that lanes leave one after the other: counters, and
//! what follows from them.
//!
//! In the loop all active lanes have made the same trips, so that such a variable has one value for them, which is
//! computed once.

use std::collections::BTreeSet;

use crate::ir::{Access, Block, Expr, Function, Stmt, StmtKind, VarId};

use super::Varying;

/// The scalars held in packs that have the same value in all lanes so far, from statement to statement in their order.
#[derive(Debug, Default)]
pub struct AlikeSoFar(BTreeSet<VarId>);

/// A statement that was entered, until it is left.
#[derive(Debug, Default)]
pub struct Entered {
    /// What is alike in it where it is a loop.
    pub inside: Alike,
    /// What was alike before it, where what its own statements do isn't done once, in order.
    outside: Option<BTreeSet<VarId>>,
}

impl AlikeSoFar {
    /// The scope of an ancilla that starts at a value. What is watched until its release is watched in each lane.
    pub fn enter_scope(
        &mut self,
        function: &Function,
        var: VarId,
        init: &Expr,
        varying: &Varying,
        watched: bool,
    ) {
        if function.var(var).ty.is_scalar() && !varying.expr(init) && !watched {
            self.0.insert(var);
        }
    }

    /// The end of such a scope.
    pub fn leave_scope(&mut self, var: VarId) {
        self.0.remove(&var);
    }

    /// A statement that comes next.
    pub fn enter(&mut self, stmt: &Stmt, varying: &Varying) -> Entered {
        let inside = match &stmt.kind {
            StmtKind::While { cond, body, .. } => Alike::of_loop(varying, cond, body, &self.0),
            _ => Alike::default(),
        };
        let inner = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::For { .. });
        Entered { inside, outside: inner.then(|| std::mem::take(&mut self.0)) }
    }

    /// The same statement behind it: what it changed may differ now.
    pub fn leave(&mut self, stmt: &Stmt, varying: &Varying, entered: Entered) {
        if let Some(outside) = entered.outside {
            self.0 = outside;
        }
        let varying = varying.without(self.0.iter());
        self.0.retain(|&v| keeps(stmt, v, &varying));
    }
}

/// The variables that are alike in a loop.
#[derive(Debug, Default)]
pub struct Alike {
    /// Those from outside, and whether the loop changes them.
    pub vars: Vec<(VarId, bool)>,
    /// Names of the loop's own for values that follow from them.
    pub names: BTreeSet<VarId>,
}

impl Alike {
    /// The variables of which active lanes have the same value throughout a loop, of those that are alike before it.
    fn of_loop(outside: &Varying, cond: &Expr, body: &Block, before: &BTreeSet<VarId>) -> Alike {
        let mut found: BTreeSet<VarId> = before.clone();
        found.retain(|&v| cond.mentions(v) || body.iter().any(|s| touches(s, v)));
        loop {
            let mut varying = outside.without(found.iter());
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
