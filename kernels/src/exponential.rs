//! `exp` by its power series `Σ x^n / n!`, in constant memory.

use rev_cpu::prelude::*;

/// `y += exp(x)`: terms are added until one isn't larger than `tolerance`, or than the rounding that
/// came with it.
///
/// Multiplication and division undo each other but for rounding, so the last term and the product
/// on the way to the next one are taken back by arithmetic inside the loop; what rounding leaves is
/// uncomputed with the loop. It grows as the terms shrink, so that the sum is good to about
/// `√ε max|s|` for the largest term `s` and the scalar's precision `ε`.
#[reversible]
pub fn exponential<T: Real>(y: &mut T, x: T, tolerance: T) {
    let mut n: usize = 0;
    let mut term = T::zero();
    let mut product = T::zero();
    let mut next = T::zero();
    let mut sum = T::zero();
    term += T::one();
    sum += T::one();
    #[post(n > 0)]
    while x != T::zero() && term.abs() > tolerance && product.abs() + next.abs() < term.abs() {
        inc(n);
        product += term * x;
        next += product / T::from_usize(n);
        sum += next;
        term -= product / x;
        product -= next * T::from_usize(n);
        swap(term, next);
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
    #[test]
    fn the_papers_point() {
        assert!((super::plain::exponential(1.6f64, 1e-14) - 4.953_032_424_4).abs() < 1e-9);
        assert!((super::plain::exponential(-2.0f64, 1e-16) - (-2.0f64).exp()).abs() < 1e-15);
    }
}
