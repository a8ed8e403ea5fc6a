//! Tangents: against differences, against the adjoint, and taken once more.

use rev_core::ir::Direction;
use rev_core::value::Data;

use super::super::slopes::{compare, Verdict};
use super::super::{Failure, Tally};
use super::runs::{alike, apart, interleave, numbers, Ends, Subject, ADJOINT, ROUNDING};
use crate::reals::{dot, moved, reals, replace};
use crate::Dice;

/// How far products of derivatives may be apart, relative to the lengths of what is multiplied.
const PRODUCTS: f64 = 1e-9;

/// What the tangent of a program is: the program on its values, its derivative along a direction beside them, and
/// the same of the inverse; second derivatives for a share of the programs.
pub(super) fn of_the_program(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let refused =
        |e: &dyn std::fmt::Display| Failure::new("it has a tangent", format!("{e}\n{}", s.program.text()));
    let module = s.module.tangent().map_err(|e| refused(&e))?;
    let tangent = Subject::new(s.program, &module);
    let mut dice = Dice::new(s.program.seed + 3);
    let towards = direction(&ends.before, &mut dice);
    let start = interleave(&ends.before, &towards);
    let end = tangent.must_run(Direction::FORWARD, start.clone())?;
    let (values, pushed) = apart(&end);
    alike("a tangent computes the program's values", &ends.after, &values, 0.0)?;
    let back = tangent.must_run(Direction::INVERSE, end.clone())?;
    alike("a tangent's inverse restores values and tangents", &start, &back, ROUNDING)?;
    let inverse = s.module.inverse().tangent().map_err(|e| refused(&e))?;
    let back = Subject::new(s.program, &inverse).must_run(Direction::FORWARD, end.clone())?;
    alike("the tangent of the inverse is the inverse of the tangent", &start, &back, ROUNDING)?;

    side_by_side(s, [&ends.before, &towards], [&ends.after, &pushed])?;

    let (_, pulled) = apart(&s.must_run(ADJOINT, interleave(&ends.after, &ends.seeds))?);
    same_product("⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩", [&ends.seeds, &pushed], [&pulled, &towards])?;
    let along = towards.iter().flat_map(reals).collect::<Vec<_>>();
    let value = |h: f64| {
        let moved = moved(&ends.before, &along, h);
        Some(dot(&ends.seeds, &s.run(Direction::FORWARD, moved).ok()?))
    };
    *tally.entry("tangents").or_default() += 1;
    let derivative = dot(&ends.seeds, &pushed);
    match compare(derivative, &value) {
        Verdict::Agrees => {}
        Verdict::Rough => *tally.entry("rough").or_default() += 1,
        Verdict::Differs(quotients) => {
            let message = format!("{derivative}, differences {quotients:?}\nat {}", numbers(&ends.before));
            return Err(Failure::new("the tangent agrees with differences", message));
        }
    }
    if s.program.seed.is_multiple_of(3) {
        *tally.entry("second tangents").or_default() += 1;
        let product = twice(&tangent, ends, &pulled, (&towards, &end), &mut dice)?;
        of_the_adjoint(s, ends, (&pushed, &product))?;
        as_a_function(s, ends, &pulled, (&towards, &pushed, &product))?;
    }
    Ok(())
}

/// The transpose of the adjoint takes tangents, in shadows, to those that the tangent gives; back likewise.
fn side_by_side(s: &Subject, before: [&[Data]; 2], after: [&[Data]; 2]) -> Result<(), Failure> {
    let start = interleave(before[0], &shadows(before[0], before[1]));
    let (values, tangents) = apart(&s.must_run(Direction::TANGENTS, start)?);
    alike("with tangents side by side, values are the program's", after[0], &values, 0.0)?;
    alike("tangents side by side are the tangent's", &shadows(after[0], after[1]), &tangents, ROUNDING)?;
    let end = interleave(after[0], &tangents);
    let inverse = Direction { inverse: true, ..Direction::TANGENTS };
    let (values, tangents) = apart(&s.must_run(inverse, end)?);
    alike("the inverse with tangents side by side restores values", before[0], &values, ROUNDING)?;
    let own = shadows(before[0], before[1]);
    alike("the inverse with tangents side by side takes them back", &own, &tangents, ROUNDING)
}

/// Numbers as shadows of values.
pub(super) fn shadows(of: &[Data], numbers: &[Data]) -> Vec<Data> {
    let shadow = |(d, of): (&Data, &Data)| {
        let mut numbers = reals(of).into_iter();
        replace(&d.zero_shadow(), &mut |_| numbers.next().unwrap_or(f64::NAN))
    };
    of.iter().zip(numbers).map(shadow).collect()
}

/// The adjoint of the tangent gives the gradient and the product of the Hessian with the direction; the tangent of the
/// tangent its second derivative along it.
fn twice(
    tangent: &Subject,
    ends: &Ends,
    gradient: &[Data],
    (towards, end): (&[Data], &[Data]),
    dice: &mut Dice,
) -> Result<Vec<Data>, Failure> {
    let zeros: Vec<Data> = ends.seeds.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
    // the loss is the tangent of ⟨ȳ, y⟩: cotangents of tangents only
    let seeds = interleave(&zeros, &ends.seeds);
    let product = |end: &[Data]| {
        let (_, pulled) = apart(&tangent.must_run(ADJOINT, interleave(end, &seeds))?);
        Ok(apart(&pulled))
    };
    let (along, found) = product(end)?;
    alike("the adjoint of a tangent gives the gradient too", gradient, &found, ROUNDING)?;
    let others = direction(&ends.before, dice);
    let other_end = tangent.must_run(Direction::FORWARD, interleave(&ends.before, &others))?;
    let (along_others, _) = product(&other_end)?;
    same_product("⟨v, H w⟩ = ⟨w, H v⟩", [towards, &along_others], [&others, &along])?;

    let second = tangent.module.tangent();
    let second = second.map_err(|e| Failure::new("a tangent has a tangent", e.to_string()))?;
    let second = Subject::new(tangent.program, &second);
    let nothing: Vec<Data> = towards.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
    let start = interleave(&interleave(&ends.before, towards), &interleave(towards, &nothing));
    let (_, pushed) = apart(&second.must_run(Direction::FORWARD, start)?);
    let (_, curved) = apart(&pushed);
    let property = "the tangent of the tangent is ⟨ȳ, f''(ẋ, ẋ)⟩ = ⟨ẋ, H ẋ⟩";
    same_product(property, [&ends.seeds, &curved], [towards, &along])?;
    Ok(along)
}

/// The tangent of the adjoint gives the same product of the Hessian as the adjoint of the tangent.
fn of_the_adjoint(s: &Subject, ends: &Ends, (pushed, product): (&[Data], &[Data])) -> Result<(), Failure> {
    let module = s.module.adjoint().tangent();
    let module = module.map_err(|e| Failure::new("an adjoint has a tangent", e.to_string()))?;
    let still: Vec<Data> = ends.seeds.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
    let start = interleave(&interleave(&ends.after, &ends.seeds), &interleave(pushed, &still));
    let (_, tangents) = apart(&Subject::new(s.program, &module).must_run(Direction::FORWARD, start)?);
    let (_, found) = apart(&tangents);
    alike("the tangent of the adjoint is the adjoint of the tangent", product, &found, ROUNDING)
}

/// The adjoint as a function of numbers does what the adjoint does, its tangent and its adjoint what they do: the adjoint
/// of the adjoint, at a direction `w`, gives `J w` for the cotangents, and for the values what the adjoint takes to `H w`.
fn as_a_function(
    s: &Subject,
    ends: &Ends,
    gradient: &[Data],
    (towards, pushed, product): (&[Data], &[Data], &[Data]),
) -> Result<(), Failure> {
    let refused = |e: &dyn std::fmt::Display| {
        Failure::new("its adjoint is a function", format!("{e}\n{}", s.program.text()))
    };
    let module = s.module.pullback().map_err(|e| refused(&e))?;
    let adjoint = Subject::new(s.program, &module);
    let mut seeds = ends.seeds.iter().flat_map(reals);
    let seeds: Vec<Data> =
        ends.after.iter().map(|d| replace(d, &mut |_| seeds.next().unwrap_or(f64::NAN))).collect();
    let start = interleave(&ends.after, &seeds);
    let end = adjoint.must_run(Direction::FORWARD, start.clone())?;
    let (values, pulled) = apart(&end);
    alike("the adjoint as a function restores the state", &ends.before, &values, ROUNDING)?;
    alike("the adjoint as a function gives the cotangents", gradient, &pulled, 1e-12)?;
    let back = adjoint.must_run(Direction::INVERSE, end.clone())?;
    alike("the inverse of the adjoint as a function takes back", &start, &back, ROUNDING)?;

    let tangent = module.tangent().map_err(|e| refused(&e))?;
    let still: Vec<Data> = seeds.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
    let moving = interleave(&start, &interleave(pushed, &still));
    let (_, tangents) = apart(&Subject::new(s.program, &tangent).must_run(Direction::FORWARD, moving)?);
    let (_, found) = apart(&tangents);
    alike("the tangent of the adjoint as a function", product, &found, ROUNDING)?;

    let tangents = shadows(&start, &interleave(pushed, &still));
    let (_, tangents) = apart(&adjoint.must_run(Direction::TANGENTS, interleave(&start, &tangents))?);
    let (_, found) = apart(&tangents);
    let own = shadows(product, product);
    alike("the adjoint as a function, with tangents side by side", &own, &found, ROUNDING)?;

    let none = values.iter().map(Data::zero_shadow);
    let along = interleave(&none.collect::<Vec<_>>(), &shadows(&pulled, towards));
    let (_, both) = apart(&adjoint.must_run(ADJOINT, interleave(&end, &along))?);
    let (of_values, of_cotangents) = apart(&both);
    alike("the adjoint of the adjoint pushes forward", pushed, &of_cotangents, ROUNDING)?;
    let (_, found) = apart(&s.must_run(ADJOINT, interleave(&ends.after, &of_values))?);
    alike("the adjoint of the adjoint gives the product of the Hessian", product, &found, ROUNDING)
}

/// A random tangent of values. What carries no derivative stays as it is, and should mean nothing.
fn direction(values: &[Data], dice: &mut Dice) -> Vec<Data> {
    values.iter().map(|d| replace(d, &mut |_| dice.real(-1.0, 1.0))).collect()
}

fn same_product(property: &'static str, a: [&[Data]; 2], b: [&[Data]; 2]) -> Result<(), Failure> {
    let (left, right) = (dot(a[0], a[1]), dot(b[0], b[1]));
    let size = |[x, y]: [&[Data]; 2]| (dot(x, x) * dot(y, y)).sqrt();
    let scale = size(a).max(size(b)).max(1.0);
    match (left - right).abs() <= PRODUCTS * scale {
        true => Ok(()),
        false => Err(Failure::new(property, format!("{left} and {right}"))),
    }
}
