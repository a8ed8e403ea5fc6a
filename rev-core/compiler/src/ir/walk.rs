//! Walking programs: the children of expressions and statements, and what they read and write.
//!
//! Every analysis is built on these four walks, so that a new kind of expression or statement is
//! added to the matches here and nowhere else by accident forgotten (no match has a wildcard arm).

use std::collections::BTreeSet;

use std::cell::Cell;

use super::{ArgValue, Block, Expr, ExprKind, Mode, Parallel, Place, Stmt, StmtKind, VarId};

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// How many expressions and statements the walks of this thread have visited so far: what the growth of passes is
/// tested by. Counted in builds with debug assertions only.
#[doc(hidden)]
pub fn steps() -> u64 {
    STEPS.get()
}

/// Counts a visit.
pub(crate) fn step() {
    if cfg!(debug_assertions) {
        STEPS.set(STEPS.get().wrapping_add(1));
    }
}

impl Expr {
    /// Calls `f` on each direct sub-expression, indices of places included.
    pub fn each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        step();
        match &self.kind {
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => {}
            ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                p.indices().for_each(f)
            }
            ExprKind::Func(_, args)
            | ExprKind::Pure(_, args)
            | ExprKind::Partials(_, args)
            | ExprKind::Tuple(args)
            | ExprKind::Array(args)
            | ExprKind::Contract(_, args) => args.iter().for_each(f),
            ExprKind::Cast(e, _) | ExprKind::Element(e, _) => f(e),
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|e| f(e)),
            ExprKind::Block(lets, e) => {
                lets.iter().for_each(|(_, e)| f(e));
                f(e)
            }
            ExprKind::Repeat(e, n) => [e, n].into_iter().for_each(|e| f(e)),
            ExprKind::Fill(e, shape) => {
                f(e);
                shape.iter().for_each(f)
            }
        }
    }

    /// The same with mutable access.
    pub fn each_child_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        step();
        match &mut self.kind {
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack => {}
            ExprKind::Read(p) | ExprKind::Len(p, _) | ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => {
                p.each_index_mut(f)
            }
            ExprKind::Func(_, args)
            | ExprKind::Pure(_, args)
            | ExprKind::Partials(_, args)
            | ExprKind::Tuple(args)
            | ExprKind::Array(args)
            | ExprKind::Contract(_, args) => args.iter_mut().for_each(f),
            ExprKind::Cast(e, _) | ExprKind::Element(e, _) => f(e),
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|e| f(e)),
            ExprKind::Block(lets, e) => {
                lets.iter_mut().for_each(|(_, e)| f(e));
                f(e)
            }
            ExprKind::Repeat(e, n) => [e, n].into_iter().for_each(|e| f(e)),
            ExprKind::Fill(e, shape) => {
                f(e);
                shape.iter_mut().for_each(f)
            }
        }
    }

    /// Calls `f` on each place whose *value* the expression reads, indices of places included;
    /// lengths and shapes are not values.
    pub fn each_read<'a>(&'a self, f: &mut dyn FnMut(&'a Place)) {
        if let ExprKind::Read(p) = &self.kind {
            f(p);
        }
        self.each_child(&mut |e| e.each_read(f));
    }

    /// The places whose values the expression reads.
    pub fn reads(&self) -> Vec<&Place> {
        let mut out = Vec::new();
        self.each_read(&mut |p| out.push(p));
        out
    }

    /// The place that the expression itself names, its parts aside, and what of it.
    pub fn named(&self) -> Option<(&Place, Named)> {
        match &self.kind {
            ExprKind::Read(p) => Some((p, Named::Value)),
            ExprKind::Len(p, _) => Some((p, Named::Length)),
            ExprKind::ZeroShadow(p) | ExprKind::ZeroLike(p) => Some((p, Named::Shape)),
            ExprKind::Literal(..)
            | ExprKind::Named(_)
            | ExprKind::Function(_)
            | ExprKind::Const(_)
            | ExprKind::Func(..)
            | ExprKind::Pure(..)
            | ExprKind::Partials(..)
            | ExprKind::Cast(..)
            | ExprKind::If(..)
            | ExprKind::Block(..)
            | ExprKind::Element(..)
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(..)
            | ExprKind::Fill(..)
            | ExprKind::Zero(_)
            | ExprKind::EmptyStack
            | ExprKind::Contract(..) => None,
        }
    }

    /// Whether the expression mentions a variable (its value, its length, as a root of a place).
    pub fn mentions(&self, var: VarId) -> bool {
        let mut found = self.named().is_some_and(|(p, _)| p.var == var);
        self.each_child(&mut |e| found |= e.mentions(var));
        found
    }
}

/// What of a place an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Its value.
    Value,
    /// The length of an array, or the height of a stack.
    Length,
    /// What it looks like, whatever it holds.
    Shape,
}

impl Place {
    /// Calls `f` on each index expression.
    pub fn each_index_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        use super::Step;
        for step in &mut self.path {
            match step {
                Step::Index(es) => es.iter_mut().for_each(&mut *f),
                Step::Part(axes) => axes.iter_mut().flat_map(super::Axis::exprs_mut).for_each(&mut *f),
                Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => {}
            }
        }
    }
}

/// How a statement itself (not its inner blocks) touches a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its value is read.
    Read,
    /// It is accumulated into by `+=` or `-=` and not otherwise read.
    Accumulate,
    /// It is written in any other way.
    Write,
}

impl Stmt {
    /// Whether it is a parallel loop, or has one in it.
    pub fn has_parallel_loop(&self) -> bool {
        let is_one = matches!(&self.kind, StmtKind::For { parallel: Some(_), .. });
        is_one || self.blocks().into_iter().flatten().any(Stmt::has_parallel_loop)
    }

    /// The inner blocks, in order of execution.
    pub fn blocks(&self) -> Vec<&Block> {
        step();
        match &self.kind {
            StmtKind::Let { body, .. }
            | StmtKind::Ancilla { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Unchecked { body }
            | StmtKind::Inverse { body } => vec![body],
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::Compute { compute, body } => vec![compute, body],
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => Vec::new(),
        }
    }

    /// The inner blocks, mutable.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        step();
        match &mut self.kind {
            StmtKind::Let { body, .. }
            | StmtKind::Ancilla { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::For { body, .. }
            | StmtKind::Unchecked { body }
            | StmtKind::Inverse { body } => vec![body],
            StmtKind::If { then, otherwise, .. } => vec![then, otherwise],
            StmtKind::Compute { compute, body } => vec![compute, body],
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. } => Vec::new(),
        }
    }

    /// Adds the variables that are declared in the statement, at any depth.
    pub fn add_bound(&self, bound: &mut BTreeSet<VarId>) {
        match &self.kind {
            StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } | StmtKind::For { var, .. } => {
                bound.insert(*var);
            }
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
        self.blocks().into_iter().flatten().for_each(|s| s.add_bound(bound));
    }

    /// Calls `f` on each expression that the statement itself evaluates: right-hand sides,
    /// conditions, ranges, initial values, value arguments. Indices of written places are not in it.
    pub fn each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        step();
        match &self.kind {
            StmtKind::Update { expr, .. } | StmtKind::Let { expr, .. } => f(expr),
            StmtKind::Instr { operands, .. } => operands.iter().for_each(f),
            StmtKind::Ancilla { init, .. } => f(init),
            StmtKind::If { cond, post, .. } => {
                f(cond);
                post.iter().for_each(f)
            }
            StmtKind::While { cond, post, .. } => {
                f(cond);
                f(post)
            }
            StmtKind::For { range, .. } => range.exprs().for_each(f),
            StmtKind::Call { args, .. } => args.iter().for_each(|a| match &a.value {
                ArgValue::Expr(e) => f(e),
                ArgValue::Place(_) => {}
            }),
            StmtKind::Release { value, .. } => f(value),
            StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }

    /// The same with mutable access.
    pub fn each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        step();
        match &mut self.kind {
            StmtKind::Update { expr, .. } | StmtKind::Let { expr, .. } => f(expr),
            StmtKind::Instr { operands, .. } => operands.iter_mut().for_each(f),
            StmtKind::Ancilla { init, .. } => f(init),
            StmtKind::If { cond, post, .. } => {
                f(cond);
                post.iter_mut().for_each(f)
            }
            StmtKind::While { cond, post, .. } => [cond, post].into_iter().for_each(f),
            StmtKind::For { range, .. } => {
                [&mut range.start, &mut range.end].into_iter().chain(&mut range.step).for_each(f)
            }
            StmtKind::Call { args, .. } => args.iter_mut().for_each(|a| match &mut a.value {
                ArgValue::Expr(e) => f(e),
                ArgValue::Place(_) => {}
            }),
            StmtKind::Release { value, .. } => f(value),
            StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }

    /// Calls `f` on each place that the statement itself names as a target or argument.
    pub fn each_place<'a>(&'a self, f: &mut dyn FnMut(&'a Place, Access)) {
        step();
        match &self.kind {
            StmtKind::Update { op, place, .. } => {
                use super::UpdateOp::*;
                f(place, if matches!(op, Add | Sub) { Access::Accumulate } else { Access::Write })
            }
            StmtKind::Instr { places, .. } => places.iter().for_each(|p| f(p, Access::Write)),
            StmtKind::Call { args, .. } => args.iter().for_each(|a| {
                if let ArgValue::Place(p) = &a.value {
                    f(
                        p,
                        match a.mode {
                            Mode::Read => Access::Read,
                            Mode::Accumulate => Access::Accumulate,
                            Mode::Write => Access::Write,
                        },
                    )
                }
            }),
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
                f(stack, Access::Write);
                f(place, Access::Write)
            }
            StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }

    /// The same with mutable access.
    pub fn each_place_mut(&mut self, f: &mut dyn FnMut(&mut Place)) {
        step();
        match &mut self.kind {
            StmtKind::Update { place, .. } => f(place),
            StmtKind::Instr { places, .. } => places.iter_mut().for_each(f),
            StmtKind::Call { args, .. } => args.iter_mut().for_each(|a| match &mut a.value {
                ArgValue::Place(p) => f(p),
                ArgValue::Expr(_) => {}
            }),
            StmtKind::Push { stack, place } | StmtKind::Pop { stack, place } => {
                f(stack);
                f(place)
            }
            StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Release { .. }
            | StmtKind::External { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }

    /// Calls `f` on each place that the statement itself reads or writes: its expressions' reads,
    /// its targets, and the reads in the indices of its targets. Inner blocks are not entered.
    pub fn each_access<'a>(&'a self, f: &mut dyn FnMut(&'a Place, Access)) {
        self.each_expr(&mut |e| e.each_read(&mut |p| f(p, Access::Read)));
        self.each_place(&mut |p, access| {
            f(p, access);
            p.indices().for_each(|e| e.each_read(&mut |q| f(q, Access::Read)));
        });
    }

    /// The same for the statement and everything inside it.
    pub fn each_access_deep<'a>(&'a self, f: &mut dyn FnMut(&'a Place, Access)) {
        self.each_access(f);
        for block in self.blocks() {
            for s in block {
                s.each_access_deep(f);
            }
        }
    }
}

/// Whether there is foreign code among the statements of a block, or inside of them.
pub fn has_external(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::External { .. })
            || stmt.blocks().into_iter().any(|block| has_external(block))
    })
}

/// Whether the statements of a block, or those inside them, access a variable.
pub fn accesses(block: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    block.iter().for_each(|s| s.each_access_deep(&mut |p, _| found |= p.var == var));
    found
}

impl Parallel {
    /// What is declared about variables that the loop's body, of which a pass left a part, still uses.
    pub fn about(&self, body: &[Stmt]) -> Parallel {
        let injective = self.injective.iter().filter(|p| accesses(body, p.var)).cloned().collect();
        let disjoint = self.disjoint.iter().copied().filter(|v| accesses(body, *v)).collect();
        Parallel { injective, disjoint }
    }
}
