//! A ripple-carry adder of reversible gates (S. A. Cuccaro, T. G. Draper, S. A. Kutin and D. P. Moulton, "A new quantum ripple-carry addition
//! circuit", 2004): of two numbers of `n` bits in `4 n + 1` controlled nots and `2 n` Toffoli gates, with one bit of memory.
//!
//! ```text
//! (a, b, z) → (a, a + b mod 2ⁿ, z ⊕ carry)
//! ```
//!
//! Each bit of `a` holds the carry out of its place for a while: the majority of `a`, `b` and the carry that comes in. On the way down the gates
//! are undone, and leave the sum in `b`. The inverse subtracts.

use rev_cpu::prelude::*;

/// `a` becomes the majority of the three, `b` and `carry` their differences from it.
#[reversible]
pub fn majority(carry: &mut bool, b: &mut bool, a: &mut bool) {
    *b ^= *a;
    *carry ^= *a;
    cnot(b, carry, a);
}

/// Undoes a majority, and adds the carry to `b`.
#[reversible]
pub fn undo_and_add(carry: &mut bool, b: &mut bool, a: &mut bool) {
    cnot(b, carry, a);
    *carry ^= *a;
    *b ^= *carry;
}

/// `b += a`, bits from the lowest one on, both of the same length; `overflow` is flipped where the sum has one more.
///
/// # Errors
///
/// A `b` that is shorter than `a`.
#[reversible]
pub fn add(a: &mut [bool], b: &mut [bool], overflow: &mut bool) {
    let mut carry = false;
    let n = a.len();
    for i in 0..n {
        if i == 0 {
            majority(&mut carry, &mut b[i], &mut a[i]);
        } else {
            majority(&mut a[i - 1], &mut b[i], &mut a[i]);
        }
    }
    if n > 0 {
        *overflow ^= a[n - 1];
    }
    for i in (0..n).rev() {
        if i == 0 {
            undo_and_add(&mut carry, &mut b[i], &mut a[i]);
        } else {
            undo_and_add(&mut a[i - 1], &mut b[i], &mut a[i]);
        }
    }
    release(carry);
}

/// The same as plain Rust.
pub mod plain {
    /// The bits of a sum of numbers of as many bits, and whether it has one more.
    pub fn add(a: &[bool], b: &[bool]) -> (Vec<bool>, bool) {
        let mut carry = false;
        let mut bit = |(a, b): (&bool, &bool)| {
            let sum = u8::from(*a) + u8::from(*b) + u8::from(carry);
            carry = sum > 1;
            sum % 2 == 1
        };
        let sum = a.iter().zip(b).map(&mut bit).collect();
        (sum, carry)
    }
}
