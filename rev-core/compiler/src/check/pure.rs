//! Pure functions: values of their parameters and nothing else, with a derivative for each
//! parameter that carries one.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{parts, Expr, ExprKind, Function, FunctionPath, Mode, Pure, Span, Type, VarKind};

use super::{limits, scope, types};
use crate::limits::grown;

/// Checks the rules of pure functions.
pub fn check_pure(pure: &Pure) -> Result<(), Diagnostics> {
    for e in std::iter::once(&pure.result).chain(pure.partials.iter().flatten()) {
        limits::check_expr(e, pure.span).or(())?;
    }
    grown(parts(&pure.result), || check_shallow(pure))
}

fn check_shallow(pure: &Pure) -> Result<(), Diagnostics> {
    let mut out = scope::check_expr(&as_function(pure), &pure.result);
    if out.is_empty() {
        result_type(pure, &mut out);
        given_partials(pure, &mut out);
        storage(pure, &mut out);
        values_only(pure, &pure.result, &mut out);
        out.append(types::check_pure(pure));
    }
    out.or(())
}

/// The function without statements that has the pure function's variables.
fn as_function(pure: &Pure) -> Function {
    Function {
        name: pure.name.clone(),
        generics: pure.generics.clone(),
        params: pure.params.clone(),
        constants: std::collections::BTreeSet::new(),
        vars: pure.vars.clone(),
        names: crate::ir::Names::default(),
        body: Vec::new(),
        checks: true,
        file: pure.file.clone(),
        span: pure.span,
        defects: Diagnostics::default(),
    }
}

fn result_type(pure: &Pure, out: &mut Diagnostics) {
    if !is_value(&pure.result_type) {
        let message =
            format!("a pure function returns a scalar or a tuple of scalars, not a `{}`", pure.result_type);
        out.push(Diagnostic::new(Code::PureResult, or_name(pure, pure.result.span), message));
    }
}

fn is_value(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_)
        | Type::Generic(_)
        | Type::Complex(_)
        | Type::Shadow(_)
        | Type::Struct(..)
        | Type::Unknown => true,
        Type::Tuple(ts) => ts.iter().all(is_value),
        Type::Array(..) | Type::Fixed(..) | Type::Stack(_) | Type::Function(_) => false,
    }
}

fn given_partials(pure: &Pure, out: &mut Diagnostics) {
    let Some(partials) = &pure.partials else { return };
    if partials.len() != pure.params.len() {
        let message = format!(
            "{} parameters, but derivatives for {} of them are given",
            pure.params.len(),
            partials.len()
        );
        out.push(Diagnostic::new(Code::PurePartials, pure.span, message));
    }
    for partial in partials {
        out.append(scope::check_expr(&as_function(pure), partial));
        values_only(pure, partial, out);
    }
}

/// A result that may carry a derivative doesn't come from a parameter of any type that can be stored, which may be
/// a number: there would be no one and no zero of its type for its derivative.
fn storage(pure: &Pure, out: &mut Diagnostics) {
    let result = &pure.result_type;
    if result.is_inactive(&pure.generics) && !result.is_storage(&pure.generics) {
        return;
    }
    let params = pure.params.iter().filter_map(|p| pure.vars.get(p.0 as usize));
    for param in params.filter(|v| v.ty.is_storage(&pure.generics)) {
        let message = format!(
            "`{}` may be or hold a number, and a derivative by a `{}` isn't known",
            param.name, param.ty
        );
        out.push(
            Diagnostic::new(Code::PurePartials, or_name(pure, param.span), message)
                .help("say what its type can do: `Ring`, `Field`, `Real` or `Integer` in place of `Scalar`"),
        );
    }
}

/// The expression, with all in it, makes no storage and writes nothing.
fn values_only(pure: &Pure, expr: &Expr, out: &mut Diagnostics) {
    let span = or_name(pure, expr.span);
    match &expr.kind {
        ExprKind::Fill(..) | ExprKind::EmptyStack | ExprKind::ZeroShadow(_) | ExprKind::ZeroLike(_) => {
            let message = "a pure function makes no arrays or stacks";
            out.push(Diagnostic::new(Code::PureBody, span, message));
        }
        ExprKind::Contract(..) => {
            let message = "a pure function computes with scalars, not with whole arrays";
            out.push(Diagnostic::new(Code::PureBody, span, message));
        }
        ExprKind::Pure(path, _) if calls_itself(pure, path) => {
            let message = format!("`{path}` calls itself");
            out.push(Diagnostic::new(Code::PureRecursion, span, message));
        }
        ExprKind::Read(place) => {
            if let Some(VarKind::Param(Mode::Write | Mode::Accumulate) | VarKind::Ancilla | VarKind::Index) =
                pure.vars.get(place.var.0 as usize).map(|v| v.kind)
            {
                let message = "a pure function only has parameters that it reads, and bindings";
                out.push(Diagnostic::new(Code::PureBody, span, message));
            }
        }
        ExprKind::Literal(..)
        | ExprKind::Named(_)
        | ExprKind::Function(_)
        | ExprKind::Const(_)
        | ExprKind::Len(..)
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
        | ExprKind::Zero(_) => {}
    }
    expr.each_child(&mut |e| values_only(pure, e, out));
}

/// Whether a path without module is the function's own name.
fn calls_itself(pure: &Pure, path: &FunctionPath) -> bool {
    Some(path.name()) == pure.name.rsplit("::").next() && path.derived().is_empty()
}

fn or_name(pure: &Pure, span: Span) -> Span {
    if span.is_some() {
        span
    } else {
        pure.span
    }
}
