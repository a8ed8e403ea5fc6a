//! The two tables: pure functions ([`Func`]) and instructions on places ([`Instr`]).
//!
//! Each function and each instruction is described once, in one row. Everything else (text form,
//! interpreter, emitted Rust, derivatives, tests) is generated from the rows or loops over them.

mod func;
mod instr;

pub use func::*;
pub use instr::*;
