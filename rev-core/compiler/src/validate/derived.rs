//! What a derived program is to the one that it is derived from.

use super::expect;
use crate::diag::Diagnostics;
use crate::ir::{Function, Mode, Type, VarKind};
use crate::pass::inverse_block;

/// An inverse has the inverse that it is made from.
pub(crate) fn inverse_of(source: &Function, inverse: &Function) -> Diagnostics {
    let mut out = Diagnostics::default();
    let back = inverse_block(&inverse.body) == source.body;
    expect(back, &mut out, source.span, || "the inverse isn't undone by its inverse".into());
    let same = inverse.params == source.params && inverse.vars == source.vars;
    expect(same, &mut out, source.span, || "the inverse has other variables".into());
    out
}

/// An adjoint has the source's variables, and after each parameter its shadow.
pub(crate) fn adjoint_of(source: &Function, adjoint: &Function) -> Diagnostics {
    let mut out = Diagnostics::default();
    let same = adjoint.vars.starts_with(&source.vars) && adjoint.constants == source.constants;
    expect(same, &mut out, source.span, || "the adjoint has other variables than its program".into());
    let pairs = adjoint.params.chunks(2);
    let right = adjoint.params.len() == 2 * source.params.len()
        && pairs.zip(&source.params).all(|(pair, param)| match pair {
            [var, shadow] => {
                let (var_is, shadow_is) = (adjoint.var(*var), adjoint.var(*shadow));
                var == param
                    && matches!(&shadow_is.ty, Type::Shadow(of) if **of == var_is.ty)
                    && shadow_is.kind == shadow_kind(var_is.kind)
            }
            _ => false,
        });
    expect(right, &mut out, source.span, || "a parameter of the adjoint isn't followed by its shadow".into());
    out
}

fn shadow_kind(kind: VarKind) -> VarKind {
    match kind {
        VarKind::Param(Mode::Write) => VarKind::Param(Mode::Write),
        VarKind::Param(Mode::Accumulate) => VarKind::Param(Mode::Read),
        VarKind::Param(Mode::Read) => VarKind::Param(Mode::Accumulate),
        VarKind::Ancilla | VarKind::Binding | VarKind::Index => kind,
    }
}
