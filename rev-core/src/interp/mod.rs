//! The reference interpreter: runs any program of the IR, with every check, forward and backward,
//! one statement at a time. It is the meaning of the language; everything else is tested against it.
//!
//! A function in a direction (its inverse and adjoint made by the passes) is flattened to
//! reversible operations (`code`); the machine stands between two of them and can go either
//! way. Variables are locations in `memory`, so that arguments are passed by reference as in the
//! emitted code. Expressions are evaluated by `eval`, functions of the table by `func`, updates and
//! instructions by `update`. A parallel loop runs its iterations in order; in the deterministic
//! mode it adds up its sums as [`crate::tree`] says.
//!
//! Types are found at run time: a literal, and a variable that holds nothing else yet, takes the
//! type of the value that it meets. External code isn't run: it doesn't change the state.

mod claims;
mod code;
mod contraction;
mod control;
mod derivatives;
mod device;
mod eval;
mod frame;
mod func;
mod generics;
mod journal;
mod machine;
mod memory;
mod part;
mod probe;
mod statement;
mod types;
mod update;

pub use derivatives::{Branches, Sparsity};
pub use device::Interpreter;
pub use machine::{Machine, Progress, Variable};
pub(crate) use probe::{Next, Probe};

#[cfg(test)]
mod tests;
