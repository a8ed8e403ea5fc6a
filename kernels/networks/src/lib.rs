//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): layers and losses, invertible networks, learning.

pub mod suite;
