//! How a program ends: 0 when all is well, 1 when a check failed, 2 with one line on bad input.

use std::io;
use std::process::ExitCode;

use rev::checkpoint::CheckpointError;
use rev::sparse::PatternError;
use rev_kernels::io::{ReadError, WriteError};
use thiserror::Error;

/// What stops a program.
#[derive(Debug, Error)]
pub enum Failure {
    /// A malformed file.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file that can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A run that stopped with an error.
    #[error("{0}")]
    Run(#[from] rev::Error),
    /// A loop that stopped with an error.
    #[error(transparent)]
    Loop(#[from] CheckpointError),
    /// A matrix that has no plan of the kind that is asked for.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Sizes that can't be worked with.
    #[error("{0}")]
    Sizes(String),
    /// The terminal, or the program that reads this one's output.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// How a program that wasn't stopped ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Good,
    /// A check the user asked for failed.
    CheckFailed,
}

/// The exit code, after the one line that a failure is worth.
pub fn finish(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        // whoever reads the output has seen enough
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(if matches!(failure, Failure::Run(_) | Failure::Loop(_)) { 1 } else { 2 })
        }
    }
}
