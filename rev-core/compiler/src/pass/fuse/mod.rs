//! Fusing: a program and its adjoint in one, from the state and the cotangents after it to the state
//! after it and the cotangents before it: what a gradient with its value is.
//!
//! Run one after the other they bring every ancilla back and then compute it anew. Here they become
//! one program. It has the parameters of the adjoint, and from their seam outwards
//!
//! * what the program takes back last and the adjoint computes first cancels;
//! * scopes, branches and parallel loops that meet there become one, and so on inside them: a parallel
//!   loop and its adjoint are one sweep over the iterations;
//! * a call and the adjoint of the same call become a call of the callee's fused program.
//!
//! What then nobody reads is erased. Where nothing meets, nothing is gained, and there is no fused
//! program; nor is there one of a program that reads what it writes, whose adjoint must have the state
//! taken back while the caller wants it kept.
//!
//! Values and gradients are the same as those of the two programs, bit for bit, but for the order in
//! which the iterations of a parallel loop add to what they share: both sums are taken in the
//! adjoint's.
//!
//! Calls name programs of the callee behind its path: [`Derived::Fused`], and [`Derived::Shadows`] for the adjoint that restores
//! no state.

mod merge;
mod module;

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{accumulated_by, written_params, PassedOn};
use crate::ir::{
    Arg, ArgValue, Block, Callee, Derived, Direction, Function, FunctionPath, Mode, Place, Span, Stmt,
    StmtKind, UpdateOp, Var, VarId, VarKind,
};
use crate::pass::{fresh_names, verified_adjoint, Adjoint};
use crate::validate::{verified, Form};

use super::erase::{claims, erase_marking, erase_watched, written_out, Erased, Wanted};
use crate::check::overlap::Values;
use merge::Merge;

/// A program with its adjoint. It can be run forward without checks, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    pub(super) function: Function,
    /// The callees whose fused programs it calls.
    pub fuses: BTreeSet<FunctionPath>,
    /// What callees must only accumulate into, for the program to be right.
    pub accumulates: Vec<PassedOn>,
}

impl Fused {
    /// The program for a backend where a call of an adjoint says what it restores. `None` where it calls other programs of its
    /// callees than those that directions name, or has to know what these do.
    pub fn erased(self) -> Option<Erased> {
        let (mut function, mut forgetful, mut restoring) = (self.function, BTreeSet::new(), BTreeSet::new());
        by_directions(&mut function.body, &mut forgetful, &mut restoring)?;
        let forgetful = forgetful.difference(&restoring).copied().collect();
        self.accumulates.is_empty().then(|| Erased::forgetting(function, forgetful))
    }

    /// The function, for a module that is to be run without checks.
    pub fn into_inner(self) -> Function {
        self.function
    }
}

impl std::ops::Deref for Fused {
    type Target = Function;
    fn deref(&self) -> &Function {
        &self.function
    }
}

/// The function and its adjoint as one program, where something of them meets, to be run without checks.
pub fn fuse(function: &Function) -> Option<Fused> {
    function.grown(|| fused(function, false))
}

/// The same to be run with checks too. `None` where the function [claims](claims) anything.
pub fn fuse_proven(function: &Function) -> Option<Fused> {
    match claims(&function.body, &Values::of(function)) {
        true => None,
        false => function.grown(|| fused(function, function.checks)),
    }
}

fn fused(function: &Function, watched: bool) -> Option<Fused> {
    let source = written_out(function);
    let written: BTreeSet<VarId> = written_params(&source).collect();
    for param in &written {
        accumulated_by(&source, *param)?;
    }
    let adjoint = verified_adjoint(&source, Adjoint::LEAN);
    let mut out = Function { name: Derived::Fused.of(&function.name), body: Vec::new(), ..adjoint.clone() };
    let stand_ins = stand_ins(&mut out, &written);
    let mut backward = written_out(&adjoint).body;
    keep_state(&mut backward, &stand_ins);
    let mut merge = Merge::new(&out, &stand_ins);
    let body = merge.blocks(source.body, backward);
    if merge.events == 0 {
        return None;
    }
    let fuses = merge.fuses;
    out.body = body;
    distinct_names(&mut out);
    out.checks = watched;
    let mut out = match watched {
        true => erase_watched(&out, Wanted::All),
        false => erase_marking(&out, Wanted::All),
    };
    let mut accumulates = Vec::new();
    let originals: BTreeMap<VarId, VarId> = stand_ins.iter().map(|(p, s)| (*s, *p)).collect();
    put_back(&mut out.body, &originals, &mut accumulates)?;
    let function = verified(out, Form::Forward, "fusing");
    Some(Fused { function, fuses, accumulates })
}

/// A variable for each written parameter, for what the adjoint does to its value, which nobody wants.
fn stand_ins(out: &mut Function, written: &BTreeSet<VarId>) -> BTreeMap<VarId, VarId> {
    let stand_in = |&p: &VarId| {
        let var = Var { kind: VarKind::Ancilla, ..out.var(p).clone() };
        (p, out.add_var(var))
    };
    written.iter().map(stand_in).collect()
}

/// Leaves the written parameters as they are: they are only accumulated into, and no shadow depends
/// on them. Calls are given their stand-ins.
fn keep_state(block: &mut Block, stand_ins: &BTreeMap<VarId, VarId>) {
    block.retain(|s| match &s.kind {
        StmtKind::Update { op: UpdateOp::Add | UpdateOp::Sub, place, .. } => {
            !stand_ins.contains_key(&place.var)
        }
        _ => true,
    });
    for stmt in block {
        replace(stmt, stand_ins);
        stmt.blocks_mut().into_iter().for_each(|b| keep_state(b, stand_ins));
    }
}

/// Replaces variables among the arguments of a call.
fn replace(stmt: &mut Stmt, by: &BTreeMap<VarId, VarId>) {
    let StmtKind::Call { args, .. } = &mut stmt.kind else { return };
    for arg in args {
        if let ArgValue::Place(place) = &mut arg.value {
            if let Some(var) = by.get(&place.var) {
                place.var = *var;
            }
        }
    }
}

/// Gives the calls their parameters again. `None` where a call would change one.
fn put_back(block: &mut Block, originals: &BTreeMap<VarId, VarId>, rules: &mut Vec<PassedOn>) -> Option<()> {
    for stmt in block {
        if let StmtKind::Call { callee, direction, args } = &stmt.kind {
            let own = |a: &Arg| matches!(&a.value, ArgValue::Place(p) if originals.contains_key(&p.var));
            for (k, _) in args.iter().enumerate().filter(|(_, a)| own(a)) {
                match callee {
                    Callee::Path(path) if *direction == Direction::FORWARD => {
                        let callee = path.without(Derived::Shadows)?;
                        rules.push(PassedOn { callee, argument: k / 2 });
                    }
                    Callee::Path(_) | Callee::Param(_) => return None,
                }
            }
        }
        let mut other = false;
        stmt.each_access(&mut |p, _| {
            let call = matches!(stmt.kind, StmtKind::Call { .. });
            other |= originals.contains_key(&p.var) && !call;
        });
        if other {
            return None;
        }
        replace(stmt, originals);
        stmt.blocks_mut().into_iter().try_for_each(|b| put_back(b, originals, rules))?;
    }
    Some(())
}

/// Gives the second of two statements that bind the same variable another one.
fn distinct_names(out: &mut Function) {
    let mut body = std::mem::take(&mut out.body);
    distinct_in(out, &mut body, &mut BTreeSet::new());
    out.body = body;
}

fn distinct_in(out: &mut Function, block: &mut Block, seen: &mut BTreeSet<VarId>) {
    for stmt in block {
        if let StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } | StmtKind::For { var, .. } =
            &stmt.kind
        {
            if !seen.insert(*var) {
                let mut own = vec![stmt.clone()];
                fresh_names(out, &mut own);
                if let Some(renamed) = own.pop() {
                    *stmt = renamed;
                }
                continue;
            }
        }
        stmt.blocks_mut().into_iter().for_each(|b| distinct_in(out, b, seen));
    }
}

/// Makes calls of [`Derived::Shadows`] those of the adjoint again, and notes where they are, and where the adjoints are that
/// restore the state.
fn by_directions(
    block: &mut Block,
    forgetful: &mut BTreeSet<Span>,
    restoring: &mut BTreeSet<Span>,
) -> Option<()> {
    for stmt in block {
        let span = stmt.span;
        if let StmtKind::Call { callee, direction, .. } = &mut stmt.kind {
            let shadows = match callee {
                Callee::Path(path) if path.is(Derived::Fused) => return None,
                Callee::Path(path) => path.without(Derived::Shadows),
                Callee::Param(_) => None,
            };
            if let Some(path) = shadows {
                (*callee, *direction) = (Callee::Path(path), Direction::ADJOINT);
                forgetful.insert(span);
            } else if direction.adjoint > 0 {
                restoring.insert(span);
            }
        }
        stmt.blocks_mut().into_iter().try_for_each(|b| by_directions(b, forgetful, restoring))?;
    }
    Some(())
}

/// An argument by reference.
fn place_of(arg: &Arg) -> Option<(&Place, Mode)> {
    match &arg.value {
        ArgValue::Place(place) => Some((place, arg.mode)),
        ArgValue::Expr(_) => None,
    }
}
