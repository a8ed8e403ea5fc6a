//! The sine and the cosine of a number, bound one right after the other: computed at once.

use rev_compiler::ir::{Block, Expr, ExprKind, StmtKind, VarId};
use rev_compiler::ops::Func;

/// Both, and the scope of their names.
pub struct SineCosine<'b> {
    /// The number.
    pub argument: &'b Expr,
    /// The name of its sine.
    pub sine: VarId,
    /// The name of its cosine.
    pub cosine: VarId,
    /// What follows.
    pub body: &'b Block,
}

impl<'b> SineCosine<'b> {
    /// What a binding and the one that follows are, if they are that.
    pub fn of(var: VarId, expr: &'b Expr, body: &'b Block) -> Option<SineCosine<'b>> {
        let [next] = &body[..] else { return None };
        let StmtKind::Let { var: other, expr: second, body } = &next.kind else { return None };
        let ((first, argument), (second, same)) = (of_angle(expr)?, of_angle(second)?);
        let (sine, cosine) = match (first, second) {
            (Func::Sin, Func::Cos) => (var, *other),
            (Func::Cos, Func::Sin) => (*other, var),
            _ => return None,
        };
        let both = !argument.mentions(var) && argument.same(same);
        both.then_some(SineCosine { argument, sine, cosine, body })
    }
}

fn of_angle(e: &Expr) -> Option<(Func, &Expr)> {
    match &e.kind {
        ExprKind::Func(func, args) => Some((*func, args.first()?)),
        _ => None,
    }
}
