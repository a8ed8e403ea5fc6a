//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): linear algebra, sparse and dense, transforms, sorting, statistics.

pub mod suite;
