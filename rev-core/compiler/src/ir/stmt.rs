//! Statements.

use super::{Expr, FunctionPath, Mode, Place, Span, VarId};
use crate::ops::Instr;

/// A sequence of statements.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands in the source.
    pub span: Span,
}

/// The kinds of statements; the module's documentation says what each means.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum StmtKind {
    /// `place op= expr`.
    Update { op: UpdateOp, place: Place, expr: Expr },
    /// An instruction on places, with read-only operands (`rot(a, b, θ)`: places `a, b`, operand `θ`).
    Instr { instr: Instr, places: Vec<Place>, operands: Vec<Expr> },
    /// A binding and its scope.
    Let { var: VarId, expr: Expr, body: Block },
    /// An ancilla and its scope.
    Ancilla { var: VarId, init: Expr, release: Release, body: Block },
    /// A branch. Without a postcondition the condition itself holds again afterwards.
    If { cond: Expr, post: Option<Expr>, then: Block, otherwise: Block },
    /// A loop with a condition and a postcondition.
    While { cond: Expr, post: Expr, body: Block },
    /// A counted loop.
    For { var: VarId, range: Range, parallel: Option<Parallel>, body: Block },
    /// A call (`inverse`: an uncall) of a reversible function.
    Call { callee: Callee, direction: Direction, args: Vec<Arg> },
    /// `compute; body; compute⁻¹`.
    Compute { compute: Block, body: Block },
    /// Moves the value of a place to a stack and leaves zero.
    Push { stack: Place, place: Place },
    /// Moves the top of a stack to a place that holds zero.
    Pop { stack: Place, place: Place },
    /// Asserts that an ancilla holds its first value again; it isn't used afterwards.
    Release { var: VarId, value: Expr },
    /// Rust text, run as it is, in every direction.
    External { code: String },
    /// No reversibility checks inside.
    Unchecked { body: Block },
    /// The inverse of the body, as the source says it. The uncompute pass replaces it by the
    /// inverted statements (only then are the body's managed ancillas explicit), so no other pass
    /// and no backend sees it; the static rules are checked on the body as written.
    Inverse { body: Block },
}

/// The operator of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpdateOp {
    /// `+=`
    Add,
    /// `-=`
    Sub,
    /// `^=`
    Xor,
}

impl UpdateOp {
    /// The operator that undoes this one.
    pub fn inverse(self) -> UpdateOp {
        match self {
            UpdateOp::Add => UpdateOp::Sub,
            UpdateOp::Sub => UpdateOp::Add,
            UpdateOp::Xor => UpdateOp::Xor,
        }
    }

    /// The Rust operator.
    pub fn symbol(self) -> &'static str {
        match self {
            UpdateOp::Add => "+=",
            UpdateOp::Sub => "-=",
            UpdateOp::Xor => "^=",
        }
    }
}

/// How an ancilla ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Release {
    /// The compiler uncomputes it at the end of its scope. Turned into [`Release::Uncomputed`] by the
    /// uncompute pass, or into [`Release::Checked`] where its rounded value decides how, so no other pass and no backend sees it.
    Managed,
    /// Statements of the compiler's own bring it back at the end of its scope: it holds its first value again, up to
    /// rounding, by construction. Only what can't be brought back by arithmetic, a NaN, can keep it from that.
    Uncomputed,
    /// The program's own statements bring it back at the end of its scope, which is checked when checks are on.
    Checked,
    /// Its value at the end is given up: shadows of ancillas and bindings in an adjoint, whose
    /// dropped values provably reach no result.
    Dropped,
}

/// The values that a `for` loop visits: `start`, `start + step`, … below (or up to) `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// First value.
    pub start: Expr,
    /// End value.
    pub end: Expr,
    /// Whether `end` itself is visited.
    pub inclusive: bool,
    /// Distance between values, at least 1; `None` for 1.
    pub step: Option<Expr>,
    /// Whether the steps are counted from the last value down (`.rev().step_by(k)`) instead of from
    /// the first up (`.step_by(k)`). Matters only where the step doesn't divide the range.
    pub from_end: bool,
    /// Whether the values come in descending order.
    pub reversed: bool,
}

impl Range {
    /// `start..end`.
    pub fn new(start: Expr, end: Expr) -> Range {
        Range { start, end, inclusive: false, step: None, from_end: false, reversed: false }
    }

    /// The expressions that the range reads.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        [&self.start, &self.end].into_iter().chain(self.step.as_ref())
    }
}

/// What a parallel loop declares about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parallel {
    /// Index arrays that the program declares to hold no value twice (`#[injective(idx)]`),
    /// checked at run time when checks are on.
    pub injective: Vec<Place>,
    /// Variables whose accesses the program declares disjoint between iterations
    /// (`#[disjoint(a)]`), for patterns that the compiler can't prove.
    pub disjoint: Vec<VarId>,
}

/// What a call names.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function by the path written.
    Path(FunctionPath),
    /// A parameter of the calling function that is itself a reversible function.
    Param(VarId),
}

/// Which of a function's programs a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Direction {
    /// How many times the adjoint was taken: 0 the function itself, 1 its adjoint, ….
    /// With n > 0 each argument of the n-1st is followed by its shadow.
    pub adjoint: u8,
    /// Whether it is run backwards.
    pub inverse: bool,
    /// Whether the last adjoint's transpose is meant: the program that takes tangents, several of them side by side in the
    /// shadows, where the adjoint takes cotangents.
    pub transposed: bool,
}

impl Direction {
    /// The function itself.
    pub const FORWARD: Direction = Direction { adjoint: 0, inverse: false, transposed: false };
    /// Its inverse.
    pub const INVERSE: Direction = Direction { inverse: true, ..Direction::FORWARD };
    /// Its adjoint.
    pub const ADJOINT: Direction = Direction { adjoint: 1, ..Direction::FORWARD };
    /// The adjoint of its inverse.
    pub const INVERSE_ADJOINT: Direction = Direction { adjoint: 1, ..Direction::INVERSE };
    /// The function with its tangents.
    pub const TANGENTS: Direction = Direction { transposed: true, ..Direction::ADJOINT };
    /// Its adjoint on numbers with its tangents: each argument is followed by its tangents, then by its cotangent with
    /// its own.
    pub const TANGENTS_OF_ADJOINT: Direction = Direction { adjoint: 2, ..Direction::TANGENTS };
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// How the callee uses it.
    pub mode: Mode,
    /// A place for [`Mode::Write`] and [`Mode::Accumulate`]; any expression for [`Mode::Read`].
    pub value: ArgValue,
}

/// What is passed.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// A place, by reference.
    Place(Place),
    /// A value.
    Expr(Expr),
}

impl Stmt {
    /// A statement without a source.
    pub fn new(kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::NONE }
    }

    /// What it is, by value.
    pub fn into_kind(mut self) -> StmtKind {
        std::mem::replace(&mut self.kind, StmtKind::External { code: String::new() })
    }

    /// The same statement at a source position.
    pub fn at(mut self, span: Span) -> Stmt {
        self.span = span;
        self
    }
}
