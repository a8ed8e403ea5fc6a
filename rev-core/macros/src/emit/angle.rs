//! Rotations by an angle that a loop doesn't change, or that is the same in all lanes: its sine and cosine are computed before the loop, or
//! once for all lanes.
//!
//! A rotation has the same bits either way.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::ir::{Block, Expr, ExprKind, Stmt, StmtKind, VarId};
use rev_compiler::ops::{Func, Instr};

use super::body::Body;
use super::lanes::Kind;
use super::names::ident;

fn rotates(instr: Instr) -> bool {
    matches!(instr, Instr::Rot | Instr::Irot)
}

impl Body<'_> {
    /// Emits a loop, with the angles that it turns by bound before it.
    pub fn with_angles(&mut self, stmt: &Stmt, emit: impl FnOnce(&mut Self) -> TokenStream) -> TokenStream {
        if self.lane.is_some() {
            return emit(self);
        }
        let mut bound = BTreeSet::new();
        stmt.add_bound(&mut bound);
        let outside = self.angles.len();
        for block in stmt.blocks() {
            self.find_angles(block, &bound);
        }
        let found = self.angles[outside..].to_vec();
        let (angles, names): (Vec<_>, Vec<_>) = found.iter().map(|(e, name)| (self.expr(e), name)).unzip();
        let code = emit(self);
        self.angles.truncate(outside);
        quote!(#(let #names = __f::sin_cos(#angles);)* #code)
    }

    /// The runtime's function for an instruction and its operands: of a rotation the sine and the cosine, where they
    /// have been computed; of others what `emit` makes of them.
    pub fn instr_call(
        &mut self,
        instr: Instr,
        operands: &[Expr],
        emit: impl FnOnce(&mut Self) -> Vec<TokenStream>,
    ) -> (Ident, Vec<TokenStream>) {
        let turn = operands.first().filter(|_| rotates(instr)).and_then(|angle| self.turn(angle));
        match (instr, turn) {
            (Instr::Rot, Some(turn)) => (ident("rot_by"), vec![turn]),
            (Instr::Irot, Some(turn)) => (ident("rot_by"), vec![quote!(__f::instr::back(#turn))]),
            _ => (ident(instr.name()), emit(self)),
        }
    }

    /// An angle's sine and cosine, where they have been computed, or where all lanes have the same.
    fn turn(&mut self, angle: &Expr) -> Option<TokenStream> {
        if let Some(turn) = self.computed(angle) {
            return Some(quote!(#turn));
        }
        match self.lane.is_some().then(|| self.lane_expr(angle))? {
            (angle, Kind::Uniform) => Some(quote!(__f::sin_cos(#angle))),
            _ => None,
        }
    }

    /// The name of an angle's sine and cosine, where they have been computed.
    fn computed(&self, angle: &Expr) -> Option<&Ident> {
        self.angles.iter().find(|(e, _)| e.same(angle)).map(|(_, turn)| turn)
    }

    fn find_angles(&mut self, block: &Block, bound: &BTreeSet<VarId>) {
        for stmt in block {
            if let StmtKind::Instr { instr, operands, .. } = &stmt.kind {
                let fixed = operands.iter().all(|e| self.is_unchanged(e, bound));
                for angle in operands.iter().filter(|_| rotates(*instr) && fixed) {
                    if self.computed(angle).is_none() {
                        let name = ident(&format!("__turn{}", self.angles.len()));
                        self.angles.push((angle.clone(), name));
                    }
                }
            }
            stmt.blocks().into_iter().for_each(|b| self.find_angles(b, bound));
        }
    }

    /// Whether an expression has one value in a loop that declares some variables, which can be had before
    /// the loop without a failure.
    fn is_unchanged(&self, e: &Expr, bound: &BTreeSet<VarId>) -> bool {
        match &e.kind {
            ExprKind::Read(place) => {
                let kind = self.function.var(place.var).kind;
                kind.never_changes() && place.path.is_empty() && !bound.contains(&place.var)
            }
            ExprKind::Literal(..) | ExprKind::Named(_) | ExprKind::Function(_) | ExprKind::Const(_) => true,
            ExprKind::Cast(e, _) => self.is_unchanged(e, bound),
            ExprKind::Func(Func::Add | Func::Sub | Func::Mul | Func::Neg, args) => {
                args.iter().all(|e| self.is_unchanged(e, bound))
            }
            _ => false,
        }
    }
}
