//! Dynamic values: what the interpreter computes with, and what crosses into devices that run the
//! IR instead of emitted code.

mod scalar;

pub use scalar::Value;
