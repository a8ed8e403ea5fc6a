//! `y += a b`: the smallest reversible program of the papers.

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
