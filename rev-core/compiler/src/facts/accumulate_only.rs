//! Which arguments a function only accumulates into, without ever reading them.
//!
//! The loss of a gradient is one in most programs. Nothing depends on the value of such an argument,
//! so an adjoint needs neither its value after the function nor to restore the one before; a function
//! all of whose written arguments are of this kind gives its gradient without a forward run. What a
//! callee does with a parameter that it is given stands in the callee.

use std::collections::BTreeSet;

use crate::ir::{
    Access, ArgValue, Callee, Function, FunctionPath, Mode, Stmt, StmtKind, Var, VarId, VarKind,
};

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

/// A call that is given a parameter of the calling function to write.
#[derive(Clone, Debug, PartialEq)]
pub struct PassedOn {
    /// The function called, by the path written.
    pub callee: FunctionPath,
    /// Which of its parameters it is.
    pub argument: usize,
}

/// The calls on which it depends whether a written parameter is only accumulated into: in the
/// callees. `None` where the function itself reads it or changes it in another way.
pub fn accumulated_by(function: &Function, param: VarId) -> Option<Vec<PassedOn>> {
    let mut calls = Vec::new();
    for stmt in &function.body {
        add_accumulations(function, stmt, param, &mut calls)?;
    }
    Some(calls)
}

fn add_accumulations(
    function: &Function,
    stmt: &Stmt,
    param: VarId,
    calls: &mut Vec<PassedOn>,
) -> Option<()> {
    let mut allowed = true;
    stmt.each_access(&mut |place, access| {
        let passed = access == Access::Write && matches!(stmt.kind, StmtKind::Call { .. });
        allowed &= place.var != param || access == Access::Accumulate || passed;
    });
    if let StmtKind::Call { callee, direction, args } = &stmt.kind {
        for (argument, arg) in args.iter().enumerate() {
            match (&arg.value, callee) {
                (ArgValue::Place(place), _) if place.var != param || arg.mode != Mode::Write => {}
                (ArgValue::Expr(_), _) => {}
                (ArgValue::Place(_), Callee::Path(path)) => {
                    allowed &= direction.adjoint == 0;
                    calls.push(PassedOn { callee: path.clone(), argument });
                }
                (ArgValue::Place(_), Callee::Param(_)) => allowed = false,
            }
        }
    }
    let mut named = [param].into_iter().collect();
    remove_named_outside(function, stmt, &mut named);
    if !allowed || named.is_empty() {
        return None;
    }
    stmt.blocks().into_iter().flatten().try_for_each(|s| add_accumulations(function, s, param, calls))
}

/// The parameters that a function writes.
pub fn written_params(function: &Function) -> impl Iterator<Item = VarId> + '_ {
    function.params.iter().copied().filter(|p| match function.var(*p).kind {
        VarKind::Param(mode) => mode != Mode::Read,
        VarKind::Ancilla | VarKind::Binding | VarKind::Index => false,
    })
}

/// The variables that external code names, as far as its words say.
pub fn named_outside<'f>(function: &'f Function, code: &str) -> impl Iterator<Item = VarId> + 'f {
    let words = code.split(|c: char| c != '_' && !c.is_alphanumeric());
    let words: BTreeSet<String> = words.map(str::to_owned).collect();
    let named = move |(_, var): &(usize, &Var)| words.contains(var.name.trim_start_matches("r#"));
    function.vars.iter().enumerate().filter(named).map(|(k, _)| VarId(k as u32))
}

/// External code may read what it names.
fn remove_named_outside(function: &Function, stmt: &Stmt, out: &mut BTreeSet<VarId>) {
    if let StmtKind::External { code } = &stmt.kind {
        named_outside(function, code).for_each(|v| {
            out.remove(&v);
        });
    }
    stmt.blocks().into_iter().flatten().for_each(|s| remove_named_outside(function, s, out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_function;

    fn names(text: &str) -> (Vec<String>, bool) {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        let only: Vec<String> = accumulate_only(&f).iter().map(|v| f.var(*v).name.clone()).collect();
        let forward = only.len() < written_params(&f).count();
        (only, forward)
    }

    fn passed_on(text: &str) -> Option<Vec<(String, usize)>> {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        let calls = accumulated_by(&f, f.params[0])?;
        Some(calls.into_iter().map(|c| (c.callee.to_string(), c.argument)).collect())
    }

    #[test]
    fn what_is_passed_on_depends_on_the_callees() {
        let f = |body: &str| passed_on(&format!("fn f(a: &mut f64, b: &mut f64, x: f64) {{ {body} }}"));
        assert_eq!(f("a += x"), Some(vec![]));
        assert_eq!(f("a += x; call g(x, &mut a)"), Some(vec![("g".into(), 1)]));
        assert_eq!(
            f("if x < 1.0 { call g(&mut a); uncall h(&mut a, x) }"),
            Some(vec![("g".into(), 0), ("h".into(), 0)])
        );
        assert_eq!(f("call g(&mut a); b += a"), None);
        assert_eq!(f("call g(a, &mut b)"), None);
        assert_eq!(f("neg(a)"), None);
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
