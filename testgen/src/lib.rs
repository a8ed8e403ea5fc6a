//! Random well-formed programs for rev's tests.
//!
//! [`Program::generate`] makes the program of a seed: a few functions that call each other, built
//! from every statement form and the whole table of functions, with [`Program::arguments`] to run it
//! on and [`Program::rust`] to compile it. Programs satisfy the static rules; they are bijections on
//! all states up to rounding; and their numbers stay where finite differences mean something.

pub mod census;
mod data;
mod dice;
mod expr;
mod fault;
pub mod forms;
mod generator;
mod mangle;
mod prelude;
mod product;
mod program;
pub mod reals;
mod rust;
mod scope;
mod shrink;
mod signature;
mod stmt;
pub mod suite;
mod through;

pub use data::Number;
pub use dice::Dice;
pub use mangle::mangle;
pub use program::{Program, Size};
pub use rust::prelude as rust_prelude;
pub use scope::{Element, What};
pub use shrink::shrink;
pub use signature::{Param, Signature};
pub use through::{through_all, Reached};

/// The inputs kept for one of the fuzzers in `testgen/fuzz`, each with its file's name, in the order of the names.
pub fn corpus(fuzzer: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(fuzzer);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path()).collect();
    files.sort();
    let read = |file: std::path::PathBuf| Some((file.display().to_string(), std::fs::read(&file).ok()?));
    files.into_iter().filter_map(read).collect()
}
