//! Fresh names for the variables that a copy of statements binds: names and variables are unique
//! within a function, so statements that a pass writes down twice bind new ones the second time.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{ArgValue, Block, Callee, Expr, ExprKind, Function, Place, Stmt, StmtKind, VarId};

/// Gives every variable that is bound inside the block a new name, `a` becomes `a2`.
pub fn fresh_names(function: &mut Function, block: &mut Block) {
    let mut names = Names { function, new: BTreeMap::new(), kept: None, copies: vec![] };
    block.iter_mut().for_each(|s| names.stmt(s));
}

/// Gives the names that blocks of an expression have in common with blocks before them new ones, so that all can be
/// in one scope. The new variables, with those that they were.
pub fn distinct_names(function: &mut Function, expr: &mut Expr) -> Vec<(VarId, VarId)> {
    let mut names = Names { function, new: BTreeMap::new(), kept: Some(BTreeSet::new()), copies: vec![] };
    names.expr(expr);
    names.copies
}

/// Gives the names in the blocks of an expression new ones. The new variables, with those that they were.
pub fn fresh_locals(function: &mut Function, expr: &mut Expr) -> Vec<(VarId, VarId)> {
    let mut names = Names { function, new: BTreeMap::new(), kept: None, copies: vec![] };
    names.expr(expr);
    names.copies
}

struct Names<'f> {
    function: &'f mut Function,
    new: BTreeMap<VarId, VarId>,
    /// The variables that were bound first, if those keep their names.
    kept: Option<BTreeSet<VarId>>,
    /// The new variables, with those that they were.
    copies: Vec<(VarId, VarId)>,
}

impl Names<'_> {
    fn bind(&mut self, var: &mut VarId) {
        if self.kept.as_mut().is_some_and(|kept| kept.insert(*var)) {
            return;
        }
        let copy = self.function.var(*var).clone();
        let new = self.function.add_var(copy);
        self.new.insert(*var, new);
        self.copies.push((new, *var));
        *var = new;
    }

    fn rename(&self, var: &mut VarId) {
        if let Some(new) = self.new.get(var) {
            *var = *new;
        }
    }

    fn place(&mut self, place: &mut Place) {
        self.rename(&mut place.var);
        place.each_index_mut(&mut |e| self.expr(e));
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                self.rename(&mut p.var)
            }
            ExprKind::Block(lets, value) => {
                for (var, e) in lets {
                    self.expr(e);
                    self.bind(var);
                }
                return self.expr(value);
            }
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Func(..)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::Cast(..)
            | ExprKind::If(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Contract(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => {}
        }
        expr.each_child_mut(&mut |e| self.expr(e));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Update { place, expr, .. } => {
                self.place(place);
                self.expr(expr);
            }
            StmtKind::Instr { places, operands, .. } => {
                places.iter_mut().for_each(|p| self.place(p));
                operands.iter_mut().for_each(|e| self.expr(e));
            }
            StmtKind::Let { var, expr, .. } | StmtKind::Ancilla { var, init: expr, .. } => {
                self.expr(expr);
                self.bind(var);
            }
            StmtKind::If { cond, post, .. } => {
                self.expr(cond);
                post.iter_mut().for_each(|e| self.expr(e));
            }
            StmtKind::While { cond, post, .. } => {
                self.expr(cond);
                self.expr(post);
            }
            StmtKind::For { var, range, parallel, .. } => {
                self.expr(&mut range.start);
                self.expr(&mut range.end);
                range.step.iter_mut().for_each(|e| self.expr(e));
                self.bind(var);
                if let Some(parallel) = parallel {
                    parallel.injective.iter_mut().for_each(|p| self.place(p));
                    parallel.disjoint.iter_mut().for_each(|v| self.rename(v));
                }
            }
            StmtKind::Call { callee, args, .. } => {
                match callee {
                    Callee::Param(var) => self.rename(var),
                    Callee::Path(_) => {}
                }
                args.iter_mut().for_each(|a| match &mut a.value {
                    ArgValue::Place(p) => self.place(p),
                    ArgValue::Expr(e) => self.expr(e),
                });
            }
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
                self.place(stack);
                self.place(place);
            }
            StmtKind::Release { var, value } => {
                self.rename(var);
                self.expr(value);
            }
            StmtKind::Compute { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        stmt.blocks_mut().into_iter().flatten().for_each(|s| self.stmt(s));
    }
}
