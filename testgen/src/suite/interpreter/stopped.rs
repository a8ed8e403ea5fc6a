//! `stop_gradient`: reads of parameters through it have the derivatives of reads of copies that are parameters of their own. What
//! differences of a program say about it would be another derivative.

use rev_core::check::type_of;
use rev_core::facts::calls;
use rev_core::ir::{Direction, Expr, ExprKind, Function, Mode, Place, Stmt, Type, VarId, VarKind};
use rev_core::ops::Func;
use rev_core::value::Data;

use super::super::{Failure, Tally};
use super::runs::{alike, apart, interleave, Ends, Subject, ADJOINT};
use crate::reals::replace;
use crate::{Dice, Program};

/// How far derivatives may be apart: sums in another order.
const SUMS: f64 = 1e-9;

/// Derivatives of the program with some reads stopped are those with the same reads from copies, along no direction of theirs.
pub(super) fn of_the_program(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let mut copied = Vec::new();
    let mut by_copies = s.program.clone();
    let mut stopped = s.program.clone();
    rewrite(&mut by_copies, |f, place| {
        let of = place.var;
        let known = copied.iter().find(|(original, _)| *original == of).map(|(_, copy)| *copy);
        let copy = known.unwrap_or_else(|| {
            let mut var = f.var(of).clone();
            var.name.push_str("_copy");
            let copy = f.add_var(var);
            f.params.push(copy);
            copied.push((of, copy));
            copy
        });
        Expr::read(place.rooted_at(copy))
    });
    rewrite(&mut stopped, |_, place| Expr::func(Func::StopGradient, vec![Expr::read(place)]));
    if copied.is_empty() {
        return Ok(());
    }
    *tally.entry("stopped reads").or_default() += 1;
    let position = |var: &VarId| s.program.entry().params.iter().position(|p| p == var);
    let copies: Vec<usize> = copied.iter().filter_map(|(original, _)| position(original)).collect();
    let with = |args: &[Data], copy: fn(&Data) -> Data| -> Vec<Data> {
        args.iter().cloned().chain(copies.iter().map(|k| copy(&args[*k]))).collect()
    };
    let made = |program: &Program| {
        program
            .checked_module()
            .map_err(|e| Failure::new("reads may be stopped or copied", format!("{e}\n{}", program.text())))
    };
    let (own, other) = (made(&stopped)?, made(&by_copies)?);
    let count = ends.before.len();

    let start = interleave(&ends.after, &ends.seeds);
    let found = apart(&Subject::new(&stopped, &own).must_run(ADJOINT, start)?);
    let start = interleave(&with(&ends.after, Data::clone), &with(&ends.seeds, Data::zero_shadow));
    let expected = apart(&Subject::new(&by_copies, &other).must_run(ADJOINT, start)?);
    alike("stopped reads have the values of others", &expected.0[..count], &found.0, SUMS)?;
    alike("stopped reads have no cotangents", &expected.1[..count], &found.1, SUMS)?;

    let mut dice = Dice::new(s.program.seed + 6);
    let towards: Vec<Data> = ends.before.iter().map(|d| replace(d, &mut |_| dice.real(-1.0, 1.0))).collect();
    let tangent = |module: &rev_core::ir::Module| {
        module.tangent().map_err(|e| Failure::new("stopped reads have a tangent", e.to_string()))
    };
    let start = interleave(&ends.before, &towards);
    let found = Subject::new(&stopped, &tangent(&own)?).must_run(Direction::FORWARD, start)?;
    let start = interleave(&with(&ends.before, Data::clone), &with(&towards, Data::zero_shadow));
    let expected = Subject::new(&by_copies, &tangent(&other)?).must_run(Direction::FORWARD, start)?;
    alike("stopped reads have no tangents", &expected[..2 * count], &found, SUMS)
}

/// Changes the reads of real numbers of every second parameter that the program only reads, and that isn't constant. All of them: what
/// is computed with a derivative has to be taken back with it. Programs that call themselves would need another argument.
fn rewrite(program: &mut Program, mut change: impl FnMut(&mut Function, Place) -> Expr) {
    let mut dice = Dice::new(program.seed + 5);
    let Some(f) = program.functions.last_mut() else { return };
    let chosen: Vec<VarId> = f
        .params
        .iter()
        .copied()
        .filter(|v| f.var(*v).kind == VarKind::Param(Mode::Read) && !f.constants.contains(v))
        .filter(|_| dice.chance(50))
        .collect();
    if calls(f).paths.iter().any(|path| path.name() == f.name) {
        return;
    }
    let mut body = std::mem::take(&mut f.body);
    body.iter_mut().for_each(|stmt| in_statement(stmt, f, &chosen, &mut change));
    f.body = body;
}

fn in_statement(
    stmt: &mut Stmt,
    f: &mut Function,
    chosen: &[VarId],
    change: &mut impl FnMut(&mut Function, Place) -> Expr,
) {
    stmt.each_expr_mut(&mut |e| in_expression(e, f, chosen, change));
    for inner in stmt.blocks_mut().into_iter().flatten() {
        in_statement(inner, f, chosen, change);
    }
}

fn in_expression(
    e: &mut Expr,
    f: &mut Function,
    chosen: &[VarId],
    change: &mut impl FnMut(&mut Function, Place) -> Expr,
) {
    if let ExprKind::Read(place) = &e.kind {
        let ty = type_of(f, e);
        let number = matches!(ty, Type::Scalar(_) | Type::Generic(_)) && !ty.is_inactive(&f.generics);
        if number && chosen.contains(&place.var) {
            *e = change(f, place.clone());
        }
        return;
    }
    e.each_child_mut(&mut |child| in_expression(child, f, chosen, change));
}
