//! `exp` by its power series `Σ x^n / n!`, in constant memory.

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
