//! `exp` by its power series `Σ x^n / n!`, in constant memory.

use rev_cpu::prelude::*;

/// `y += exp(x)`: terms are added until one isn't larger than `tolerance`.
///
/// A term is scaled by `x/n`, which the opposite takes back up to the rounding of the last bit, so that nothing is
/// kept for the way back (the papers' programs go by the approximate multiplier,
/// [`approximate_multiply`](fn@crate::multiplier::approximate_multiply)). No division waits for the term before.
#[reversible]
pub fn exponential<T: Real>(y: &mut T, x: T, tolerance: T) {
    let mut n: usize = 0;
    let mut term = T::zero();
    let mut sum = T::zero();
    term += T::one();
    sum += T::one();
    #[post(n > 0)]
    while x != T::zero() && term.abs() > tolerance {
        inc(n);
        scale_by(term, x / T::from_usize(n));
        sum += term;
    }
    *y += sum;
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// `exp(x)`: terms are added until one isn't larger than `tolerance`.
    pub fn exponential<T: Float>(x: T, tolerance: T) -> T {
        let (mut n, mut s, mut sum) = (T::zero(), T::one(), T::one());
        while s.abs() > tolerance {
            n = n + T::one();
            s = s * x / n;
            sum = sum + s;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_papers_point() {
        assert_abs_diff_eq!(super::plain::exponential(1.6f64, 1e-14), 4.953_032_424_4, epsilon = 1e-9);
        assert_abs_diff_eq!(super::plain::exponential(-2.0f64, 1e-16), (-2.0f64).exp(), epsilon = 1e-15);
    }
}
