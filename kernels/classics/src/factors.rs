//! A number to its prime factors, and back: a program of Janus (T. Yokoyama and R. Glück, PEPM 2007), in which multiplying is the
//! inverse of factoring.
//!
//! ```text
//! n = p₁ p₂ … p_k,   p₁ ≤ p₂ ≤ … ≤ p_k
//! ```
//!
//! Divisors are tried from 2 on, up to the root of what is left: `√n` steps at most, and no memory beside the factors, of which a number of
//! 64 bits has at most 63.

use crate::root::square_root;
use rev_cpu::prelude::*;

/// Takes a number apart: it becomes 1, and its prime factors, in ascending order, stand in `factors`, which held zeros. `count`, which was
/// 0, says how many there are. (0 and 1 have none, and stay.)
///
/// # Errors
///
/// Factors that don't fit in `factors`. Of the inverse: factors that aren't primes in ascending order.
#[reversible]
pub fn factor(number: &mut u64, factors: &mut [u64], count: &mut usize) {
    let mut divisor = 2u64;
    #[post(divisor > 2)]
    while divisor <= *number / divisor {
        #[post(*count > 0 && factors[*count - 1] == divisor)]
        while *number % divisor == 0 {
            div_int(number, divisor as i64);
            factors[*count] += divisor;
            inc(count);
        }
        inc(divisor);
    }
    // the search ended behind the last factor, or behind the root of what is left
    {
        let mut rest = 0u64;
        let mut root = 0u64;
        #[compute]
        {
            rest += *number;
            square_root(&mut rest, &mut root);
        }
        let last = if *count > 0 { factors[*count - 1] } else { 1 };
        release(divisor, last.max(root).max(1) + 1);
    }
    // what is left is a prime: the last factor then stands alone, where otherwise it divides twice
    #[post(*count > 0 && (*count == 1 || factors[*count - 1] != factors[*count - 2]))]
    if *number > 1 {
        swap(number, factors[*count]);
        inc(number);
        inc(count);
    }
}

/// The same as plain Rust.
pub mod plain {
    /// The prime factors of a number in ascending order.
    pub fn factor(mut number: u64) -> Vec<u64> {
        let mut factors = Vec::new();
        let mut divisor = 2;
        while divisor <= number / divisor {
            while number.is_multiple_of(divisor) {
                number /= divisor;
                factors.push(divisor);
            }
            divisor += 1;
        }
        if number > 1 {
            factors.push(number);
        }
        factors
    }
}
