//! The block cipher XTEA (R. M. Needham and D. J. Wheeler, "Tea extensions", Cambridge, 1997): 64 rounds on a block of 64 bits under a key of
//! 128. Deciphering is the inverse.
//!
//! ```text
//! v₀ += ((v₁ << 4 ^ v₁ >> 5) + v₁) ^ (s + k[s mod 4])
//! s  += δ
//! v₁ += ((v₀ << 4 ^ v₀ >> 5) + v₀) ^ (s + k[s >> 11 mod 4])
//! ```
//!
//! Words are those of the bytes from the highest one on. A cipher of blocks on their own doesn't hide that two blocks are equal: it is a part of a
//! secure scheme, not one.

use rev_cpu::prelude::*;

/// `2³²` divided by the golden ratio.
const DELTA: u32 = 0x9E37_79B9;

/// What a half is mixed to.
#[pure]
pub fn mixed(half: u32) -> u32 {
    ((half << 4) ^ (half >> 5)) + half
}

/// Enciphers a block.
#[reversible]
pub fn encipher(block: &mut [u32; 2], key: &[u32; 4]) {
    for cycle in 0..32u32 {
        let sum = cycle * DELTA;
        block[0] += mixed(block[1]) ^ (sum + key[(sum & 3) as usize]);
        let next = sum + DELTA;
        block[1] += mixed(block[0]) ^ (next + key[((next >> 11) & 3) as usize]);
    }
}

/// Enciphers each block.
#[reversible]
pub fn encipher_each(blocks: &mut [[u32; 2]], key: &[u32; 4]) {
    for i in par(0..blocks.len()) {
        encipher(&mut blocks[i], &key);
    }
}

/// The same as plain Rust.
pub mod plain {
    use super::DELTA;

    fn mixed(half: u32) -> u32 {
        (half << 4 ^ half >> 5).wrapping_add(half)
    }

    /// What is added to the halves in the rounds, which follows from the key: 64 words.
    pub fn schedule(key: [u32; 4]) -> Vec<u32> {
        let word = |round: u32| {
            let sum = round.div_ceil(2).wrapping_mul(DELTA);
            let place = if round.is_multiple_of(2) { sum & 3 } else { sum >> 11 & 3 };
            sum.wrapping_add(key[place as usize])
        };
        (0..64).map(word).collect()
    }

    /// Enciphers a block.
    pub fn encipher([mut a, mut b]: [u32; 2], key: [u32; 4]) -> [u32; 2] {
        for pair in schedule(key).chunks(2) {
            a = a.wrapping_add(mixed(b) ^ pair[0]);
            b = b.wrapping_add(mixed(a) ^ pair[1]);
        }
        [a, b]
    }

    /// Deciphers a block.
    pub fn decipher([mut a, mut b]: [u32; 2], key: [u32; 4]) -> [u32; 2] {
        for pair in schedule(key).chunks(2).rev() {
            b = b.wrapping_sub(mixed(a) ^ pair[1]);
            a = a.wrapping_sub(mixed(b) ^ pair[0]);
        }
        [a, b]
    }
}
