//! The program of the kernels, with what is derived of it.

#[path = "../../../../../kernels/src/ba/instance.rs"]
mod instance;
#[path = "../../../../../kernels/src/ba/plain.rs"]
pub mod plain;
#[path = "../../../../../kernels/src/ba/program.rs"]
mod program;

pub use instance::Instance;
pub use program::{objective, residual};

/// Numbers of a camera.
pub const CAMERA: usize = 11;
/// Columns of an observation's Jacobian block.
pub const COLUMNS: usize = CAMERA + 3 + 1;
