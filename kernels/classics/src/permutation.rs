//! Permutations to numbers, and back: Dijkstra's example of a program that is inverted (E. W. Dijkstra, "Program inversion", EWD 671, 1978),
//! and one of Janus (T. Yokoyama, H. B. Axelsen and R. Glück, "Principles of a reversible programming language", CF 2008).
//!
//! A permutation of `0 .. n` has a code of digits `0 ≤ c_k ≤ k`: `c_k` says how many of `x_0 .. x_{k-1}` are smaller than `x_k`. The digits are
//! those of a number in the factorial number system:
//!
//! ```text
//! N = Σ c_k k!,   0 ≤ N < n!
//! ```
//!
//! Both are made in place. The code takes `n²/2` steps, the number `n`.

use rev_cpu::prelude::*;

/// A permutation of `0 .. n` becomes its code.
///
/// # Errors
///
/// A number that is there twice. The inverse has none: digits that are too large give what isn't a permutation.
#[reversible]
pub fn to_code<T: Integer>(x: &mut [T]) {
    for k in (1..x.len()).rev() {
        // now x_0 .. x_k is a permutation of 0 .. k + 1; without x_k the others close the gap
        for j in 0..k {
            #[post(x[j] >= x[k])]
            if x[j] > x[k] {
                dec(x[j]);
            }
        }
    }
}

/// A code becomes a number: `number`, which is 0, `Σ c_k k!`, and the digits zeros. At most 20 digits fit into 64 bits.
///
/// # Errors
///
/// Digits with `c_k > k`, more than 20 of them.
#[reversible]
pub fn to_number(number: &mut u64, code: &mut [u64]) {
    for k in (0..code.len()).rev() {
        let radix = (k + 1) as u64;
        let mut digit = 0u64;
        swap(digit, code[k]);
        mul_int(number, radix as i64);
        *number += digit;
        release(digit, *number % radix);
    }
}

/// The same as plain Rust.
pub mod plain {
    /// The code of a permutation: for each number how many of those before it are smaller.
    pub fn to_code(x: &[u64]) -> Vec<u64> {
        let smaller = |k: usize| x[..k].iter().filter(|y| **y < x[k]).count() as u64;
        (0..x.len()).map(smaller).collect()
    }

    /// `Σ c_k k!`.
    pub fn to_number(code: &[u64]) -> u64 {
        code.iter().enumerate().rev().fold(0, |number, (k, digit)| number * (k as u64 + 1) + digit)
    }
}
