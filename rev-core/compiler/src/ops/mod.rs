//! The three tables: pure functions ([`Func`]), instructions on places ([`Instr`]), and functions of
//! whole arrays ([`ArrayFunc`]), which are formulas ([`Contraction`]).
//!
//! Each function and each instruction is described once, in one row. Everything else (text form,
//! interpreter, emitted Rust, derivatives, tests) is generated from the rows or loops over them.

mod array;
mod contraction;
#[macro_use]
mod elementary;
mod func;
mod instr;
mod space;

pub use array::*;
pub use contraction::*;
pub use func::*;
pub use instr::*;
pub use space::*;
