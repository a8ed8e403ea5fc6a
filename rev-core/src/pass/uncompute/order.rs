//! Which writes of a block may come after a read in it: the order of the statements, in which a
//! loop wraps around and the branches of an `if` exclude each other.

use crate::ir::{Access, Block, Place, Stmt, StmtKind, VarId};

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
    /// It comes in a later iteration of one of these loops.
    pub loops: Vec<Option<VarId>>,
}

/// How the write at `write` may come after the read at `read`.
pub fn follows(read: &[Node], write: &[Node]) -> Follows {
    let mut out = Follows::default();
    for (r, w) in read.iter().zip(write) {
        if r.index != w.index {
            out.later = r.index < w.index;
            return out;
        }
        if let (Shape::Loop(var), Shape::Loop(_)) = (r.shape, w.shape) {
            out.loops.push(var);
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

/// Every write in a block whose variables `undone` are brought back before it ends, in itself or in
/// the scopes that end together with it.
pub fn writes(block: &[Stmt], undone: &dyn Fn(VarId) -> bool) -> Vec<Write> {
    let mut out = Vec::new();
    add_block(block, Some(undone), &mut Vec::new(), &mut out);
    out
}

type Undone<'u> = Option<&'u dyn Fn(VarId) -> bool>;

fn add_block(block: &[Stmt], undone: Undone, path: &mut Position, out: &mut Vec<Write>) {
    for (index, stmt) in block.iter().enumerate() {
        let undone = undone.filter(|_| index + 1 == block.len() && ends_with_its_block(stmt));
        path.push(Node { index, part: Part::Before, shape: Shape::Straight });
        add_own(stmt, path, out);
        path.pop();
        add_inner(stmt, index, undone, path, out);
    }
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

fn add_own(stmt: &Stmt, path: &Position, out: &mut Vec<Write>) {
    if let StmtKind::Release { var, .. } = &stmt.kind {
        let place = Place { span: stmt.span, ..Place::var(*var) };
        out.push(Write { place, at: path.clone(), release: true });
    }
    stmt.each_place(&mut |place, access| {
        if access != Access::Read {
            out.push(Write { place: place.clone(), at: path.clone(), release: false });
        }
    });
}

/// The writes in the inner blocks. A clean compute part restores what it writes and counts for
/// nothing; another one writes before the body and after it.
fn add_inner(stmt: &Stmt, index: usize, undone: Undone, path: &mut Position, out: &mut Vec<Write>) {
    let mut add = |block: &Block, part: Part, undone: Undone| {
        path.push(Node { index, part, shape: shape(stmt) });
        add_block(block, undone, path, out);
        path.pop();
    };
    if let StmtKind::Compute { compute, body } = &stmt.kind {
        if !is_clean(compute, body, &|v| undone.is_some_and(|u| u(v))) {
            add(compute, Part::Inside(0), None);
            add(compute, Part::After, None);
        }
        return add(body, Part::Inside(1), undone);
    }
    for (k, block) in stmt.blocks().into_iter().enumerate() {
        add(block, Part::Inside(k), undone);
    }
}

/// Whether the body of a compute block leaves alone all that the compute part reads and writes, so
/// that undoing that part restores exactly what it wrote.
pub fn is_clean(compute: &[Stmt], body: &[Stmt], undone: &dyn Fn(VarId) -> bool) -> bool {
    let mut clean = true;
    each_access(body, &mut |written, access| {
        if access != Access::Read && !undone(written.var) {
            each_access(compute, &mut |p, _| clean &= !may_overlap(p, written));
        }
    });
    clean
}

/// Calls `f` on each place that a block reads or writes, at any depth.
pub fn each_access<'a>(block: &'a [Stmt], f: &mut dyn FnMut(&'a Place, Access)) {
    block.iter().for_each(|s| s.each_access_deep(f));
}

/// Whether two places may have a part in common.
pub fn may_overlap(a: &Place, b: &Place) -> bool {
    a.var == b.var
}
