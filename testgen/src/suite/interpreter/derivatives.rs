//! Derivatives: against differences, against each other, and with constants.

use rev_core::ir::Direction;
use rev_core::value::Data;

use super::super::slopes::{compare, Verdict};
use super::super::{Failure, Tally};
use super::runs::{alike, apart, interleave, numbers, Ends, Subject, ADJOINT, ROUNDING};
use crate::reals::{cotangent, difference, dot, moved, reals};
use crate::Dice;

/// Along how many directions derivatives are compared with differences.
const DIRECTIONS: usize = 2;

/// First derivatives of the program and its inverse; second ones for some programs, which cost the most.
pub(super) fn against_differences(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let first = "the adjoint agrees with differences";
    along(s, Direction::FORWARD, &ends.before, first, tally)?;
    along(s, Direction::INVERSE, &ends.after, "the inverse's adjoint agrees with differences", tally)?;
    if s.program.seed % 5 < 2 {
        let start = interleave(&ends.after, &ends.seeds);
        along(s, ADJOINT, &start, "the adjoint of the adjoint agrees with differences", tally)?;
    }
    Ok(())
}

/// Compares the adjoint of the program that `direction` names with differences of it.
pub(super) fn along(
    s: &Subject,
    direction: Direction,
    args: &[Data],
    property: &'static str,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let up = Direction { adjoint: direction.adjoint + 1, ..direction };
    let mut dice = Dice::new(s.program.seed + 1);
    let after = s.must_run(direction, args.to_vec())?;
    let seeds: Vec<Data> = after.iter().map(|d| cotangent(d, &mut dice)).collect();
    let (back, gradient) = apart(&s.must_run(up, interleave(&after, &seeds))?);
    alike("an adjoint restores the state", args, &back, ROUNDING)?;
    let count = args.iter().flat_map(reals).count();
    let zeros: Vec<Data> = args.iter().map(Data::zero_shadow).collect();
    for _ in 0..DIRECTIONS {
        let towards: Vec<f64> = (0..count).map(|_| dice.real(-1.0, 1.0)).collect();
        let derivative = dot(&gradient, &moved(&zeros, &towards, 1.0));
        let value = |h: f64| Some(dot(&seeds, &s.run(direction, moved(args, &towards, h)).ok()?));
        *tally.entry("derivatives").or_default() += 1;
        match compare(derivative, &value) {
            Verdict::Agrees => {}
            Verdict::Rough => *tally.entry("rough").or_default() += 1,
            Verdict::Differs(quotients) => {
                let message =
                    format!("{up:?}: {derivative}, differences {quotients:?}\nat {}", numbers(args));
                return Err(Failure::new(property, message));
            }
        }
    }
    Ok(())
}

/// `⟨Jᵀȳ, v⟩ = ⟨ȳ, J v⟩` up to rounding: an adjoint is linear in the cotangents, and its own adjoint with
/// respect to them is the transposed map. And the adjoint of the inverse undoes the adjoint.
pub(super) fn transposed(s: &Subject, ends: &Ends) -> Result<(), Failure> {
    let start = interleave(&ends.after, &ends.seeds);
    let end = s.must_run(ADJOINT, start.clone())?;
    let again = s.must_run(Direction { adjoint: 1, ..Direction::INVERSE }, end.clone())?;
    alike("the adjoint of the inverse gives the cotangents back", &start, &again, ROUNDING)?;
    if !s.program.seed.is_multiple_of(2) {
        return Ok(());
    }
    let (values, pulled) = apart(&end);
    let mut dice = Dice::new(s.program.seed + 2);
    let towards: Vec<Data> = pulled.iter().map(|d| cotangent(d, &mut dice)).collect();
    // for each value a zero, for each cotangent a direction
    let shadows: Vec<Data> =
        values.iter().zip(&towards).flat_map(|(v, t)| [v.zero_shadow(), t.clone()]).collect();
    let (_, pushed) =
        apart(&s.must_run(Direction { adjoint: 2, ..Direction::FORWARD }, interleave(&end, &shadows))?);
    let (_, pushed) = apart(&pushed);
    let (left, right) = (dot(&pulled, &towards), dot(&ends.seeds, &pushed));
    let size = |a: &[Data], b: &[Data]| (dot(a, a) * dot(b, b)).sqrt();
    let scale = size(&pulled, &towards).max(size(&ends.seeds, &pushed)).max(1.0);
    match (left - right).abs() <= 1e-9 * scale {
        true => Ok(()),
        false => Err(Failure::new("⟨Jᵀȳ, v⟩ = ⟨ȳ, J v⟩", format!("{left} and {right}"))),
    }
}

/// Declaring parameters constant leaves out their cotangents and nothing else.
pub(super) fn of_constants(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let program = s.program.clone().with_constants();
    if program.functions.iter().all(|f| f.constants.is_empty()) {
        return Ok(());
    }
    *tally.entry("constants").or_default() += 1;
    let accepted = |e: Box<dyn std::error::Error>| Failure::new("constants are accepted", e.to_string());
    let module = program.checked_module().map_err(accepted)?;
    let fewer = Subject::new(&program, &module);
    let property = "constants change no other derivative";
    let differs = |message: String| Failure::new(property, format!("{message}\n{}", program.text()));
    if fewer.must_run(Direction::FORWARD, ends.before.clone())? != ends.after {
        return Err(differs("other values".into()));
    }
    let start = interleave(&ends.after, &ends.seeds);
    let (values, mut expected) = apart(&s.must_run(ADJOINT, start.clone())?);
    let (found_values, found) = apart(&fewer.must_run(ADJOINT, start)?);
    let entry = program.entry();
    for (k, _) in entry.params.iter().enumerate().filter(|(_, v)| entry.constants.contains(v)) {
        expected[k] = ends.seeds[k].clone();
        if found[k] != expected[k] {
            return Err(differs(format!("a constant's shadow was {:?} and is {:?}", expected[k], found[k])));
        }
    }
    if values != found_values {
        return Err(differs("other values from the adjoint".into()));
    }
    match difference(&expected, &found) < 1e-12 {
        true => Ok(()),
        false => Err(differs(format!("expected {}\nfound    {}", numbers(&expected), numbers(&found)))),
    }
}
