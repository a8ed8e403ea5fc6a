//! The core of rev: the reversible IR, its checks and passes, the scalars, and the reference
//! interpreter. Independent of both backends.

pub mod check;
pub mod device;
pub mod diag;
pub mod error;
pub mod facts;
pub mod interp;
pub mod ir;
pub mod lanes;
pub mod limits;
pub mod math;
#[macro_use]
pub mod ops;
pub mod pass;
pub mod scalar;
pub mod structure;
pub mod text;
pub mod tolerance;
pub mod tree;
pub mod validate;
pub mod value;
pub mod verify;

pub use error::Error;
pub use tolerance::{Options, Tolerance, Tolerances};
pub use value::Stack;
