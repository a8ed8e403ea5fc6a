//! The passes: small functions from programs to programs.

mod inverse;

pub use inverse::{inverse_block, inverse_function};
