//! The billiard-ball automaton (N. Margolus, "Physics-like models of computation", Physica D 10, 1984), which computes whatever a computer does: balls
//! are pairs of particles that fly through the lattice, and collide with each other and with mirrors of particles at rest.
//!
//! The lattice is cut into blocks of 2 x 2, in odd steps by one cell further down and to the right. In each block one
//! particle alone goes to the opposite corner, two on a diagonal go to the other diagonal, and all else stays:
//!
//! ```text
//! x .    . .      x .    . x
//! . .    . x      . x    x .
//! ```
//!
//! A step is its own inverse, so that the way back is that of the other order. The lattice is a torus of even sides; a step needs
//! no memory, and its blocks run in parallel.

use ndarray::Array2;
use rev_cpu::prelude::*;

/// Whether exactly one of the four is set.
#[pure]
fn alone(a: bool, b: bool, c: bool, d: bool) -> bool {
    (a as u8) + (b as u8) + (c as u8) + (d as u8) == 1
}

/// Whether just the corners of a diagonal are set: `a` and `d`, or `b` and `c`.
#[pure]
fn diagonal(a: bool, b: bool, c: bool, d: bool) -> bool {
    a == d && b == c && a != b
}

/// A block: `a b` above `c d`.
#[reversible]
pub fn block(a: &mut bool, b: &mut bool, c: &mut bool, d: &mut bool) {
    #[post(alone(*a, *b, *c, *d))]
    if alone(*a, *b, *c, *d) {
        swap(a, d);
        swap(b, c);
    }
    #[post(diagonal(*a, *b, *c, *d))]
    if diagonal(*a, *b, *c, *d) {
        flip(a);
        flip(b);
        flip(c);
        flip(d);
    }
}

/// Steps on a torus, the first of which is an even one.
///
/// # Errors
///
/// Odd sides, where blocks overlap.
#[reversible]
pub fn advance(cells: &mut Array2<bool>, steps: usize) {
    let (rows, columns) = (cells.nrows(), cells.ncols());
    for t in 0..steps {
        #[disjoint(cells)]
        for i in par(0..(rows + 1) / 2) {
            for j in 0..(columns + 1) / 2 {
                let (y, x) = ((2 * i + t % 2) % rows, (2 * j + t % 2) % columns);
                let (v, u) = ((y + 1) % rows, (x + 1) % columns);
                block(&mut cells[[y, x]], &mut cells[[y, u]], &mut cells[[v, x]], &mut cells[[v, u]]);
            }
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::Array2;

    /// A step of the blocks that begin at (`offset`, `offset`), by a table: bits 0 to 3 are the corners.
    pub fn step(cells: &mut Array2<bool>, offset: usize) {
        const AFTER: [u8; 16] = [0, 8, 4, 3, 2, 5, 9, 7, 1, 6, 10, 11, 12, 13, 14, 15];
        let (rows, columns) = cells.dim();
        for (i, j) in (0..rows / 2).flat_map(|i| (0..columns / 2).map(move |j| (i, j))) {
            let corner = |k: usize| [(2 * i + offset + k / 2) % rows, (2 * j + offset + k % 2) % columns];
            let bits: usize = (0..4).map(|k| usize::from(cells[corner(k)]) << k).sum();
            (0..4).for_each(|k| cells[corner(k)] = AFTER[bits] >> k & 1 == 1);
        }
    }

    /// Steps on a torus of even sides.
    pub fn advance(cells: &mut Array2<bool>, steps: usize) {
        (0..steps).for_each(|t| step(cells, t % 2));
    }
}
