//! The core of rev: the scalars and their mathematics, values, errors, and the reference interpreter, of the programs that
//! the compiler ([`rev_compiler`], whose modules stand here too) makes. Independent of both backends.

#[cfg(feature = "approx")]
mod closeness;
pub mod coordinates;
pub mod device;
pub mod error;
pub mod interp;
pub mod lanes;
pub mod math;
pub mod scalar;
pub mod sparse;
pub mod structure;
pub mod tolerance;
pub mod tree;
pub mod value;
pub mod verify;

pub use error::Error;
#[doc(hidden)]
pub use rev_compiler::elementary_table;
pub use rev_compiler::{check, diag, facts, ir, limits, ops, pass, plan, text, validate};
pub use tolerance::{Options, Tolerance, Tolerances};
pub use value::Stack;
