//! The Euclidean norm `|x| = √(Σ x²)`.

use rev_cpu::prelude::*;

/// `out += |x|`.
#[reversible]
pub fn norm<T: Real>(out: &mut T, x: &[T]) {
    let mut square = T::zero();
    for i in 0..x.len() {
        square += x[i] * x[i];
    }
    *out += square.sqrt();
}

/// `square += |x|²` and `out += √square`: the papers' norm, which leaves the sum to the caller.
#[reversible]
pub fn norm_and_square<T: Real>(out: &mut T, square: &mut T, x: &[T]) {
    for i in 0..x.len() {
        *square += x[i] * x[i];
    }
    *out += square.sqrt();
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// `√(Σ x²)`.
    pub fn norm<T: Float>(x: &[T]) -> T {
        x.iter().fold(T::zero(), |sum, &x| sum + x * x).sqrt()
    }

    /// The norm and its gradient `x / |x|`.
    pub fn gradient<T: Float>(x: &[T]) -> (T, Vec<T>) {
        let norm = norm(x);
        (norm, x.iter().map(|&x| x / norm).collect())
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::plain::*;

    #[test]
    fn the_papers_example() {
        let (value, gradient) = gradient(&[1.0, 2.0, 3.0f64]);
        assert_eq!(value, 3.7416573867739413);
        for (got, expected) in gradient.into_iter().zip([0.267_261_241_9, 0.534_522_483_8, 0.801_783_725_7]) {
            assert_abs_diff_eq!(got, expected, epsilon = 1e-9);
        }
    }
}
