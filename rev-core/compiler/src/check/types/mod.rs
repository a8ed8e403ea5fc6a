//! Types, as far as they can be known: of variables, places and expressions.
//!
//! The macro sees one function and no definitions, so much may stay unknown there; rustc knows the
//! rest. What is known is unified as in Rust (literals adapt to the operands beside them, there are
//! no conversions), and reported where it can't be right. With a module, which has the structs and
//! callees, everything is known: [`infer_module`].

mod apply;
mod contraction;
mod expr;
mod place;
mod signature;
mod solver;
mod stmt;
mod term;
mod verdict;

use crate::diag::Diagnostics;
use crate::ir::{
    depth, has_external, Block, Direction, Expr, ExprKind, Function, Module, Place, Pure, Type, VarId,
};

use crate::limits::grown;
use crate::ops::Func;
use apply::{each_expr, each_expr_mut, Detail, Found};
use solver::{Scope, Solver};

/// The types in a function, for questions about its places and expressions.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    scope: Scope<'a>,
}

impl<'a> Types<'a> {
    /// The types in a function alone.
    pub fn of(function: &'a Function) -> Types<'a> {
        Types { scope: scope(function, None) }
    }

    /// The types in a function of a module, whose structs and callees are known.
    pub fn in_module(function: &'a Function, module: &'a Module) -> Types<'a> {
        Types { scope: scope(function, Some(module)) }
    }

    /// The type of a place; unknown parts are [`Type::Unknown`].
    pub fn place(&self, place: &Place) -> Type {
        let mut solver = Solver::new(self.scope);
        let term = solver.place(place);
        solver.terms.resolve(&term)
    }

    /// The type of an expression; a literal that nothing gives a type is [`Type::Unknown`].
    pub fn expr(&self, expr: &Expr) -> Type {
        let mut solver = Solver::new(self.scope);
        let term = solver.expr(expr);
        solver.settle();
        solver.terms.resolve(&term)
    }
}

/// The type of an expression of a function.
pub fn type_of(function: &Function, expr: &Expr) -> Type {
    Types::of(function).expr(expr)
}

/// Completes the types of a function's variables as far as the function alone tells, and turns `/`
/// between integers into their quotient, `%` between real numbers into `fmod`.
pub fn infer(function: &mut Function) {
    let mut found = solve(function, None).0;
    apply(&mut found, function, Detail::Variables);
}

/// Completes everything in a module: the types of variables and literals of all its functions.
pub fn infer_module(module: &mut Module) {
    let functions: Vec<(String, Found)> =
        module.functions.iter().map(|(k, f)| (k.clone(), solve(f, Some(module)).0)).collect();
    let pures: Vec<(String, Found)> =
        module.pures.iter().map(|(k, p)| (k.clone(), solve_pure(p, Some(module)).0)).collect();
    for (key, mut found) in functions {
        if let Some(f) = module.functions.get_mut(&key) {
            apply(&mut found, f, Detail::Literals);
        }
    }
    for (key, mut found) in pures {
        if let Some(p) = module.pures.get_mut(&key) {
            apply_pure(&mut found, p, Detail::Literals);
        }
    }
}

/// The module with the types of its literals, where these aren't found beside them: in derivatives on numbers of 32
/// and 16 bits, where products of literals have names and are rounded as the program's numbers, and in complex numbers of literals alone. `None` elsewhere, where a
/// literal takes the type beside it.
pub fn with_typed_literals(
    module: &Module,
    entry: &str,
    direction: Direction,
    narrow: bool,
) -> Option<Module> {
    let is_shadow = |f: &Function, p: &VarId| matches!(f.var(*p).ty, Type::Shadow(_));
    let derived = |f: &Function| f.params.iter().any(|p| is_shadow(f, p));
    let derivative = direction.adjoint > 0 || module.functions.get(entry).is_some_and(derived);
    ((narrow && derivative) || makes_complex(module)).then(|| {
        let mut typed = module.clone();
        infer_module(&mut typed);
        typed
    })
}

/// Whether complex numbers are made of real ones anywhere, which may be literals or names of literals.
fn makes_complex(module: &Module) -> bool {
    fn makes(e: &Expr) -> bool {
        let mut found = matches!(e.kind, ExprKind::Func(Func::Complex, _));
        e.each_child(&mut |e| found = found || makes(e));
        found
    }
    let mut found = module.pures.values().any(|p| makes(&p.result));
    for f in module.functions.values() {
        each_expr(&f.body, &mut |e| found = found || makes(e));
    }
    found
}

/// What doesn't fit in a function.
pub(super) fn check(function: &Function) -> Diagnostics {
    solve(function, None).1
}

/// What doesn't fit in a function of a module, whose structs and callees are known.
pub(super) fn check_in_module(function: &Function, module: &Module) -> Diagnostics {
    solve(function, Some(module)).1
}

/// What doesn't fit in a pure function.
pub(super) fn check_pure(pure: &Pure) -> Diagnostics {
    solve_pure(pure, None).1
}

/// Completes the types of a pure function's variables.
pub fn infer_pure(pure: &mut Pure) {
    let mut found = solve_pure(pure, None).0;
    apply_pure(&mut found, pure, Detail::Variables);
}

fn scope<'a>(function: &'a Function, module: Option<&'a Module>) -> Scope<'a> {
    Scope { name: &function.name, generics: &function.generics, vars: &function.vars, module }
}

fn solve(function: &Function, module: Option<&Module>) -> (Found, Diagnostics) {
    function.grown(|| {
        let mut solver = Solver::new(scope(function, module));
        solver.block(&function.body);
        // foreign code may say what type a name has
        if module.is_none() && !has_external(&function.body) {
            solver.default();
        }
        solver.verdict();
        let found = Found::new(&solver, |f| each_expr(&function.body, f));
        (found, solver.out)
    })
}

fn apply(found: &mut Found, function: &mut Function, detail: Detail) {
    found.vars(&mut function.vars);
    let Function { generics, body, .. } = function;
    let body: &mut Block = body;
    grown(depth(body), || each_expr_mut(body, &mut |e| found.expr(e, generics, detail)));
}

fn solve_pure(pure: &Pure, module: Option<&Module>) -> (Found, Diagnostics) {
    let scope = Scope { name: &pure.name, generics: &pure.generics, vars: &pure.vars, module };
    let mut solver = Solver::new(scope);
    let declared = solver.terms.of(&pure.result_type);
    let found = solver.expr(&pure.result);
    solver.expect(&declared, &found, pure.result.span, None);
    for partial in pure.partials.iter().flatten() {
        let found = solver.expr(partial);
        solver.expect(&declared, &found, partial.span, None);
    }
    if module.is_none() {
        solver.default();
    }
    solver.verdict();
    let found = Found::new(&solver, |f| exprs_of(pure).for_each(f));
    (found, solver.out)
}

fn exprs_of(pure: &Pure) -> impl Iterator<Item = &Expr> {
    std::iter::once(&pure.result).chain(pure.partials.iter().flatten())
}

fn apply_pure(found: &mut Found, pure: &mut Pure, detail: Detail) {
    found.vars(&mut pure.vars);
    let Pure { generics, result, partials, .. } = pure;
    for e in std::iter::once(result).chain(partials.iter_mut().flatten()) {
        found.expr(e, generics, detail);
    }
}
