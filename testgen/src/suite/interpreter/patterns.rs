//! Patterns of derivatives: nothing that isn't zero is left out.

use rev_core::coordinates;
use rev_core::error::Cause;
use rev_core::ir::{Direction, Mode, VarKind};
use rev_core::sparse::{Branches, Pattern, SparseMatrix, Sparsity};
use rev_core::value::Data;

use super::super::{Failure, Tally};
use super::runs::{apart, interleave, Ends, Subject, ADJOINT};
use crate::reals::{moved, reals, replace};
use crate::Dice;

/// How many columns of a matrix are looked at.
const COLUMNS: usize = 8;

/// How far second derivatives may be apart, relative to the largest in the column or 1.
const PRODUCTS: f64 = 1e-9;

/// The Jacobian and the Hessian of a weighted sum of the results, against products with unit directions: where the
/// program was run, and for the pattern of all branches elsewhere too.
pub(super) fn of_the_program(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let tangent = s.module.tangent().map_err(|e| Failure::new("it has a tangent", e.to_string()))?;
    let dense = Dense { program: s, tangent: Subject::new(s.program, &tangent) };
    let taken = known(s.module.jacobian_pattern(&ends.before, Branches::Taken))?;
    let missing = || Failure::new("it has a pattern", s.program.text());
    let taken = taken.ok_or_else(missing)?;
    let all = known(s.module.jacobian_pattern(&ends.before, Branches::All))?;
    dense.jacobian_is_in("the pattern of the Jacobian", &ends.before, &taken)?;
    let mut dice = Dice::new(s.program.seed + 4);
    let along: Vec<f64> = ends.before.iter().flat_map(reals).map(|_| dice.real(-1.0, 1.0)).collect();
    let elsewhere = moved(&ends.before, &along, 1.0);
    let runs = s.run(Direction::FORWARD, elsewhere.clone()).is_ok();
    *tally.entry("patterns").or_default() += 1;
    if let Some(all) = &all {
        *tally.entry("patterns of all branches").or_default() += 1;
        dense.jacobian_is_in("the pattern of all branches", &ends.before, all)?;
        if runs {
            dense.jacobian_is_in("the pattern of all branches, elsewhere", &elsewhere, all)?;
        }
    }
    let is_number = |d: &&Data| d.as_value().is_some_and(|v| !v.is_inactive() && v.parts().is_none());
    let Some(loss) = (0..ends.before.len()).find(|k| is_number(&&ends.before[*k]) && is_written(s, *k))
    else {
        return Ok(());
    };
    let from_zero = |args: &[Data]| {
        let mut args = args.to_vec();
        args[loss] = args[loss].zero_like();
        args
    };
    let start = from_zero(&ends.before);
    if s.run(Direction::FORWARD, start.clone()).is_err() {
        return Ok(());
    }
    *tally.entry("patterns of Hessians").or_default() += 1;
    let taken = known(s.module.hessian_pattern(loss, &start, Branches::Taken))?.ok_or_else(missing)?;
    dense.hessian_is_in("the pattern of the Hessian", (&start, &ends.seeds), (loss, &taken))?;
    let pushed = s.module.hessian_pushed(loss, &start);
    let pushed = pushed.map_err(|e| Failure::new("a Hessian is found by edge pushing", e.to_string()))?;
    let mut seeds: Vec<Data> = ends.seeds.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
    coordinates::set(&mut seeds[loss], 0, 1.0);
    dense.hessian_is(&pushed, (&start, &seeds), loss)?;
    *tally.entry("curved").or_default() += u64::from(pushed.values().iter().any(|v| *v != 0.0));
    let Some(all) = known(s.module.hessian_pattern(loss, &start, Branches::All))? else { return Ok(()) };
    let elsewhere = from_zero(&elsewhere);
    for args in [&start, &elsewhere] {
        if s.run(Direction::FORWARD, args.clone()).is_ok() {
            let property = "the pattern of the Hessian of all branches";
            dense.hessian_is_in(property, (args, &ends.seeds), (loss, &all))?;
        }
    }
    Ok(())
}

/// A pattern, where there is one: a branch that isn't taken may be one that can't be run.
fn known(found: Result<Pattern, rev_core::Error>) -> Result<Option<Pattern>, Failure> {
    match found {
        Ok(pattern) => Ok(Some(pattern)),
        Err(e) if matches!(e.cause(), Cause::Sparsity(_)) => Ok(None),
        Err(e) => Err(Failure::new("a pattern is found", e.to_string())),
    }
}

fn is_written(s: &Subject, k: usize) -> bool {
    let entry = s.program.entry();
    matches!(entry.var(entry.params[k]).kind, VarKind::Param(Mode::Write | Mode::Accumulate))
}

/// Derivatives by products with unit directions.
struct Dense<'a, 'p, 't> {
    program: &'a Subject<'p>,
    tangent: Subject<'t>,
}

impl Dense<'_, '_, '_> {
    /// Some unit directions, each with its number.
    fn directions(&self, args: &[Data]) -> Vec<(usize, Vec<Data>)> {
        let zeros: Vec<Data> = args.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
        let counts: Vec<usize> = args.iter().map(|d| coordinates::of(d).len()).collect();
        let count: usize = counts.iter().sum();
        let step = count.div_ceil(COLUMNS).max(1);
        let first = self.program.program.seed as usize % step;
        let unit = |at: usize| {
            let mut direction = zeros.clone();
            let (mut k, mut own) = (0, at);
            while own >= counts[k] {
                own -= counts[k];
                k += 1;
            }
            coordinates::set(&mut direction[k], own, 1.0);
            (at, direction)
        };
        (first..count).step_by(step).map(unit).collect()
    }

    fn jacobian_is_in(
        &self,
        property: &'static str,
        args: &[Data],
        pattern: &Pattern,
    ) -> Result<(), Failure> {
        for (column, direction) in self.directions(args) {
            let end = self.tangent.must_run(Direction::FORWARD, interleave(args, &direction))?;
            let (_, pushed) = apart(&end);
            let written = pushed.iter().enumerate().filter(|(k, _)| is_written(self.program, *k));
            let found: Vec<f64> = written.flat_map(|(_, d)| coordinates::of(d)).collect();
            self.are_in(property, pattern, column, &found)?;
        }
        Ok(())
    }

    fn hessian_is_in(
        &self,
        property: &'static str,
        at: (&[Data], &[Data]),
        (loss, pattern): (usize, &Pattern),
    ) -> Result<(), Failure> {
        let products = self.products(at, loss)?;
        products.iter().try_for_each(|(column, found)| self.are_in(property, pattern, *column, found))
    }

    /// Some columns of the Hessian of a weighted sum of the results by all arguments but one.
    fn products(
        &self,
        (args, seeds): (&[Data], &[Data]),
        loss: usize,
    ) -> Result<Vec<(usize, Vec<f64>)>, Failure> {
        let zeros: Vec<Data> = seeds.iter().map(|d| replace(d, &mut |_| 0.0)).collect();
        let seeds = interleave(&zeros, seeds);
        let before = args[..loss].iter().map(|d| coordinates::of(d).len()).sum::<usize>();
        let mut products = Vec::new();
        for (at, direction) in self.directions(args) {
            if at == before {
                continue;
            }
            let end = self.tangent.must_run(Direction::FORWARD, interleave(args, &direction))?;
            let (_, pulled) = apart(&self.tangent.must_run(ADJOINT, interleave(&end, &seeds))?);
            let (along, _) = apart(&pulled);
            let others = along.iter().enumerate().filter(|(k, _)| *k != loss);
            let found: Vec<f64> = others.flat_map(|(_, d)| coordinates::of(d)).collect();
            products.push((if at > before { at - 1 } else { at }, found));
        }
        Ok(products)
    }

    /// Edge pushing gives the products of the tangent's adjoint.
    fn hessian_is(
        &self,
        pushed: &SparseMatrix,
        (args, seeds): (&[Data], &[Data]),
        loss: usize,
    ) -> Result<(), Failure> {
        for (column, found) in self.products((args, seeds), loss)? {
            let scale = found.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            let own: Vec<f64> = (0..found.len()).map(|i| pushed.get(i, column).unwrap_or(f64::NAN)).collect();
            if !own.iter().zip(&found).all(|(a, b)| (a - b).abs() <= PRODUCTS * scale) {
                let message =
                    format!("column {column}: {own:?}\nand {found:?}\n{}", self.program.program.text());
                return Err(Failure::new("edge pushing gives the Hessian", message));
            }
        }
        Ok(())
    }

    fn are_in(
        &self,
        property: &'static str,
        pattern: &Pattern,
        column: usize,
        found: &[f64],
    ) -> Result<(), Failure> {
        if pattern.rows() != found.len() {
            let message = format!("{} rows and {} numbers", pattern.rows(), found.len());
            return Err(Failure::new("a pattern has a row for each number", message));
        }
        let scale = found.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        // what is taken back is taken back up to rounding
        let lacking = |(row, v): &(usize, &f64)| v.abs() > 1e-9 * scale && !pattern.contains(*row, column);
        match found.iter().enumerate().find(lacking) {
            None => Ok(()),
            Some((row, v)) => {
                let message = format!("({row}, {column}) is {v}\n{}", self.program.program.text());
                Err(Failure::new(property, message))
            }
        }
    }
}
