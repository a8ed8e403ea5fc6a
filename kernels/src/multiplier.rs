//! `y += a b`: the smallest reversible program of the papers.

use rev_cpu::prelude::*;

/// `y += a b`.
#[reversible]
pub fn multiplier<T: Real>(y: &mut T, a: T, b: T) {
    *y += a * b;
}

/// `y` becomes `y x` but for rounding, which is left in `dirty` (about zero before and after):
/// the papers' approximate multiplier. `x` must not be zero.
#[reversible]
pub fn approximate_multiply<T: Real>(y: &mut T, x: T, dirty: &mut T) {
    *dirty += *y * x;
    *y -= *dirty / x;
    swap(y, dirty);
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// `y + a b`.
    pub fn multiplier<T: Float>(y: T, a: T, b: T) -> T {
        y + a * b
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_papers_example() {
        assert_eq!(super::plain::multiplier(2.0, 3.0, 5.0), 17.0);
    }
}
