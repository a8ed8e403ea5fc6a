//! Quantum circuits.

use rev::prelude::*;
use rev_kernels::ising_chain::{self, plain};

use super::{matrix, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    let (bonds, fields) = (matrix((4, 9), 1.7), matrix((4, 10), 0.6));
    table.add(
        "energy of a chain of 10 qubits, 4 layers of gates",
        || plain::expect(&plain::state(bonds.view(), fields.view()), 1.1, 0.6),
        |d| {
            let mut energy = 0.0;
            ising_chain::energy::run(d, &mut energy, bonds.view(), fields.view(), 1.1, 0.6).map(|()| energy)
        },
        Some(|d: &Cpu| ising_chain::energy::gradient(d, bonds.view(), fields.view(), 1.1, 0.6)),
    )
}
