//! What the examples of this folder and the benchmarks share.

pub mod peer;
pub mod race;
#[path = "../support/mod.rs"]
pub mod support;
pub mod wave;
