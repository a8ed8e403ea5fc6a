//! The passes: small functions from programs to programs.

mod adjoint;
mod inverse;
mod partials;

pub use adjoint::{adjoint_function, Adjoint};
pub use inverse::{inverse_block, inverse_function};
pub use partials::{partials, NotDifferentiable};
