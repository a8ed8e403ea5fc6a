//! What every program has to do on the reference interpreter: the static rules, the text form, forward
//! and back, derivatives of first and second order, and the programs that the passes make of it.

mod derivatives;
mod passes;
mod patterns;
mod runs;
mod stopped;
mod tangents;
mod taylor;

use super::{Failure, Suite, Tally};
use crate::Program;
use runs::Subject;

/// The suite. About twenty milliseconds a program in debug, a few in release.
pub const SUITE: Suite = Suite {
    name: "interpreter",
    command: "cargo test --release -p rev-testgen --test programs",
    programs: 200,
};

/// The program of a seed.
pub fn generate(seed: u64) -> Program {
    Program::generate(seed, "program")
}

/// Everything that is asked of a program.
///
/// # Errors
///
/// The first property that it hasn't.
pub fn check(program: &Program, tally: &mut Tally) -> Result<(), Failure> {
    match every_property(program, tally) {
        Err(failure) if failure.property == runs::ROUNDED => {
            *tally.entry(runs::ROUNDED).or_default() += 1;
            Ok(())
        }
        outcome => outcome,
    }
}

fn every_property(program: &Program, tally: &mut Tally) -> Result<(), Failure> {
    rev_core::validate::switch_on();
    passes::static_rules(program)?;
    passes::text_form(program)?;
    let refused = |e: Box<dyn std::error::Error>| Failure::new("its functions make a module", e.to_string());
    let module = program.checked_module().map_err(refused)?;
    let subject = Subject::new(program, &module);
    let ends = runs::there_and_back(&subject, tally)?;
    // the static rules take long on adjoints: those of a share of the programs
    if program.seed.is_multiple_of(3) {
        passes::of_each_function(program)?;
        passes::of_the_module(program)?;
    }
    passes::erased(&subject, &ends)?;
    passes::fused(&subject, &ends, tally)?;
    derivatives::of_constants(&subject, &ends, tally)?;
    derivatives::transposed(&subject, &ends)?;
    derivatives::against_differences(&subject, &ends, tally)?;
    tangents::of_the_program(&subject, &ends, tally)?;
    taylor::of_the_program(&subject, &ends, tally)?;
    stopped::of_the_program(&subject, &ends, tally)?;
    // as long as all other properties together
    match program.seed % 4 {
        0 => patterns::of_the_program(&subject, &ends, tally),
        _ => Ok(()),
    }
}
