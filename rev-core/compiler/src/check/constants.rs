//! Parameters that are declared constant: they are read only, and nothing that carries a derivative is
//! passed for them, which would lose it.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::facts::{passed_with_derivatives, Passing};
use crate::ir::{Expr, ExprKind, Function, Mode, Module, Stmt, VarKind};

use super::context::{each_stmt, or, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    for var in &cx.function.constants {
        if matches!(cx.function.var(*var).kind, VarKind::Param(Mode::Write | Mode::Accumulate)) {
            let name = cx.name(*var);
            let message = format!("`{name}` is written, so its derivative is part of what the function does");
            let diagnostic = Diagnostic::new(Code::ConstantParameter, cx.declared(*var), message);
            out.push(diagnostic.help("only a parameter that is read can be constant"));
        }
    }
}

/// What a function of a module passes on although its derivative would be lost.
pub(crate) fn lost(module: &Module, function: &Function) -> Diagnostics {
    let mut out = Diagnostics::default();
    for passing in passed_with_derivatives(function) {
        let callee = module.functions.get(module.resolve(&function.name, passing.callee.as_str()));
        if let Some(callee) = callee {
            out.0.extend(to_constant(function, callee, &passing));
        }
    }
    each_stmt(&function.body, &mut |stmt| {
        stmt.each_expr(&mut |e| passed_itself(module, function, stmt, e, &mut out))
    });
    out
}

/// A value for a parameter that the callee declares constant.
fn to_constant(caller: &Function, callee: &Function, passing: &Passing) -> Option<Diagnostic> {
    let param = callee.params.get(passing.argument).filter(|v| callee.constants.contains(v))?;
    let (name, param) = (&passing.name, &callee.var(*param).name);
    let message = format!("`{name}` carries a derivative, but `{}` declares `{param}` constant", callee.name);
    let what = match caller.params.iter().any(|v| caller.var(*v).name == *name) {
        true => format!("`{name}`"),
        false => format!("the parameters that `{name}` follows from"),
    };
    let help = format!("declare {what} constant here too, or don't declare `{param}` constant there");
    Some(Diagnostic::new(Code::ConstantParameter, passing.span, message).help(help))
}

/// A function with constants as an argument: who calls it there couldn't know of them.
fn passed_itself(module: &Module, function: &Function, stmt: &Stmt, e: &Expr, out: &mut Diagnostics) {
    let path = match &e.kind {
        ExprKind::Function(path) => Some(path.as_str()),
        ExprKind::Named(path) => Some(path.as_str()),
        _ => None,
    };
    if let Some(path) = path {
        let passed = module.functions.get(module.resolve(&function.name, path));
        if passed.is_some_and(|f| !f.constants.is_empty()) {
            let message = format!("`{path}` declares constants, so it can't be passed to other functions");
            let diagnostic = Diagnostic::new(Code::ConstantParameter, or(e.span, stmt.span), message);
            out.push(diagnostic.help("call it by its name where it is used"));
        }
    }
    e.each_child(&mut |e| passed_itself(module, function, stmt, e, out));
}
