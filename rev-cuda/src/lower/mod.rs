//! From the IR to plans and kernels.

mod generics;
mod types;

pub use types::ArgumentType;
