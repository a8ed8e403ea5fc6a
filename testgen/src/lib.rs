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

pub use data::Number;
pub use dice::Dice;
pub use mangle::mangle;
pub use program::{Program, Size};
pub use rust::prelude as rust_prelude;
pub use scope::{Element, What};
pub use shrink::shrink;
pub use signature::{Param, Signature};
