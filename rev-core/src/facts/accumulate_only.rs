//! Which arguments a function only accumulates into, without ever reading them.
//!
//! The loss of a gradient is one in most programs. Nothing depends on the value of such an argument,
//! so an adjoint needs neither its value after the function nor to restore the one before; a function
//! all of whose written arguments are of this kind gives its gradient without a forward run.

use std::collections::BTreeSet;

use crate::ir::{Access, Function, Mode, Stmt, StmtKind, VarId, VarKind};

/// The written parameters that no statement reads or changes in another way than by `+=` and `-=`.
///
/// A parameter that is passed on to be written by a callee isn't one: the callee may read it.
pub fn accumulate_only(function: &Function) -> BTreeSet<VarId> {
    let mut out: BTreeSet<VarId> = written_params(function).collect();
    for stmt in &function.body {
        stmt.each_access_deep(&mut |place, access| {
            if access != Access::Accumulate {
                out.remove(&place.var);
            }
        });
        remove_named_outside(function, stmt, &mut out);
    }
    out
}

/// Whether the gradient of a function depends on the values of its written arguments, so that the
/// function has to be run before its adjoint.
pub fn needs_forward_run(function: &Function) -> bool {
    let only_accumulated = accumulate_only(function);
    written_params(function).any(|p| !only_accumulated.contains(&p))
}

fn written_params(function: &Function) -> impl Iterator<Item = VarId> + '_ {
    function.params.iter().copied().filter(|p| match function.var(*p).kind {
        VarKind::Param(mode) => mode != Mode::Read,
        VarKind::Ancilla | VarKind::Binding | VarKind::Index => false,
    })
}

/// External code may read what it names.
fn remove_named_outside(function: &Function, stmt: &Stmt, out: &mut BTreeSet<VarId>) {
    if let StmtKind::External { code } = &stmt.kind {
        let words: BTreeSet<&str> = code.split(|c: char| c != '_' && !c.is_alphanumeric()).collect();
        out.retain(|v| !words.contains(function.var(*v).name.as_str()));
    }
    stmt.blocks().into_iter().flatten().for_each(|s| remove_named_outside(function, s, out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_function;

    fn names(text: &str) -> (Vec<String>, bool) {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        let names = accumulate_only(&f).iter().map(|v| f.var(*v).name.clone()).collect();
        (names, needs_forward_run(&f))
    }

    #[test]
    fn a_loss_is_only_accumulated_into() {
        let (found, forward) =
            names("fn f(loss: &mut f64, x: [f64]) { par for i in 0..len(x) { loss += x[i] } }");
        assert_eq!((found, forward), (vec!["loss".to_string()], false));
    }

    #[test]
    fn what_is_read_or_changed_is_not() {
        let text = "fn f(a: &mut f64, b: &mut f64, c: &mut [f64], d: &mut f64, e: &mut f64, x: f64) {
            a += x; b += a; c[0] += x; d += x; neg(d); if e > 0.0 { b -= x } e += 1.0 }";
        assert_eq!(names(&text.replace("e += 1.0 }", "\n}")), (vec!["b".into(), "c".into()], true));
    }

    #[test]
    fn a_callee_may_read_what_it_writes_but_not_what_it_accumulates() {
        let (found, forward) = names("fn f(a: &mut f64, b: &acc f64, x: f64) { call g(&mut a, &acc b, x) }");
        assert_eq!((found, forward), (vec!["b".to_string()], true));
        assert_eq!(names("fn f(a: &mut f64, b: &mut f64) { external \"log(a)\" }").0, vec!["b".to_string()]);
    }
}
