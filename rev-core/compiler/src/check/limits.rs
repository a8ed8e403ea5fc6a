//! How deep a program may be: [`crate::limits`].

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{each_level, height, Expr, Function, Span};
use crate::limits::{HEIGHT, NESTING};

use super::context::or;

/// The first statement and the first expression that are too deep. No other rule may look at a function that has one.
pub(super) fn check(function: &Function) -> Diagnostics {
    let mut out = Diagnostics::default();
    let (mut deep, mut high) = (None, None);
    each_level(&function.body, &mut |stmt, level| {
        if level > NESTING {
            deep = deep.or(Some(stmt.span));
        }
        stmt.each_expr(&mut |e| high = high.or(too_high(e, stmt.span)));
        stmt.each_place(&mut |p, _| p.indices().for_each(|e| high = high.or(too_high(e, stmt.span))));
    });
    if let Some(span) = deep {
        let message = format!("this statement is nested more than {NESTING} deep");
        out.push(Diagnostic::new(Code::TooDeep, or(span, function.span), message));
    }
    if let Some(span) = high {
        out.push(expression(or(span, function.span)));
    }
    out
}

/// The same of an expression alone.
pub(super) fn check_expr(e: &Expr, around: Span) -> Diagnostics {
    let mut out = Diagnostics::default();
    if let Some(span) = too_high(e, around) {
        out.push(expression(span));
    }
    out
}

fn expression(span: Span) -> Diagnostic {
    let message = format!("this expression is more than {HEIGHT} operations high");
    Diagnostic::new(Code::TooHigh, span, message)
}

fn too_high(e: &Expr, around: Span) -> Option<Span> {
    (height(e) > HEIGHT).then(|| or(e.span, around))
}
