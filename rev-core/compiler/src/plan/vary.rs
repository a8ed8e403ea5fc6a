//! Which values differ between the lanes of a group of iterations.
//!
//! A value is *uniform* where all iterations have the same one, so that it is computed once; it
//! *varies* where it comes from the loop's variable, from an element chosen by one, or from a variable
//! that was written with such a value or where only some of the lanes are active. Variables from
//! outside of the loop are uniform: what the iterations write there is the elements' business.

use std::collections::BTreeSet;

use crate::ir::{Arg, ArgValue, Block, Expr, ExprKind, Function, Mode, Place, Stmt, StmtKind, VarId};
use crate::ops::Func;

/// The variables whose values differ between lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Varying {
    /// Those held as packs: one value for each lane.
    pub packs: BTreeSet<VarId>,
    /// Those held by their first value and the step from lane to lane.
    pub linear: BTreeSet<VarId>,
    /// Those declared in the lanes' statements.
    pub own: BTreeSet<VarId>,
}

impl Varying {
    /// Of the body of a loop over `var`.
    pub fn of_loop(var: VarId, body: &Block) -> Varying {
        let mut found = Varying::default();
        found.linear.insert(var);
        found.own.insert(var);
        found.settle(body);
        found
    }

    /// Of a function called by lanes, of whose parameters those in `packs` are passed as packs.
    pub fn of_function(packs: BTreeSet<VarId>, body: &Block) -> Varying {
        let mut found = Varying { own: packs.clone(), packs, ..Varying::default() };
        found.settle(body);
        found
    }

    fn settle(&mut self, body: &Block) {
        body.iter().for_each(|s| s.add_bound(&mut self.own));
        loop {
            let before = (self.packs.len(), self.linear.len());
            self.block(body, false);
            if (self.packs.len(), self.linear.len()) == before {
                return;
            }
        }
    }

    /// Whether a variable's value differs between lanes.
    pub fn has(&self, var: VarId) -> bool {
        self.packs.contains(&var) || self.linear.contains(&var)
    }

    /// Whether an expression's value does.
    pub fn expr(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Read(q) | ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) => self.place(q),
            ExprKind::Len(..) => false,
            ExprKind::Block(lets, _) if lets.iter().any(|(var, _)| self.has(*var)) => true,
            _ => {
                let mut found = false;
                e.each_child(&mut |c| found |= self.expr(c));
                found
            }
        }
    }

    /// Whether the value at a place does.
    pub fn place(&self, q: &Place) -> bool {
        self.has(q.var) || q.indices().any(|e| self.expr(e))
    }

    /// Whether an expression is `first + k step` in lane `k`, as far as its form says.
    pub fn is_linear(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Read(q) => q.path.is_empty() && self.linear.contains(&q.var),
            ExprKind::Func(Func::Add, args) => match args.as_slice() {
                [a, b] => self.is_linear(a) && !self.expr(b) || !self.expr(a) && self.is_linear(b),
                _ => false,
            },
            ExprKind::Func(Func::Sub, args) => {
                matches!(args.as_slice(), [a, b] if self.is_linear(a) && !self.expr(b))
            }
            _ => false,
        }
    }

    /// Whether a call does the same in all lanes, to variables of their own: it is made once.
    pub fn is_one_call(&self, args: &[Arg]) -> bool {
        let same = args.iter().all(|arg| match &arg.value {
            ArgValue::Place(q) => !self.place(q),
            ArgValue::Expr(e) => !self.expr(e),
        });
        same && written(args).all(|q| self.own.contains(&q.var))
    }

    /// `linear i, packs s t`: the variables that differ, with the names of a function.
    pub fn text(&self, function: &Function) -> String {
        let named = |vars: &BTreeSet<VarId>, kind: &str| match vars.is_empty() {
            true => None,
            false => {
                let names: Vec<&str> = vars.iter().map(|v| function.var(*v).name.as_str()).collect();
                Some(format!("{kind} {}", names.join(" ")))
            }
        };
        let kinds = [named(&self.linear, "linear"), named(&self.packs, "packs")];
        kinds.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The same with some variables as plain values.
    pub fn without<'v>(&self, plain: impl Iterator<Item = &'v VarId>) -> Varying {
        let mut out = self.clone();
        plain.for_each(|v| {
            out.packs.remove(v);
        });
        out
    }

    fn block(&mut self, block: &Block, partly: bool) {
        block.iter().for_each(|s| self.stmt(s, partly));
    }

    /// `partly`: only some of the lanes may be active.
    fn stmt(&mut self, stmt: &Stmt, partly: bool) {
        stmt.each_expr(&mut |e| self.names(e));
        match &stmt.kind {
            StmtKind::Let { var, expr, .. } => {
                if self.is_linear(expr) {
                    self.linear.insert(*var);
                } else if self.expr(expr) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::Ancilla { var, init, .. } => {
                if self.expr(init) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::Update { place, expr, .. } => {
                if partly || self.expr(expr) || self.place(place) {
                    self.write(place);
                }
            }
            StmtKind::Instr { places, operands, .. } => {
                let varies = places.iter().any(|q| self.place(q)) || operands.iter().any(|e| self.expr(e));
                if partly || varies {
                    places.iter().for_each(|q| self.write(q));
                }
            }
            StmtKind::Call { args, .. } => {
                if partly || !self.is_one_call(args) {
                    written(args).for_each(|q| self.write(q));
                }
            }
            StmtKind::For { var, range, .. } => {
                if range.exprs().any(|e| self.expr(e)) {
                    self.packs.insert(*var);
                }
            }
            StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        let partly = partly || self.parts(stmt);
        stmt.blocks().into_iter().for_each(|b| self.block(b, partly));
    }

    /// Whether a statement's blocks run in some of the lanes only.
    pub fn parts(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => self.expr(cond),
            StmtKind::For { range, .. } => range.exprs().any(|e| self.expr(e)),
            _ => false,
        }
    }

    /// The local names of an expression.
    fn names(&mut self, e: &Expr) {
        if let ExprKind::Block(lets, _) = &e.kind {
            for (var, value) in lets {
                self.own.insert(*var);
                if self.expr(value) {
                    self.packs.insert(*var);
                }
            }
        }
        let mut inner = Vec::new();
        e.each_child(&mut |c| inner.push(c));
        inner.into_iter().for_each(|c| self.names(c));
    }

    fn write(&mut self, q: &Place) {
        if self.own.contains(&q.var) {
            self.packs.insert(q.var);
        }
    }
}

/// The places that a call may change.
pub(super) fn written(args: &[Arg]) -> impl Iterator<Item = &Place> {
    args.iter().filter(|arg| arg.mode != Mode::Read).filter_map(|arg| match &arg.value {
        ArgValue::Place(q) => Some(q),
        ArgValue::Expr(_) => None,
    })
}
