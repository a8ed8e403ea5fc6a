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

mod area;
pub mod cpu;
mod doubled;
mod error;
pub mod exponential;
pub mod gamma;
pub mod inverse;
pub mod logarithm;
pub mod machine;
pub mod native;
pub mod numbers;
pub mod power;
mod remainder;
mod steps;
pub mod trigonometric;

pub use area::*;
pub use error::*;
pub use exponential::*;
pub use gamma::*;
pub use inverse::*;
pub use logarithm::*;
pub use machine::{Convert, Machine};
pub use native::Native;
pub use power::*;
pub use remainder::*;
pub use trigonometric::*;
