//! Bundle adjustment, exactly as ADBench defines it.
//!
//! A camera is 11 numbers: rotation `r` (angle-axis), centre `c`, focal length `f`, principal point
//! `x0`, radial distortion `κ`. The residual of an observation with weight `w` of a point `X`:
//!
//! ```text
//! X' = R(r) (X - c);  u = X'.xy / X'.z;  u' = u (1 + κ1 |u|² + κ2 |u|⁴)
//! e = w (f u' + x0 - feature);           the weight's own error is 1 - w²
//! ```

mod evaluate;
mod instance;
pub mod plain;
mod program;

pub use evaluate::{each_jacobian, gradient, jacobian, values, weight_jacobian, Blocks, Values};
pub use instance::Instance;
pub use program::{errors, objective, residual, residuals_apart, weight_errors};

/// Numbers of a camera.
pub const CAMERA: usize = 11;

/// Columns of an observation's Jacobian block: camera, point, weight.
pub const COLUMNS: usize = CAMERA + 3 + 1;
