//! The compiler of rev: what a program is, when it is right, what its inverse and its adjoint are, and what is left of
//! them where they are only run. It knows no numbers, no devices and no Rust: what a program computes is the interpreter's
//! and the backends' to say.

pub mod check;
pub mod diag;
pub mod facts;
pub mod ir;
pub mod limits;
#[macro_use]
pub mod ops;
pub mod pass;
pub mod plan;
pub mod text;
pub mod validate;
