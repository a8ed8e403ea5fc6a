//! The integer square root: the first program of the first reversible language, Janus (C. Lutz and H. Derby, 1982; T. Yokoyama and
//! R. Glück, "A reversible programming language and its invertible self-interpreter", PEPM 2007).
//!
//! ```text
//! n = r² + rest,   r = ⌊√n⌋,   0 ≤ rest ≤ 2 r
//! ```
//!
//! A number goes to its root and what remains, so nothing is lost; the inverse squares and adds. One of 64 bits takes 32 steps, and no
//! memory.

use rev_cpu::prelude::*;

/// `root += ⌊√number⌋`, of a `root` that is 0, and `number -= root²`.
///
/// The bits of the root are tried from the highest one on. On the way back each bit says itself whether it was set.
#[reversible]
pub fn square_root(number: &mut u64, root: &mut u64) {
    for k in (0..32u32).rev() {
        let bit = 1u64 << k;
        #[post((*root >> k) & 1 == 1)]
        if (*root + bit) * (*root + bit) <= *number {
            *root += bit;
        }
    }
    *number -= *root * *root;
}

/// The same as plain Rust.
pub mod plain {
    /// The integer square root of a number, and what remains.
    pub fn square_root(number: u64) -> (u64, u64) {
        let root = number.isqrt();
        (root, number - root * root)
    }
}
