//! Feistel's network (H. Feistel, "Cryptography and computer privacy", Scientific American 228, 1973): a cipher from any function of a half
//! and a key, which needs no inverse of its own.
//!
//! ```text
//! (l, r) → (r, l ⊕ f(r, k))   for each key k
//! ```

use crate::xtea::mixed;
use rev_cpu::prelude::*;

/// Enciphers two halves, with a round for each key. `round` changes its first argument by the other half and the key, by `+=` or `^=`.
///
/// After an even number of rounds the halves stand where they were.
#[reversible]
pub fn feistel<T: Integer>(
    left: &mut T,
    right: &mut T,
    keys: &[T],
    round: impl Reversible<(&mut T, &T, &T)>,
) {
    for key in keys {
        round(&mut left, &right, &key);
        swap(left, right);
    }
}

/// A round of XTEA: with the words of its schedule as keys the network is that cipher.
#[reversible]
pub fn xtea_round(half: &mut u32, other: &u32, key: &u32) {
    *half += mixed(*other) ^ *key;
}

/// The same as plain Rust.
pub mod plain {
    /// Enciphers two halves: `round` gives what the first one becomes.
    pub fn feistel<T: Copy>(
        [mut left, mut right]: [T; 2],
        keys: &[T],
        round: impl Fn(T, T, T) -> T,
    ) -> [T; 2] {
        for &key in keys {
            (left, right) = (right, round(left, right, key));
        }
        [left, right]
    }
}
