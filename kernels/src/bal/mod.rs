//! Bundle adjustment with the camera of "Bundle Adjustment in the Large" (Agarwal et al. 2010).
//!
//! A camera is 9 numbers: rotation `r` (angle-axis), translation `t`, focal length `f`, distortion
//! `k1`, `k2`. The residual of an observation of a point `X`:
//!
//! ```text
//! P = R(r) X + t;  p = -P.xy / P.z;  e = f (1 + k1 |p|² + k2 |p|⁴) p - feature
//! ```

mod evaluate;
mod instance;
pub mod plain;
mod program;

pub use evaluate::{each_jacobian, gradient, jacobian, values, Blocks};
pub use instance::Instance;
pub use program::{errors, objective, residual, residuals_apart};

/// Numbers of a camera.
pub const CAMERA: usize = 9;

/// Columns of an observation's Jacobian block: camera, point.
pub const COLUMNS: usize = CAMERA + 3;
