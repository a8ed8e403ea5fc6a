//! The slice of a block on a set of ancillas: the statements that write them, with the loops,
//! branches and bindings around these, and what makes it impossible to invert it later.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::order::{
    each_access, follows, is_clean, shape, statement_at, writes, Node, Part, Position, Shape, Write,
};
use crate::facts::{Apart, Indices, Order};
use crate::ir::{Access, Block, Expr, Named, Place, Span, Stmt, StmtKind, VarId};

/// A slice, and why it can't be inverted at the end of the block.
#[derive(Default)]
pub struct Slice {
    /// The statements.
    pub body: Block,
    /// What stands in the way.
    pub faults: Vec<Fault>,
}

/// Why an ancilla can't be uncomputed.
#[derive(Debug)]
pub enum Fault {
    /// A statement writes the ancilla and something outside.
    Mixed {
        /// The ancilla.
        ancilla: VarId,
        /// The statement.
        span: Span,
        /// What else it writes.
        other: Place,
        /// Whether the statement moves values to or from a stack.
        stack: bool,
    },
    /// Something that the slice read changes before the ancilla's scope ends.
    Changed {
        /// The ancilla.
        ancilla: VarId,
        /// What is read.
        read: Place,
        /// What it is read for.
        role: Role,
        /// The place written afterwards.
        write: Place,
        /// Whether the write is a release.
        release: bool,
        /// Whether it happens in a later iteration of a loop around both.
        wraps: bool,
    },
}

/// What a place is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The value of an update, an operand or an argument.
    Operand,
    /// A condition.
    Condition,
    /// A postcondition.
    Postcondition,
    /// The range of a loop.
    Range,
    /// A binding around the statement.
    Binding,
    /// A compute part around the statement.
    Compute,
}

impl Fault {
    /// Whether another one blames the same statement for the same ancilla.
    pub fn same_cause(&self, other: &Fault) -> bool {
        match (self, other) {
            (Fault::Changed { ancilla: a, write: v, .. }, Fault::Changed { ancilla: b, write: w, .. }) => {
                a == b && v == w
            }
            (Fault::Mixed { ancilla: a, span: s, .. }, Fault::Mixed { ancilla: b, span: t, .. }) => {
                a == b && s == t
            }
            (Fault::Changed { .. }, Fault::Mixed { .. }) | (Fault::Mixed { .. }, Fault::Changed { .. }) => {
                false
            }
        }
    }
}

impl Slice {
    fn append(&mut self, other: Slice) {
        self.body.extend(other.body);
        self.faults.extend(other.faults);
    }

    fn wrap(self, stmt: &Stmt, kind: StmtKind) -> Slice {
        Slice { body: vec![Stmt { kind, span: stmt.span }], faults: self.faults }
    }
}

/// Slices a block whose changes of other variables are known.
pub struct Slicer<'a> {
    block: &'a [Stmt],
    indices: Indices<'a>,
    /// Every write in the block.
    writes: Vec<Write>,
    /// Every variable written in the block, restored or not.
    changed: BTreeSet<VarId>,
    /// The inner ancillas that are known to be sliced too: what a slice needs, a larger one does, and each is
    /// found out once.
    needed: RefCell<BTreeSet<VarId>>,
}

type Own = BTreeSet<VarId>;

impl<'a> Slicer<'a> {
    /// Looks at the writes of a block at the end of which `own` has been undone.
    pub fn new(block: &'a [Stmt], indices: Indices<'a>, own: &Own) -> Slicer<'a> {
        let changed = writes_of(block).into_iter().collect();
        let needed = RefCell::default();
        let mut slicer = Slicer { block, indices, writes: Vec::new(), changed, needed };
        slicer.writes =
            writes(block, &|v| own.contains(&v), &|a, b| slicer.distinct(a, b, None, &BTreeSet::new()));
        slicer
    }

    /// Whether two places are certainly different at two moments of one run of the block, in
    /// the same iteration of the loops around both or in a later one of one loop, in which the
    /// variables `bound` are declared.
    fn distinct(&self, a: &Place, b: &Place, index: Option<VarId>, bound: &BTreeSet<VarId>) -> bool {
        self.indices.distinct(
            a,
            b,
            &Apart {
                index,
                order: index.map_or(Order::Any, |v| self.indices.order(v)),
                varies: &|v| self.changed.contains(&v) || bound.contains(&v),
                rebound: &|v| bound.contains(&v),
                injective: &[],
            },
        )
    }

    fn is_clean(&self, compute: &[Stmt], body: &[Stmt], undone: &dyn Fn(VarId) -> bool) -> bool {
        is_clean(compute, body, undone, &|a, b| self.distinct(a, b, None, &BTreeSet::new()))
    }

    /// The slice of a sequence of statements on the variables `own`.
    pub fn block(&self, block: &[Stmt], own: &Own, path: &mut Position) -> Slice {
        let mut out = Slice::default();
        for (index, stmt) in block.iter().enumerate() {
            out.append(self.stmt(stmt, index, own, path));
        }
        out
    }

    /// The slice of `block`, which is block `number` of a statement.
    fn inner(
        &self,
        stmt: &Stmt,
        (number, block): (usize, &[Stmt]),
        index: usize,
        own: &Own,
        path: &mut Position,
    ) -> Slice {
        path.push(Node { index, part: Part::Inside(number), shape: shape(stmt) });
        let out = self.block(block, own, path);
        path.pop();
        out
    }

    fn stmt(&self, stmt: &Stmt, index: usize, own: &Own, path: &mut Position) -> Slice {
        match &stmt.kind {
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Call { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. } => self.leaf(stmt, index, own, path),
            StmtKind::Release { .. } | StmtKind::External { .. } => Slice::default(),
            StmtKind::Let { var, expr, body } => {
                let body = self.inner(stmt, (0, body), index, own, path);
                if !mentions(&body.body, *var) {
                    return body;
                }
                self.around(stmt, body, index, path, own, &[(expr, Role::Binding, Part::Before)])
            }
            StmtKind::Ancilla { var, init, body, .. } => {
                self.ancilla(stmt, (*var, init, body), index, own, path)
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.branch(stmt, (cond, post.as_ref()), [then, otherwise], index, own, path)
            }
            StmtKind::While { cond, post, body } => {
                let body = self.inner(stmt, (0, body), index, own, path);
                let exprs = [(cond, Role::Condition, Part::Before), (post, Role::Postcondition, Part::After)];
                self.around(stmt, body, index, path, own, &exprs)
            }
            StmtKind::For { range, body, .. } => {
                let body = self.inner(stmt, (0, body), index, own, path);
                let exprs: Vec<_> = range.exprs().map(|e| (e, Role::Range, Part::Before)).collect();
                self.around(stmt, body, index, path, own, &exprs)
            }
            StmtKind::Compute { compute, body } => self.compute(stmt, compute, body, index, own, path),
            StmtKind::Unchecked { body } | StmtKind::Inverse { body } => {
                let body = self.inner(stmt, (0, body), index, own, path);
                self.around(stmt, body, index, path, own, &[])
            }
        }
    }

    /// The statement with a sliced body, when that isn't empty; `exprs` are read by the slice.
    fn around(
        &self,
        stmt: &Stmt,
        mut body: Slice,
        index: usize,
        path: &mut Position,
        own: &Own,
        exprs: &[(&Expr, Role, Part)],
    ) -> Slice {
        let Some(ancilla) = written(&body.body, own) else { return body };
        for (expr, role, part) in exprs {
            let shape = match (&stmt.kind, part) {
                (StmtKind::For { .. }, Part::Before) => Shape::Straight,
                _ => shape(stmt),
            };
            path.push(Node { index, part: *part, shape });
            self.reads(ancilla, expr, *role, own, path, &mut body.faults);
            path.pop();
        }
        let mut copy = stmt.clone();
        if let [only] = copy.blocks_mut().as_mut_slice() {
            **only = std::mem::take(&mut body.body);
        }
        if let StmtKind::For { parallel: Some(declared), body, .. } = &mut copy.kind {
            *declared = declared.about(body);
        }
        body.wrap(stmt, copy.into_kind())
    }

    /// An inner ancilla is sliced too when the slice reads it; one of which only the shape is asked is as it
    /// starts.
    fn ancilla(
        &self,
        stmt: &Stmt,
        (var, init, block): (VarId, &Expr, &[Stmt]),
        index: usize,
        own: &Own,
        path: &mut Position,
    ) -> Slice {
        if !self.needed.borrow().contains(&var) {
            let body = self.inner(stmt, (0, block), index, own, path);
            if !mentions(&body.body, var) {
                return body;
            }
            if !self.depends(&body.body, var) {
                return self.around(stmt, body, index, path, own, &[(init, Role::Binding, Part::Before)]);
            }
            self.needed.borrow_mut().insert(var);
        }
        let mut with = own.clone();
        with.insert(var);
        let body = self.inner(stmt, (0, block), index, &with, path);
        self.around(stmt, body, index, path, &with, &[(init, Role::Binding, Part::Before)])
    }

    fn leaf(&self, stmt: &Stmt, index: usize, own: &Own, path: &mut Position) -> Slice {
        let mut inside = None;
        let mut outside = None;
        stmt.each_place(&mut |place, access| match (access, own.contains(&place.var)) {
            (Access::Read, _) => {}
            (Access::Accumulate | Access::Write, true) => inside = inside.or(Some(place.var)),
            (Access::Accumulate | Access::Write, false) => outside = outside.or(Some(place)),
        });
        let Some(ancilla) = inside else { return Slice::default() };
        let mut out = Slice { body: vec![stmt.clone()], faults: Vec::new() };
        if let Some(other) = outside {
            let stack = matches!(stmt.kind, StmtKind::Push { .. } | StmtKind::Pop { .. });
            out.faults.push(Fault::Mixed { ancilla, span: stmt.span, other: other.clone(), stack });
            return out;
        }
        path.push(Node { index, part: Part::Before, shape: Shape::Straight });
        let mut reads = |e: &Expr| self.reads(ancilla, e, Role::Operand, own, path, &mut out.faults);
        stmt.each_expr(&mut reads);
        stmt.each_place(&mut |place, _| place.indices().for_each(&mut reads));
        stmt.each_place(&mut |place, access| {
            if access == Access::Read {
                self.read(ancilla, place, Role::Operand, own, path, &mut out.faults);
            }
        });
        path.pop();
        out
    }

    /// A branch can be inverted by its postcondition or, where the slice leaves alone what it reads,
    /// by its condition; the one whose reads last is taken.
    fn branch(
        &self,
        stmt: &Stmt,
        (cond, post): (&Expr, Option<&Expr>),
        [then, otherwise]: [&[Stmt]; 2],
        index: usize,
        own: &Own,
        path: &mut Position,
    ) -> Slice {
        let mut branches = self.inner(stmt, (0, then), index, own, path);
        let otherwise = self.inner(stmt, (1, otherwise), index, own, path);
        let both: Block = branches.body.iter().chain(&otherwise.body).cloned().collect();
        let Some(ancilla) = written(&both, own) else { return Slice::default() };
        branches.faults.extend(otherwise.faults);
        let mut decide = |(cond, post): Choice<'_>| {
            let mut faults = Vec::new();
            let reads = [(Some(cond.0), cond.1, cond.2), (post, Role::Postcondition, Part::After)];
            for (expr, role, part) in reads {
                path.push(Node { index, part, shape: Shape::Branch });
                if let Some(expr) = expr {
                    self.reads(ancilla, expr, role, own, path, &mut faults);
                }
                path.pop();
            }
            faults
        };
        let (mut choice, others) = choices(cond, post, &both, own);
        let mut faults = decide(choice);
        if !faults.is_empty() {
            if let Some(better) = others.into_iter().find(|c| decide(*c).is_empty()) {
                (choice, faults) = (better, Vec::new());
            }
        }
        let ((cond, ..), post) = choice;
        branches.faults.extend(faults);
        let then = std::mem::take(&mut branches.body);
        let kind = StmtKind::If { cond: cond.clone(), post: post.cloned(), then, otherwise: otherwise.body };
        branches.wrap(stmt, kind)
    }

    /// The compute part of a compute block is kept when the body's slice needs what it computes. It
    /// is then run as a whole and undone again, so it isn't itself sliced, unless the body changes
    /// what it reads or writes.
    fn compute(
        &self,
        stmt: &Stmt,
        compute: &[Stmt],
        body: &[Stmt],
        index: usize,
        own: &Own,
        path: &mut Position,
    ) -> Slice {
        let mut sliced = self.inner(stmt, (1, body), index, own, path);
        let kept = if self.is_clean(compute, body, &|_| false) {
            let Some(ancilla) = written(&sliced.body, own) else { return sliced };
            if !writes_of(compute).iter().any(|v| self.depends(&sliced.body, *v)) {
                return sliced;
            }
            self.reads_of_compute(compute, ancilla, index, own, path, &mut sliced.faults);
            compute.to_vec()
        } else {
            let part = self.inner(stmt, (0, compute), index, own, path);
            sliced.faults.extend(part.faults);
            part.body
        };
        if sliced.body.is_empty() {
            return sliced;
        }
        let body = std::mem::take(&mut sliced.body);
        sliced.wrap(stmt, StmtKind::Compute { compute: kept, body })
    }

    /// What stands in the way of the compute part of `stmt` restoring `own`, when the block ends with
    /// `stmt` and what its body writes of `own` has been undone.
    pub fn tail(&self, stmt: &Stmt, index: usize, own: &Own) -> Vec<Fault> {
        match &stmt.kind {
            StmtKind::Compute { compute, body } if !self.is_clean(compute, body, &|v| own.contains(&v)) => {
                self.inner(stmt, (0, compute), index, own, &mut Vec::new()).faults
            }
            _ => Vec::new(),
        }
    }

    /// Running a compute part again needs all that it reads, and what it writes as it was before.
    fn reads_of_compute(
        &self,
        compute: &[Stmt],
        ancilla: VarId,
        index: usize,
        own: &Own,
        path: &mut Position,
        faults: &mut Vec<Fault>,
    ) {
        path.push(Node { index, part: Part::Inside(0), shape: Shape::Straight });
        each_access(compute, &mut |place, _| self.read(ancilla, place, Role::Compute, own, path, faults));
        path.pop();
    }

    /// Notes what changes of that which an expression reads: values, and the heights of stacks.
    fn reads(
        &self,
        ancilla: VarId,
        expr: &Expr,
        role: Role,
        own: &Own,
        path: &Position,
        faults: &mut Vec<Fault>,
    ) {
        if let Some(p) = self.taken(expr) {
            self.read(ancilla, p, role, own, path, faults);
        }
        expr.each_child(&mut |e| self.reads(ancilla, e, role, own, path, faults));
    }

    /// The place on whose value an expression itself depends, its parts aside: an array's length is none of it.
    fn taken<'e>(&self, expr: &'e Expr) -> Option<&'e Place> {
        let (place, what) = expr.named()?;
        let depends = match what {
            Named::Value => true,
            Named::Length => self.indices.may_be_stack(place.var),
            Named::Shape => false,
        };
        depends.then_some(place)
    }

    /// Whether a block reads or writes the value of a variable, so that its shape alone won't do.
    fn depends(&self, block: &[Stmt], var: VarId) -> bool {
        let mut found = false;
        for stmt in block {
            stmt.each_expr(&mut |e| found |= self.takes(e, var));
            stmt.each_place(&mut |p, _| found |= p.var == var || p.indices().any(|e| self.takes(e, var)));
            found |= stmt.blocks().into_iter().any(|b| self.depends(b, var));
        }
        found
    }

    fn takes(&self, expr: &Expr, var: VarId) -> bool {
        let mut found = self.taken(expr).is_some_and(|p| p.var == var);
        expr.each_child(&mut |e| found |= self.takes(e, var));
        found
    }

    /// Notes the first write that changes a place after the slice has read it.
    fn read(
        &self,
        ancilla: VarId,
        read: &Place,
        role: Role,
        own: &Own,
        path: &Position,
        faults: &mut Vec<Fault>,
    ) {
        if own.contains(&read.var) {
            return;
        }
        for write in self.writes.iter().filter(|w| w.place.var == read.var) {
            let follows = follows(path, &write.at);
            let later = follows.later && !self.distinct(read, &write.place, None, &BTreeSet::new());
            if later || follows.loops.iter().any(|(depth, index)| self.wraps(read, write, *depth, *index)) {
                faults.push(Fault::Changed {
                    ancilla,
                    read: read.clone(),
                    role,
                    write: write.place.clone(),
                    release: write.release,
                    wraps: !later,
                });
                return;
            }
        }
    }

    /// Whether a later iteration of the loop at `depth` may write what was read.
    fn wraps(&self, read: &Place, write: &Write, depth: usize, index: Option<VarId>) -> bool {
        let mut bound = BTreeSet::new();
        if let Some(stmt) = statement_at(self.block, &write.at, depth) {
            stmt.add_bound(&mut bound);
        }
        !self.distinct(read, &write.place, index, &bound)
    }
}

type Choice<'a> = ((&'a Expr, Role, Part), Option<&'a Expr>);

/// The ways to decide a branch in a slice, condition and postcondition: the one to take where each has faults, and others.
fn choices<'a>(
    cond: &'a Expr,
    post: Option<&'a Expr>,
    slice: &[Stmt],
    own: &Own,
) -> (Choice<'a>, Vec<Choice<'a>>) {
    let first = (cond, Role::Condition, Part::Before);
    let Some(last) = post else { return ((first, None), Vec::new()) };
    let written: Vec<VarId> = writes_of(slice).into_iter().filter(|v| own.contains(v)).collect();
    let stays = |e: &Expr| !written.iter().any(|v| e.mentions(*v));
    let (by_first, by_last) = ((first, None), ((last, Role::Postcondition, Part::After), None));
    let by_both = (first, Some(last));
    match (stays(cond), stays(last)) {
        (true, true) => (by_first, vec![by_last, by_both]),
        (true, false) => (by_first, vec![by_both]),
        (false, true) => (by_last, vec![by_both]),
        (false, false) => (by_both, Vec::new()),
    }
}

/// The first variable of `own` that a block writes.
fn written(block: &[Stmt], own: &Own) -> Option<VarId> {
    writes_of(block).into_iter().find(|v| own.contains(v))
}

fn writes_of(block: &[Stmt]) -> Vec<VarId> {
    let mut out = Vec::new();
    each_access(block, &mut |p, access| {
        if access != Access::Read {
            out.push(p.var)
        }
    });
    out
}

/// Whether a block names a variable anywhere.
fn mentions(block: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    for stmt in block {
        stmt.each_expr(&mut |e| found |= e.mentions(var));
        stmt.each_place(&mut |p, _| found |= p.var == var || p.indices().any(|e| e.mentions(var)));
        found |= stmt.blocks().into_iter().any(|b| mentions(b, var));
    }
    found
}
