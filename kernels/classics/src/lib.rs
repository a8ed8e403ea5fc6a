//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): what reversible languages are known by: exact integer programs, ciphers, automata, lattices and circuits.

pub mod suite;
