//! What the examples of this folder and the benchmarks share.

pub mod race;
#[path = "../support/mod.rs"]
pub mod support;
