//! Random programs: forward, inverse and adjoint as the interpreter computes them.

use num_complex::Complex;
use rev_core::error::Cause;
use rev_core::ir::Direction;
use rev_core::scalar::fraction::{U16, U20};
use rev_core::scalar::{Fixed43, FixedI32, FixedI64, Scalar};
use rev_core::value::Data;
use rev_testgen::reals::{cotangent, difference};
use rev_testgen::{Dice, Number, Program};

use super::{interpret, simulate, ADJOINT};
use crate::lower::LowerOptions;

/// How many programs are tried; `REV_RANDOM_PROGRAMS` raises it.
fn seeds() -> std::ops::Range<u64> {
    let read =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let first = read("REV_RANDOM_SEED", 0);
    first..first + read("REV_RANDOM_PROGRAMS", 150)
}

/// Whether all directions agree; what can't be run on a GPU is told apart from what is wrong.
fn agrees<T: Number>(seed: u64, refused: &mut Vec<String>)
where
    Complex<T>: Scalar,
{
    let program = Program::generate(seed, "program");
    let module = program.checked_module().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let options = LowerOptions { deterministic: true, ..LowerOptions::default() };
    let mut compare = |direction: Direction, args: &[Data]| {
        let expected = interpret(&module, direction, args, true);
        match simulate(&module, direction, args, &options) {
            Ok(found) => {
                let off = difference(&expected, &found);
                let text: String = program.functions.iter().map(|f| f.to_string()).collect();
                assert!(
                    off < 1e-9,
                    "seed {seed}, {direction:?}, off by {off}\n{expected:?}\n{found:?}\n{text}"
                );
            }
            Err(error) => match error.cause() {
                Cause::Device { .. } => refused.push(format!("seed {seed}, {direction:?}: {error}")),
                _ => panic!("seed {seed}, {direction:?}: {error}"),
            },
        }
        expected
    };
    let after = compare(Direction::FORWARD, &program.arguments::<T>(1));
    compare(Direction::INVERSE, &after);
    let mut dice = Dice::new(seed);
    let seeds: Vec<Data> = after.iter().map(|d| cotangent(d, &mut dice)).collect();
    let both: Vec<Data> = after.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s]).collect();
    compare(ADJOINT, &both);
}

#[test]
fn of_floats() {
    let mut refused = Vec::new();
    seeds().for_each(|seed| agrees::<f64>(seed, &mut refused));
    // what is known not to run: stacks that the caller gives, and recursion
    let all = refused.len();
    refused.retain(|r| !r.contains("the recursion of"));
    let recursive = all - refused.len();
    let (stacks, others): (Vec<String>, Vec<String>) =
        refused.into_iter().partition(|r| r.contains("a stack as an argument"));
    let runs = 3 * (seeds().end - seeds().start) as usize;
    assert!(others.len() * 20 <= runs, "{} refused:\n{}", others.len(), others.join("\n"));
    assert!(
        (stacks.len() + recursive) * 2 <= runs,
        "too few programs are left of {runs}: {} have stacks, {recursive} are recursive",
        stacks.len()
    );
}

#[test]
fn of_fixed_point_numbers() {
    let mut refused = Vec::new();
    seeds().step_by(8).for_each(|seed| agrees::<Fixed43>(seed, &mut refused));
    seeds().skip(2).step_by(8).for_each(|seed| agrees::<FixedI32<U16>>(seed, &mut refused));
    seeds().skip(4).step_by(8).for_each(|seed| agrees::<FixedI64<U20>>(seed, &mut refused));
}
