//! rev: a reversible programming language embedded in Rust.

extern crate self as rev;
