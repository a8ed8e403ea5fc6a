//! Which writes of a block may come after a read in it: the order of the statements, in which a
//! loop wraps around and the branches of an `if` exclude each other.

use std::collections::BTreeMap;

use crate::ir::{Access, Place, Stmt, StmtKind, VarId};

/// The way from a block to a statement in it, outermost first.
pub type Position = Vec<Node>;

/// A statement on the way, and the part of it that the way goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The statement's number in its block.
    pub index: usize,
    /// Where in the statement.
    pub part: Part,
    /// How the statement orders its parts.
    pub shape: Shape,
}

/// A part of a statement, in the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What it evaluates first: a condition, a range, the value of a binding.
    Before,
    /// Its inner block with this number.
    Inside(usize),
    /// What it evaluates last: a postcondition.
    After,
}

/// How a statement runs its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One after the other.
    Straight,
    /// One of the inner blocks.
    Branch,
    /// Again and again, with the index variable of a counted loop.
    Loop(Option<VarId>),
}

/// How the parts of a statement are run that are run more than once or not always.
pub fn shape(stmt: &Stmt) -> Shape {
    match &stmt.kind {
        StmtKind::If { .. } => Shape::Branch,
        StmtKind::While { .. } => Shape::Loop(None),
        StmtKind::For { var, .. } => Shape::Loop(Some(*var)),
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::Let { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::Call { .. }
        | StmtKind::Compute { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::Release { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => Shape::Straight,
    }
}

/// A change of a place.
pub struct Write {
    /// The place.
    pub place: Place,
    /// Where it happens.
    pub at: Position,
    /// Whether it is the release of an ancilla, which ends its use.
    pub release: bool,
}

/// How a write follows a read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Follows {
    /// It comes later in the same iteration of all loops around both.
    pub later: bool,
    /// It comes in a later iteration of one of these loops: how deep each is on the way to both, and
    /// its index variable.
    pub loops: Vec<(usize, Option<VarId>)>,
}

/// How the write at `write` may come after the read at `read`.
pub fn follows(read: &[Node], write: &[Node]) -> Follows {
    crate::ir::step();
    let mut out = Follows::default();
    for (depth, (r, w)) in read.iter().zip(write).enumerate() {
        if r.index != w.index {
            out.later = r.index < w.index;
            return out;
        }
        if let (Shape::Loop(var), Shape::Loop(_)) = (r.shape, w.shape) {
            out.loops.push((depth, var));
        }
        if r.part != w.part {
            let exclusive =
                matches!((r.shape, r.part, w.part), (Shape::Branch, Part::Inside(_), Part::Inside(_)));
            out.later = r.part < w.part && !exclusive;
            return out;
        }
    }
    out
}

/// The statement at the given depth of the way to a position in a block.
pub fn statement_at<'a>(block: &'a [Stmt], position: &[Node], depth: usize) -> Option<&'a Stmt> {
    let node = position.first()?;
    let stmt = block.get(node.index)?;
    match (depth, node.part) {
        (0, _) => Some(stmt),
        (_, Part::Inside(k)) => statement_at(stmt.blocks().get(k)?, &position[1..], depth - 1),
        (_, Part::Before | Part::After) => None,
    }
}

/// Whether two places are certainly different while a block runs.
pub type Distinct<'d> = &'d dyn Fn(&Place, &Place) -> bool;

/// Every write in a block whose variables `undone` are brought back before it ends, in itself or in
/// the scopes that end together with it.
pub fn writes(block: &[Stmt], undone: &dyn Fn(VarId) -> bool, distinct: Distinct) -> Vec<Write> {
    let mut walk = Walk { distinct, path: Vec::new(), out: Vec::new() };
    walk.block(block, Some(undone));
    walk.out
}

type Undone<'u> = Option<&'u dyn Fn(VarId) -> bool>;

struct Walk<'d> {
    distinct: Distinct<'d>,
    path: Position,
    out: Vec<Write>,
}

/// Whether a statement is a scope that reaches to the end of the block it stands in.
pub fn ends_with_its_block(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Let { .. } | StmtKind::Ancilla { .. } | StmtKind::Compute { .. } => true,
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { .. }
        | StmtKind::Call { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::Release { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => false,
    }
}

impl Walk<'_> {
    fn block(&mut self, block: &[Stmt], undone: Undone) {
        for (index, stmt) in block.iter().enumerate() {
            let undone = undone.filter(|_| index + 1 == block.len() && ends_with_its_block(stmt));
            self.own(stmt, index);
            self.inner(stmt, index, undone);
        }
    }

    fn own(&mut self, stmt: &Stmt, index: usize) {
        self.path.push(Node { index, part: Part::Before, shape: Shape::Straight });
        let mut add = |place: Place, release| self.out.push(Write { place, at: self.path.clone(), release });
        if let StmtKind::Release { var, .. } = &stmt.kind {
            add(Place { span: stmt.span, ..Place::var(*var) }, true);
        }
        stmt.each_place(&mut |place, access| {
            if access != Access::Read {
                add(place.clone(), false);
            }
        });
        self.path.pop();
    }

    /// The writes in the inner blocks. A clean compute part restores what it writes and counts for
    /// nothing; another one writes before the body and after it.
    fn inner(&mut self, stmt: &Stmt, index: usize, undone: Undone) {
        if let StmtKind::Compute { compute, body } = &stmt.kind {
            if !is_clean(compute, body, &|v| undone.is_some_and(|u| u(v)), self.distinct) {
                self.part(stmt, index, Part::Inside(0), compute, None);
                self.part(stmt, index, Part::After, compute, None);
            }
            return self.part(stmt, index, Part::Inside(1), body, undone);
        }
        for (k, block) in stmt.blocks().into_iter().enumerate() {
            self.part(stmt, index, Part::Inside(k), block, undone);
        }
    }

    fn part(&mut self, stmt: &Stmt, index: usize, part: Part, block: &[Stmt], undone: Undone) {
        self.path.push(Node { index, part, shape: shape(stmt) });
        self.block(block, undone);
        self.path.pop();
    }
}

/// Whether the body of a compute block leaves alone all that the compute part reads and writes, so
/// that undoing that part restores exactly what it wrote.
pub fn is_clean(compute: &[Stmt], body: &[Stmt], undone: &dyn Fn(VarId) -> bool, distinct: Distinct) -> bool {
    let mut touched: BTreeMap<VarId, Vec<&Place>> = BTreeMap::new();
    each_access(compute, &mut |p, _| touched.entry(p.var).or_default().push(p));
    let mut clean = true;
    each_access(body, &mut |written, access| {
        if clean && access != Access::Read && !undone(written.var) {
            let touched = touched.get(&written.var).into_iter().flatten();
            clean = touched.into_iter().all(|p| distinct(p, written));
        }
    });
    clean
}

/// Calls `f` on each place that a block reads or writes, at any depth.
pub fn each_access<'a>(block: &'a [Stmt], f: &mut dyn FnMut(&'a Place, Access)) {
    block.iter().for_each(|s| s.each_access_deep(f));
}
