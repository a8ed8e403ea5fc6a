//! Lattice gases: particles that move along the links of a lattice and collide at its sites, exactly reversible and with their numbers and momenta
//! kept exactly.
//!
//! | rule | lattice | directions | source |
//! | --- | --- | --- | --- |
//! | [`Rule::hpp`] | squares | 4 | J. Hardy, O. de Pazzis and Y. Pomeau, Phys. Rev. A 13 (1976), 1949 |
//! | [`Rule::fhp`] | triangles | 6 | U. Frisch, B. Hasslacher and Y. Pomeau, Phys. Rev. Lett. 56 (1986), 1505 |
//!
//! A site has one bit for each direction: whether a particle goes there. A collision maps the bits of a site to others, a permutation of
//! the 16 or 64 possible ones; then each particle goes to the next site. In HPP two particles that meet head on leave at right angles. In
//! FHP two leave turned by 60 degrees, to the left in even steps and to the right in odd ones, and three from all sides turn back.
//!
//! The lattice is a torus. A step needs a second lattice, which holds zeros before and after it; its sites run in parallel.

use ndarray::{Array2, ArrayView1, ArrayView2};
use rev_cpu::prelude::*;

/// A collision at each site: `after` says what becomes of its bits, `before` is the inverse of that.
///
/// # Errors
///
/// Tables that aren't each other's inverse.
#[reversible]
pub fn collide(sites: &mut Array2<u8>, after: ArrayView1<u8>, before: ArrayView1<u8>) {
    for y in par(0..sites.nrows()) {
        for x in 0..sites.ncols() {
            let mut bits = 0u8;
            bits += after[sites[[y, x]] as usize];
            swap(bits, sites[[y, x]]);
            release(bits, before[sites[[y, x]] as usize]);
        }
    }
}

/// Each particle goes to the next site in its direction. `moves` has, for each bit, by how many rows and columns the next site is further, which
/// aren't negative: a row up is all rows but one down.
#[reversible]
pub fn stream(sites: &mut Array2<u8>, moves: &[[usize; 2]]) {
    let mut next: Array2<u8> = zeros((sites.nrows(), sites.ncols()));
    let (rows, columns) = (sites.nrows(), sites.ncols());
    for y in par(0..rows) {
        for x in 0..columns {
            for k in 0..moves.len() {
                let (v, u) = ((y + rows - moves[k][0]) % rows, (x + columns - moves[k][1]) % columns);
                next[[y, x]] ^= sites[[v, u]] & (1u8 << k);
            }
        }
    }
    // every particle is there twice now
    for y in par(0..rows) {
        for x in 0..columns {
            for k in 0..moves.len() {
                let (v, u) = ((y + moves[k][0]) % rows, (x + moves[k][1]) % columns);
                sites[[y, x]] ^= next[[v, u]] & (1u8 << k);
            }
        }
    }
    for y in par(0..rows) {
        for x in 0..columns {
            swap(sites[[y, x]], next[[y, x]]);
        }
    }
    release(next);
}

/// Steps of a gas, the first of which is an even one: a collision, by the tables for even or odd steps, then a move.
#[reversible]
pub fn advance(
    sites: &mut Array2<u8>,
    after: ArrayView2<u8>,
    before: ArrayView2<u8>,
    moves: &[[usize; 2]],
    steps: usize,
) {
    for t in 0..steps {
        collide(&mut sites, &after.row(t % 2), &before.row(t % 2));
        stream(&mut sites, &moves);
    }
}

/// What the sites of a gas do.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What becomes of a site's bits in even and in odd steps: 2 rows of `2ᵏ` for `k` directions.
    pub after: Array2<u8>,
    /// The inverse.
    pub before: Array2<u8>,
    /// The rows and columns to the next site in each direction.
    pub directions: Vec<[isize; 2]>,
}

impl Rule {
    /// Of Hardy, de Pazzis and Pomeau: right, up, left, down.
    pub fn hpp() -> Rule {
        let turned = |bits: u8| match bits {
            0b0101 => 0b1010,
            0b1010 => 0b0101,
            _ => bits,
        };
        Rule::new([turned, turned], vec![[0, 1], [-1, 0], [0, -1], [1, 0]])
    }

    /// Of Frisch, Hasslacher and Pomeau, without particles at rest: counterclockwise from the right. Along rows and columns, which meet
    /// at 120 degrees, the direction up to the right is a row up.
    pub fn fhp() -> Rule {
        /// Two that meet head on, turned by `places`, or three from all sides, turned back.
        fn turned(bits: u8, places: u32) -> u8 {
            match bits {
                0b00_1001 | 0b01_0010 | 0b10_0100 => (bits << places | bits >> (6 - places)) & 0b11_1111,
                0b01_0101 | 0b10_1010 => bits ^ 0b11_1111,
                _ => bits,
            }
        }
        let directions = vec![[0, 1], [-1, 0], [-1, -1], [0, -1], [1, 0], [1, 1]];
        Rule::new([|bits| turned(bits, 1), |bits| turned(bits, 5)], directions)
    }

    fn new(turned: [fn(u8) -> u8; 2], directions: Vec<[isize; 2]>) -> Rule {
        let after =
            Array2::from_shape_fn((2, 1 << directions.len()), |(step, bits)| turned[step](bits as u8));
        let mut before = after.clone();
        for ((step, bits), to) in after.indexed_iter() {
            before[[step, usize::from(*to)]] = bits as u8;
        }
        Rule { after, before, directions }
    }

    /// The moves that [`stream()`] takes on a lattice of `rows` by `columns`, both at least 1.
    pub fn moves(&self, rows: usize, columns: usize) -> Vec<[usize; 2]> {
        let ahead = |step: isize, length: usize| step.rem_euclid(length.max(1) as isize) as usize;
        self.directions.iter().map(|[y, x]| [ahead(*y, rows), ahead(*x, columns)]).collect()
    }

    /// The number of particles, and their momentum along rows and along columns.
    pub fn totals(&self, sites: &Array2<u8>) -> (usize, [isize; 2]) {
        let (mut number, mut momentum) = (0, [0; 2]);
        for (k, [y, x]) in self.directions.iter().enumerate() {
            let going = sites.iter().filter(|bits| *bits >> k & 1 == 1).count();
            number += going;
            momentum[0] += y * going as isize;
            momentum[1] += x * going as isize;
        }
        (number, momentum)
    }
}

/// The same as plain Rust.
pub mod plain {
    use super::Rule;
    use ndarray::Array2;

    /// Steps of a gas.
    pub fn advance(sites: &Array2<u8>, rule: &Rule, steps: usize) -> Array2<u8> {
        let (rows, columns) = sites.dim();
        let moves = rule.moves(rows, columns);
        let mut now = sites.clone();
        for t in 0..steps {
            let mut next = Array2::zeros((rows, columns));
            for ((y, x), bits) in now.indexed_iter() {
                let turned = rule.after[[t % 2, usize::from(*bits)]];
                for (k, [down, right]) in moves.iter().enumerate() {
                    next[[(y + down) % rows, (x + right) % columns]] |= turned & (1 << k);
                }
            }
            now = next;
        }
        now
    }
}
