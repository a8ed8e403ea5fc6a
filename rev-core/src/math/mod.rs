//! One mathematics for every device: each function that isn't a single IEEE operation is written
//! once, without data-dependent control flow, over the exact operations of a [`Machine`]. The
//! interpreter and emitted Rust run it on scalars, SIMD code on lanes, and the PTX backend writes its
//! instructions down; so all of them give the same bits.
//!
//! The functions work at both widths: a 32-bit machine computes in `f32` throughout. Algorithms,
//! sources, measured errors and times are in `docs/mathematics.md`.
//!
//! Exact operations (`+ - * / sqrt fma abs`, comparisons, rounding to an integer, `copysign`) aren't
//! here, being the machines' own.

pub mod cpu;
mod doubled;
pub mod exponential;
pub mod gamma;
pub mod inverse;
pub mod logarithm;
pub mod machine;
pub mod native;
pub mod numbers;
pub mod power;
mod steps;
pub mod trigonometric;

pub use exponential::{cosh, exp, expm1, sinh, tanh};
pub use gamma::{ln_gamma, ln_gamma_single, polygamma, polygamma_single};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{ln, log10, log1p, log2};
pub use machine::{Convert, Machine};
pub use native::Native;
pub use power::{hypot, known_power, large_known_power_single, large_power_single, powf, powi, small_power};
pub use trigonometric::{cos, sin, sin_cos, tan};
