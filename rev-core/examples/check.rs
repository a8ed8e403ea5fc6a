//! Prints what the static checks say about files of programs in the text form:
//! `cargo run -p rev-ad-core --example check -- rev-core/tests/check/wrong/R0101.rev`.
//!
//! The expectations under `tests/check/wrong` are written from its output, by hand and after reading.

#[path = "../tests/check/cases.rs"]
mod cases;

use std::process::ExitCode;

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let name = path.rsplit('/').next().unwrap_or(&path);
                print!("{}", cases::verdicts(name, &text));
            }
            Err(e) => {
                eprintln!("error: {path}: {e}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
