//! Structured code flattened to reversible instructions.
//!
//! Every operation can be run in both directions. Straight-line ones are numbered one after the
//! other; a branch or a loop is a pair or triple of operations that say where control may have come
//! from, with the assertion that decides it:
//!
//! ```text
//!        if c post q                     while c post q            for i in r
//! begin  c: on, else to after the `end   assert not q;             first value, or past the end
//!          of then'                      c: on, else past the end
//!        then …                          body …                    body …
//! middle assert q; past the end
//!        else …
//! end    assert not q                    assert q;                 next value: back to the body,
//!                                        c: back to the body       or on
//! ```
//!
//! Read from below these are the operations of the inverse program, which is why a machine can turn
//! around between any two of them.

use crate::check::overlap::Values;
use crate::error::Error;
use crate::facts::{self, PlaceClass, Sum};
use crate::ir::{
    Arg, Callee, Direction, Expr, Function, Module, Parallel, Place, Range, Release, Span, Stmt, StmtKind,
    UpdateOp, VarId,
};
use crate::ops::Instr;
use crate::pass;
use crate::plan::{common_element, Owned};
use crate::text::Headlines;

/// One reversible operation.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub kind: OpKind,
    /// The statement it belongs to, in [`Program::lines`].
    pub line: usize,
    /// Whether the program asks for reversibility checks here.
    pub checked: bool,
}

/// The kinds of operations. Numbers are positions of other operations.
#[derive(Clone, Debug)]
pub(super) enum OpKind {
    Update { op: UpdateOp, place: Place, expr: Expr },
    Instr { instr: Instr, places: Vec<Place>, operands: Vec<Expr> },
    Push { stack: Place, place: Place },
    Pop { stack: Place, place: Place },
    Release { var: VarId, value: Expr },
    External,
    Call { callee: Callee, direction: Direction, args: Vec<Arg> },
    LetBegin { var: VarId, expr: Expr },
    LetEnd { var: VarId, expr: Expr },
    AncillaBegin { var: VarId, init: Expr, release: Release },
    AncillaEnd { var: VarId, init: Expr, release: Release },
    IfBegin { cond: Expr, middle: usize },
    IfMiddle { cond: Expr, post: Expr, begin: usize, end: usize },
    IfEnd { post: Expr, middle: usize },
    WhileBegin { cond: Expr, post: Expr, end: usize },
    WhileEnd { cond: Expr, post: Expr, begin: usize },
    ForBegin { var: VarId, range: Range, parallel: Option<Box<ParallelLoop>>, end: usize },
    ForEnd { var: VarId, range: Range, begin: usize },
}

/// What is known about a parallel loop.
#[derive(Clone, Debug)]
pub(super) struct ParallelLoop {
    pub declared: Parallel,
    /// The whole loop.
    pub statement: Stmt,
    /// What its iterations add to.
    pub sums: Vec<LoopSum>,
    /// The variables of which each iteration touches elements of its own, by declaration.
    pub disjoint: Vec<VarId>,
}

/// A variable that the iterations of a parallel loop add to.
#[derive(Clone, Debug)]
pub(super) struct LoopSum {
    pub var: VarId,
    /// The places of it; all where there are none.
    pub places: Vec<Place>,
    /// Whether totals that are zero aren't added.
    pub touched: bool,
}

impl ParallelLoop {
    /// `owned` are those of the loops around; this one's are added.
    fn new(function: &Function, stmt: &Stmt, declared: &Parallel, owned: &mut Owned) -> ParallelLoop {
        let facts = facts::classify(function, stmt).unwrap_or_default();
        let values = Values::of(function);
        let mut sums = Vec::new();
        let mut add = |var: VarId, places: &[Place], class: &PlaceClass| {
            let PlaceClass::Accumulated(how) = class else { return };
            if how.sum == Sum::Add {
                let one_element = common_element(how, stmt, &facts, &values).is_some();
                let touched = owned.only_touched(var, one_element);
                sums.push(LoopSum { var, places: places.to_vec(), touched });
            }
        };
        for (var, class) in &facts.classes {
            match class {
                PlaceClass::Parts(parts) => parts.iter().for_each(|(places, class)| add(*var, places, class)),
                class => add(*var, &[], class),
            }
        }
        owned.enter(&facts);
        let owned = facts.classes.iter().filter(|(_, class)| **class == PlaceClass::Owned { declared: true });
        let disjoint = owned.map(|(var, _)| *var).collect();
        ParallelLoop { declared: declared.clone(), statement: stmt.clone(), sums, disjoint }
    }
}

/// A statement in messages.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub span: Span,
    pub text: String,
}

/// A function in one direction, ready to run.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub function: Function,
    /// The unique name under which the module keeps what the function's paths mean.
    pub links: String,
    /// Whether its calls count for the depth of a recursion.
    pub recursive: bool,
    pub ops: Vec<Op>,
    pub lines: Vec<Line>,
}

impl Program {
    /// The program of a function in a direction.
    pub fn new(module: &Module, name: &str, direction: Direction) -> Result<Program, Error> {
        let function = pass::directed(module, name, direction)?;
        let headlines = Headlines::new(&function);
        let checked = function.checks;
        let mut flat = Flat {
            function: &function,
            headlines,
            checked,
            owned: Owned::default(),
            ops: vec![],
            lines: vec![],
        };
        function.grown(|| flat.block(&function.body));
        let (ops, lines) = (flat.ops, flat.lines);
        let recursive = facts::recursive(module, name);
        Ok(Program { function, links: name.to_string(), recursive, ops, lines })
    }
}

struct Flat<'f> {
    function: &'f Function,
    headlines: Headlines<'f>,
    checked: bool,
    /// What iterations of the loops around have of their own.
    owned: Owned,
    ops: Vec<Op>,
    lines: Vec<Line>,
}

impl Flat<'_> {
    fn block(&mut self, block: &[Stmt]) {
        block.iter().for_each(|s| self.stmt(s));
    }

    fn push(&mut self, line: usize, kind: OpKind) -> usize {
        self.ops.push(Op { kind, line, checked: self.checked });
        self.ops.len() - 1
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let line = self.lines.len();
        self.lines.push(Line { span: stmt.span, text: self.headlines.of(stmt) });
        match &stmt.kind {
            StmtKind::Update { op, place, expr } => {
                self.push(line, OpKind::Update { op: *op, place: place.clone(), expr: expr.clone() });
            }
            StmtKind::Instr { instr, places, operands } => {
                let (places, operands) = (places.clone(), operands.clone());
                self.push(line, OpKind::Instr { instr: *instr, places, operands });
            }
            StmtKind::Push { stack, place } => {
                self.push(line, OpKind::Push { stack: stack.clone(), place: place.clone() });
            }
            StmtKind::Pop { stack, place } => {
                self.push(line, OpKind::Pop { stack: stack.clone(), place: place.clone() });
            }
            StmtKind::Release { var, value } => {
                self.push(line, OpKind::Release { var: *var, value: value.clone() });
            }
            StmtKind::External { .. } => {
                self.push(line, OpKind::External);
            }
            StmtKind::Call { callee, direction, args } => {
                let (callee, args) = (callee.clone(), args.clone());
                self.push(line, OpKind::Call { callee, direction: *direction, args });
            }
            StmtKind::Let { var, expr, body } => {
                self.push(line, OpKind::LetBegin { var: *var, expr: expr.clone() });
                self.block(body);
                self.push(line, OpKind::LetEnd { var: *var, expr: expr.clone() });
            }
            StmtKind::Ancilla { var, init, release, body } => {
                let (var, release) = (*var, *release);
                self.push(line, OpKind::AncillaBegin { var, init: init.clone(), release });
                self.block(body);
                self.push(line, OpKind::AncillaEnd { var, init: init.clone(), release });
            }
            StmtKind::If { cond, post, then, otherwise } => {
                self.branch(line, cond, post.as_ref().unwrap_or(cond), then, otherwise);
            }
            StmtKind::While { cond, post, body } => self.repeat(line, cond, post, body),
            StmtKind::For { var, range, parallel, body } => {
                let outer = self.owned.clone();
                let parallel =
                    parallel.as_ref().map(|p| ParallelLoop::new(self.function, stmt, p, &mut self.owned));
                self.count(line, *var, range, parallel, body);
                self.owned = outer;
            }
            StmtKind::Compute { compute, body } => {
                self.block(compute);
                self.block(body);
                self.block(&pass::inverse_block(compute));
            }
            StmtKind::Unchecked { body } => {
                let outer = std::mem::replace(&mut self.checked, false);
                self.block(body);
                self.checked = outer;
            }
            StmtKind::Inverse { body } => self.block(&pass::inverse_block(body)),
        }
    }

    fn branch(&mut self, line: usize, cond: &Expr, post: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        let begin = self.push(line, OpKind::IfBegin { cond: cond.clone(), middle: 0 });
        self.block(then);
        let (cond, post) = (cond.clone(), post.clone());
        let middle = self.push(line, OpKind::IfMiddle { cond, post: post.clone(), begin, end: 0 });
        self.block(otherwise);
        let last = self.push(line, OpKind::IfEnd { post, middle });
        if let OpKind::IfBegin { middle: m, .. } = &mut self.ops[begin].kind {
            *m = middle;
        }
        if let OpKind::IfMiddle { end, .. } = &mut self.ops[middle].kind {
            *end = last;
        }
    }

    fn repeat(&mut self, line: usize, cond: &Expr, post: &Expr, body: &[Stmt]) {
        let (c, p) = (cond.clone(), post.clone());
        let begin = self.push(line, OpKind::WhileBegin { cond: c, post: p, end: 0 });
        self.block(body);
        let last = self.push(line, OpKind::WhileEnd { cond: cond.clone(), post: post.clone(), begin });
        if let OpKind::WhileBegin { end, .. } = &mut self.ops[begin].kind {
            *end = last;
        }
    }

    fn count(
        &mut self,
        line: usize,
        var: VarId,
        range: &Range,
        parallel: Option<ParallelLoop>,
        body: &[Stmt],
    ) {
        let parallel = parallel.map(Box::new);
        let begin = self.push(line, OpKind::ForBegin { var, range: range.clone(), parallel, end: 0 });
        self.block(body);
        let last = self.push(line, OpKind::ForEnd { var, range: range.clone(), begin });
        if let OpKind::ForBegin { end, .. } = &mut self.ops[begin].kind {
            *end = last;
        }
    }
}
