//! The programs that take tangents side by side: of a function, and of its adjoint on numbers. Both are transposes of
//! adjoints ([`tangents`]).

use super::Program;
use crate::check::Checked;
use crate::ir::{is_function_name, Direction, Expr, ExprKind, Function, Stmt, Type};
use crate::ops::Func;
use crate::pass::{inverse, pullback_to_run, tangents};

/// What is emitted of a function that has tangents.
#[derive(Clone, Debug, PartialEq)]
pub struct Sides {
    /// The function with tangents, and its inverse.
    pub of_function: [Program; 2],
    /// The adjoint on numbers with tangents, and that of the inverse; none of a function that takes functions.
    pub of_adjoint: Option<[Program; 2]>,
    /// Whether these can be printed. If not, they are there, and an error when they are run.
    pub whole: bool,
    /// Whether all are there for lanes too.
    pub laned: bool,
}

/// What is emitted of a function's tangents side by side.
pub fn sides(function: &Checked) -> Sides {
    let takes_functions = function.params.iter().any(|p| matches!(function.var(*p).ty, Type::Function(_)));
    let backward = inverse(function);
    let adjoints = (!takes_functions).then(|| [function, &backward].map(pullback_to_run));
    let whole = adjoints.as_ref().is_some_and(|[adjoint, _]| !computes_with_parts(adjoint));
    let of_adjoint = adjoints.map(|adjoints| programs(adjoints.each_ref(), Direction::TANGENTS_OF_ADJOINT));
    Sides {
        of_function: programs([function, &backward], Direction::TANGENTS),
        of_adjoint,
        whole: whole && !function.body.iter().any(names_functions),
        laned: !takes_functions,
    }
}

/// The tangents of two programs, of which the second goes backwards and is seldom called.
fn programs([forward, backward]: [&Checked; 2], direction: Direction) -> [Program; 2] {
    let inverse = Direction { inverse: true, ..direction };
    [
        Program::erased(direction, tangents(forward)),
        Program { direction: inverse, function: tangents(backward), variants: None },
    ]
}

/// Whether an adjoint as a function has products of real and complex numbers and parts of complex ones, which only shadows
/// have in emitted code.
pub fn computes_with_parts(function: &Function) -> bool {
    fn in_expr(e: &Expr) -> bool {
        let own = [Func::ScaleReal, Func::ShadowRe, Func::ShadowIm, Func::ShadowFromRe, Func::ShadowFromIm];
        let mut found = matches!(&e.kind, ExprKind::Func(func, _) if own.contains(func));
        e.each_child(&mut |child| found |= in_expr(child));
        found
    }
    function.body.iter().any(|stmt| says(stmt, in_expr))
}

/// Whether a statement passes functions to others.
fn names_functions(stmt: &Stmt) -> bool {
    fn names(e: &Expr) -> bool {
        let mut found = matches!(&e.kind, ExprKind::Named(path) if is_function_name(path));
        e.each_child(&mut |e| found |= names(e));
        found
    }
    says(stmt, names)
}

fn says(stmt: &Stmt, of: fn(&Expr) -> bool) -> bool {
    let mut found = stmt.blocks().into_iter().flatten().any(|s| says(s, of));
    stmt.each_expr(&mut |e| found |= of(e));
    found
}
