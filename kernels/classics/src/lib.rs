//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): what reversible languages are
//! known by: exact integer programs, ciphers, automata, lattices and circuits.

pub mod billiard;
pub mod factors;
pub mod feistel;
pub mod kepler;
pub mod lattice_gas;
pub mod permutation;
pub mod root;
pub mod run_length;
pub mod spin_glass;
pub mod suite;
pub mod xtea;
