//! What is needed: from what is wanted at the end, backwards.
//!
//! A statement is live if it writes what is wanted, or a place that a live statement reads and that
//! it may have written before: earlier in the same iteration of all loops around both, or in an
//! earlier iteration of one of them, where indices don't tell the two places apart (the questions,
//! and the answers, are those of uncomputation: [`follows`], [`Indices::distinct`]). Loops and
//! branches are live with what is in them, and what decides them is read.
//!
//! Where a program keeps its checks, what these compare is read where they are made: a postcondition after its branch, an
//! ancilla that the program brings back itself at the end of its scope.
//!
//! An update `p += e` doesn't count as a read of `p`: whoever reads `p` later needs the earlier
//! updates too, and finds them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::facts::{named_outside, Apart, Definitions, Indices, Order};
use crate::ir::{Access, Callee, Expr, Function, Named, Place, Release, Stmt, StmtKind, Type, VarId};
use crate::pass::uncompute::order::{follows, shape, Node, Part, Position, Shape};

/// What the values of `roots` after the function depend on: for each statement, in the order of the
/// text and before those inside it, how it is needed.
pub fn live(function: &Function, roots: &[VarId]) -> Vec<Need> {
    Live::of(function, roots).needs()
}

/// How a statement is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Not at all.
    Dead,
    /// It is, but of a call of an adjoint only the shadows: nobody reads the state that it restores.
    Shadows,
    /// It is.
    Live,
}

struct Live<'f> {
    function: &'f Function,
    definitions: Definitions,
    statements: Vec<Numbered<'f>>,
    /// The writes that nobody is known to read, and the statements that write something which somebody reads: a
    /// place of the state, that is no shadow.
    writes: BTreeMap<VarId, Vec<Write<'f>>>,
    restores: Vec<bool>,
    declarations: BTreeMap<VarId, Vec<usize>>,
    /// Where the variables of loops are declared.
    indices: BTreeMap<VarId, Vec<usize>>,
    live: Vec<bool>,
}

struct Numbered<'f> {
    stmt: &'f Stmt,
    /// The way to it, itself last, as the place where it evaluates its own expressions.
    at: Position,
    /// The loop, branch or scope around it.
    around: Option<usize>,
    /// The number of the first statement behind it.
    end: usize,
}

struct Write<'f> {
    place: &'f Place,
    by: usize,
}

impl<'f> Live<'f> {
    fn of(function: &'f Function, roots: &[VarId]) -> Live<'f> {
        let mut live = Live {
            function,
            definitions: Definitions::of(&function.body),
            statements: Vec::new(),
            writes: BTreeMap::new(),
            restores: Vec::new(),
            declarations: BTreeMap::new(),
            indices: BTreeMap::new(),
            live: Vec::new(),
        };
        live.number(&function.body, &mut Vec::new(), None);
        live.live = vec![false; live.statements.len()];
        live.restores = live.live.clone();
        let changed = live.writes.keys().copied().collect();
        let mut work = Vec::new();
        for root in roots {
            for write in live.writes.remove(root).into_iter().flatten() {
                live.is_read(&write);
                work.push(write.by);
            }
        }
        let always = |s: &Stmt| match &s.kind {
            StmtKind::External { .. } | StmtKind::Release { .. } => true,
            StmtKind::Ancilla { release, .. } => *release == Release::Checked,
            _ => false,
        };
        work.extend((0..live.statements.len()).filter(|&id| always(live.statements[id].stmt)));
        Marks { changed, work, live: &mut live }.run();
        live
    }

    fn is_read(&mut self, write: &Write) {
        self.restores[write.by] |= !matches!(self.function.var(write.place.var).ty, Type::Shadow(_));
    }

    fn needs(self) -> Vec<Need> {
        let is_adjoint =
            |s: &Numbered| matches!(&s.stmt.kind, StmtKind::Call { direction, .. } if direction.adjoint > 0);
        let statements = self.statements.iter().zip(self.restores);
        let need = |(&live, (statement, restores)): (&bool, (&Numbered, bool))| match live {
            false => Need::Dead,
            true if is_adjoint(statement) && !restores => Need::Shadows,
            true => Need::Live,
        };
        self.live.iter().zip(statements).map(need).collect()
    }

    fn number(&mut self, block: &'f [Stmt], path: &mut Position, around: Option<usize>) {
        for (index, stmt) in block.iter().enumerate() {
            let id = self.statements.len();
            let mut at = path.clone();
            at.push(Node { index, part: Part::Before, shape: shape_of_own(stmt) });
            self.statements.push(Numbered { stmt, at, around, end: id });
            stmt.each_place(&mut |place, access| {
                if access != Access::Read {
                    self.writes.entry(place.var).or_default().push(Write { place, by: id });
                }
            });
            if let StmtKind::Let { var, .. } | StmtKind::Ancilla { var, .. } = &stmt.kind {
                self.declarations.entry(*var).or_default().push(id);
            }
            if let StmtKind::For { var, .. } = &stmt.kind {
                self.indices.entry(*var).or_default().push(id);
            }
            for (k, inner) in stmt.blocks().into_iter().enumerate() {
                path.push(Node { index, part: Part::Inside(k), shape: shape(stmt) });
                self.number(inner, path, Some(id));
                path.pop();
            }
            self.statements[id].end = self.statements.len();
        }
    }
}

/// How often a statement evaluates its own expressions: a range once, a condition of a loop again
/// and again.
fn shape_of_own(stmt: &Stmt) -> Shape {
    match stmt.kind {
        StmtKind::For { .. } => Shape::Straight,
        _ => shape(stmt),
    }
}

/// When a statement evaluates something: first, or after the statements in it.
#[derive(Clone, Copy)]
struct Moment {
    id: usize,
    part: Part,
}

struct Marks<'a, 'f> {
    live: &'a mut Live<'f>,
    /// Every variable that is written somewhere.
    changed: BTreeSet<VarId>,
    /// Statements that are needed and haven't been looked at.
    work: Vec<usize>,
}

impl<'f> Marks<'_, 'f> {
    fn run(mut self) {
        while let Some(id) = self.work.pop() {
            if !std::mem::replace(&mut self.live.live[id], true) {
                self.look_at(id);
            }
        }
    }

    fn look_at(&mut self, id: usize) {
        let stmt = self.live.statements[id].stmt;
        self.decided_by(id);
        let before = Moment { id, part: Part::Before };
        let after = Moment { id, part: Part::After };
        stmt.each_expr(&mut |e| self.evaluated(e, before));
        stmt.each_place(&mut |place, access| {
            self.mentioned(place.var);
            place.indices().for_each(|e| self.evaluated(e, before));
            if access != Access::Accumulate {
                self.read(place, before);
            }
        });
        match &stmt.kind {
            StmtKind::If { post: Some(post), .. } => self.evaluated(post, after),
            StmtKind::Ancilla { var, release: Release::Checked, .. } => self.read(&Place::var(*var), after),
            StmtKind::Release { var, .. } => {
                self.mentioned(*var);
                self.read(&Place::var(*var), before);
            }
            StmtKind::Call { callee: Callee::Param(var), .. } => self.mentioned(*var),
            StmtKind::For { parallel: Some(declared), .. } => {
                declared.injective.iter().for_each(|place| self.mentioned(place.var));
                declared.disjoint.iter().for_each(|var| self.mentioned(*var));
            }
            StmtKind::External { code } => self.named(code, before),
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Ancilla { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { parallel: None, .. }
            | StmtKind::Call { callee: Callee::Path(_), .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::Unchecked { .. }
            | StmtKind::Inverse { .. } => {}
        }
    }

    /// The loops and branches around a statement say whether it runs.
    fn decided_by(&mut self, id: usize) {
        let mut around = self.live.statements[id].around;
        while let Some(outer) = around {
            let Numbered { stmt, around: next, .. } = self.live.statements[outer];
            if !matches!(stmt.kind, StmtKind::Let { .. } | StmtKind::Ancilla { .. }) {
                self.work.push(outer);
            }
            around = next;
        }
    }

    /// What external code names, it may read.
    fn named(&mut self, code: &str, at: Moment) {
        for var in named_outside(self.live.function, code) {
            self.mentioned(var);
            self.read(&Place::var(var), at);
        }
    }

    /// An expression that a statement evaluates.
    fn evaluated(&mut self, e: &Expr, at: Moment) {
        if let Some((p, what)) = e.named() {
            self.mentioned(p.var);
            let depends = match what {
                Named::Value => true,
                Named::Length => self.indices().may_be_stack(p.var),
                Named::Shape => false,
            };
            if depends {
                self.read(p, at);
            }
        }
        e.each_child(&mut |e| self.evaluated(e, at));
    }

    /// A name that occurs has to be declared.
    fn mentioned(&mut self, var: VarId) {
        self.work.extend(self.live.declarations.get(&var).into_iter().flatten());
    }

    /// A place whose value a statement needs: what may have been written there before is needed.
    fn read(&mut self, place: &Place, at: Moment) {
        let Some(writes) = self.live.writes.remove(&place.var) else { return };
        let (read, others): (Vec<_>, Vec<_>) = writes.into_iter().partition(|w| self.reaches(w, place, at));
        for write in read {
            self.live.is_read(&write);
            self.work.push(write.by);
        }
        if !others.is_empty() {
            self.live.writes.insert(place.var, others);
        }
    }

    fn reaches(&self, write: &Write<'f>, read: &Place, at: Moment) -> bool {
        let (from, mut to) = (&self.live.statements[write.by].at, Cow::from(&self.live.statements[at.id].at));
        if at.part == Part::After {
            to.to_mut().iter_mut().next_back().into_iter().for_each(|node| node.part = at.part);
        }
        let order = follows(from, &to);
        order.later && !self.distinct(write.place, read, None, &|_| false)
            || order.loops.iter().any(|(depth, index)| self.wraps(write, read, *depth, *index))
    }

    /// Whether a later iteration of the loop at `depth` around both may read what was written.
    fn wraps(&self, write: &Write<'f>, read: &Place, depth: usize, index: Option<VarId>) -> bool {
        let inside = self.around(write.by, depth);
        let declared = |places: &BTreeMap<VarId, Vec<usize>>, var: VarId| {
            places.get(&var).is_some_and(|at| at.iter().any(|k| inside.contains(k)))
        };
        let live = &self.live;
        let bound = |var: VarId| declared(&live.declarations, var) || declared(&live.indices, var);
        // what is declared in the loop is another one in each iteration
        !declared(&live.declarations, read.var) && !self.distinct(write.place, read, index, &bound)
    }

    /// The numbers of the statement at `depth` on the way to another one, and of those in it.
    fn around(&self, mut id: usize, depth: usize) -> Range<usize> {
        while self.live.statements[id].at.len() > depth + 1 {
            let Some(around) = self.live.statements[id].around else { break };
            id = around;
        }
        id..self.live.statements[id].end
    }

    fn distinct(&self, a: &Place, b: &Place, index: Option<VarId>, bound: &dyn Fn(VarId) -> bool) -> bool {
        let indices = self.indices();
        let apart = Apart {
            index,
            order: index.map_or(Order::Any, |v| indices.order(v)),
            varies: &|v| self.changed.contains(&v) || bound(v),
            rebound: &|v| bound(v),
            injective: &[],
        };
        indices.distinct(a, b, &apart)
    }

    fn indices(&self) -> Indices<'_> {
        Indices::new(&self.live.function.vars, &self.live.definitions)
    }
}
