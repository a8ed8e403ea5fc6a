//! Runs of a program in each direction, and back.

use std::cell::RefCell;
use std::collections::HashMap;

use num_complex::Complex;
use rev_core::error::{Cause, Error};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::scalar::fraction::{U100, U16, U20, U64, U8};
use rev_core::scalar::{Fixed43, FixedI128, FixedI32, FixedI64, Scalar};
use rev_core::tolerance::Options;
use rev_core::value::Data;

use super::super::{Failure, Tally};
use crate::reals::{cotangent, difference, magnitude, reals};
use crate::{Dice, Number, Program};

pub(super) const ADJOINT: Direction = Direction::ADJOINT;

/// How far numbers may be apart after a run and back, relative to the larger of them or 1.
pub(super) const ROUNDING: f64 = 1e-7;

/// A program with its machines.
pub(crate) struct Subject<'p> {
    pub program: &'p Program,
    pub module: &'p Module,
    machines: RefCell<HashMap<Direction, Machine<'p>>>,
}

/// Where the runs of a program on numbers begin and end.
pub(super) struct Ends {
    pub before: Vec<Data>,
    pub after: Vec<Data>,
    /// Cotangents of what is after.
    pub seeds: Vec<Data>,
}

impl<'p> Subject<'p> {
    pub fn new(program: &'p Program, module: &'p Module) -> Subject<'p> {
        Subject { program, module, machines: RefCell::default() }
    }

    pub fn run(&self, direction: Direction, args: Vec<Data>) -> Result<Vec<Data>, Error> {
        let mut machines = self.machines.borrow_mut();
        match machines.get_mut(&direction) {
            Some(machine) => machine.restart(args)?,
            None => {
                let machine = Machine::new(self.module, &self.module.entry, direction, args)?;
                machines.insert(direction, machine);
            }
        }
        let Some(machine) = machines.get_mut(&direction) else { return Ok(Vec::new()) };
        machine.run()?;
        Ok(machine.arguments())
    }

    /// A run that has to reach its end.
    pub fn must_run(&self, direction: Direction, args: Vec<Data>) -> Result<Vec<Data>, Failure> {
        let property = match direction.adjoint {
            0 => "it runs to the end",
            1 => "its adjoint runs to the end",
            _ => "the adjoint of its adjoint runs to the end",
        };
        self.run(direction, args).map_err(|e| match is_rounding(&e) {
            true => Failure::new(ROUNDED, e.to_string()),
            false => Failure::new(property, format!("{direction:?}: {e}")).of_kind(e.cause()),
        })
    }

    fn args<T: Number>(&self) -> Vec<Data>
    where
        Complex<T>: Scalar,
    {
        self.program.arguments::<T>(1)
    }
}

/// An ancilla that held next to nothing is compared with what it is released as more closely than what it was
/// computed from came back: not a property that a program could lack, but counted.
pub(super) const ROUNDED: &str = "rounding";

fn is_rounding(e: &Error) -> bool {
    let Cause::Release { expected, found, tolerance, .. } = e.cause() else { return false };
    let (expected, found) = (finite_parts(expected), finite_parts(found));
    let close = |(e, f): (&f64, &f64)| (e - f).abs() < 1e-9;
    let is_close = expected.len() == found.len() && expected.iter().zip(&found).all(close);
    *tolerance > 0.0 && *tolerance < 1e-9 && !expected.is_empty() && is_close
}

/// The numbers in the text of a value: one, or the two parts of a complex one. What isn't finite isn't among them.
fn finite_parts(text: &str) -> Vec<f64> {
    let between = |c: char| !(c.is_ascii_digit() || "+-.e".contains(c));
    text.split(between).filter_map(|part| part.parse().ok()).collect()
}

/// A program that the passes made, run forward without checks.
pub(super) fn run_unchecked(module: &Module, args: &[Data]) -> Result<Vec<Data>, Error> {
    run_forgetting(module, args, false)
}

/// The same, with checks where asked.
pub(super) fn run_forgetting(module: &Module, args: &[Data], checks: bool) -> Result<Vec<Data>, Error> {
    let options = Options { checks, ..Options::default() };
    let machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec())?;
    let mut machine = machine.with_options(options).forgetting();
    machine.run()?;
    Ok(machine.arguments())
}

/// Each value followed by its shadow.
pub(super) fn interleave(values: &[Data], shadows: &[Data]) -> Vec<Data> {
    values.iter().zip(shadows).flat_map(|(v, s)| [v.clone(), s.clone()]).collect()
}

/// Values and shadows.
pub(super) fn apart(both: &[Data]) -> (Vec<Data>, Vec<Data>) {
    let part = |k: usize| both.iter().skip(k).step_by(2).cloned().collect();
    (part(0), part(1))
}

/// Fails where two lists of values are too far apart.
pub(super) fn alike(
    property: &'static str,
    expected: &[Data],
    found: &[Data],
    most: f64,
) -> Result<(), Failure> {
    let apart = difference(expected, found);
    match apart <= most {
        true => Ok(()),
        false => {
            let (expected, found) = (numbers(expected), numbers(found));
            Err(Failure::new(property, format!("{apart:e} apart\nexpected {expected}\nfound    {found}")))
        }
    }
}

/// Forward and back, every bit.
fn exactly_back(s: &Subject, before: Vec<Data>) -> Result<(), Failure> {
    let after = s.must_run(Direction::FORWARD, before.clone())?;
    let back = s.must_run(Direction::INVERSE, after)?;
    if before == back {
        return Ok(());
    }
    let message = format!("expected {}\nfound    {}", numbers(&before), numbers(&back));
    Err(Failure::new("exact numbers come back bit for bit", message))
}

/// The numbers in values, to be read: the first ones of each.
pub(super) fn numbers(values: &[Data]) -> String {
    let of = |d: &Data| {
        let all = reals(d);
        let (shown, more) = (&all[..all.len().min(6)], if all.len() > 6 { " …" } else { "" });
        match all.is_empty() {
            true => format!("{d:?}").chars().take(60).collect(),
            false => format!("{shown:?}{more}"),
        }
    };
    values.iter().map(of).collect::<Vec<_>>().join(" ")
}

/// Forward, its inverse, and turning around at the end; bit for bit on exact numbers.
pub(super) fn there_and_back(s: &Subject, tally: &mut Tally) -> Result<Ends, Failure> {
    let before = s.args::<f64>();
    let after = s.must_run(Direction::FORWARD, before.clone())?;
    let most = magnitude(&after);
    if most > 1e6 {
        return Err(Failure::new("numbers stay small", format!("{most:e}")));
    }
    let back = s.must_run(Direction::INVERSE, after.clone())?;
    alike("the inverse restores the state", &before, &back, ROUNDING)?;
    if let Some(machine) = s.machines.borrow_mut().get_mut(&Direction::FORWARD) {
        machine.run_back().map_err(|e| match is_rounding(&e) {
            true => Failure::new(ROUNDED, e.to_string()),
            false => Failure::new("it runs back to the start", e.to_string()),
        })?;
        alike("running back restores the state", &before, &machine.arguments(), ROUNDING)?;
    }
    if s.program.is_exact() {
        *tally.entry("exact").or_default() += 1;
        exactly_back(s, s.args::<Fixed43>())?;
        // and another format
        let (name, before) = match s.program.seed % 5 {
            0 => ("exact, 32 bits, 16 of them behind the point", s.args::<FixedI32<U16>>()),
            1 => ("exact, 32 and 8", s.args::<FixedI32<U8>>()),
            2 => ("exact, 64 and 20", s.args::<FixedI64<U20>>()),
            3 => ("exact, 128 and 64", s.args::<FixedI128<U64>>()),
            _ => ("exact, 128 and 100", s.args::<FixedI128<U100>>()),
        };
        exactly_back(s, before)?;
        *tally.entry(name).or_default() += 1;
    }
    let mut dice = Dice::new(s.program.seed);
    let seeds = after.iter().map(|d| cotangent(d, &mut dice)).collect();
    Ok(Ends { before, after, seeds })
}
