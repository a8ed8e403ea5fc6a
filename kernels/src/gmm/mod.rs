//! The log-posterior of a Gaussian mixture, exactly as ADBench defines it.
//!
//! `Q_k` is lower triangular with diagonal `exp(q_k)` and strict lower part `l_k`:
//!
//! ```text
//! L = -(N D / 2) ln(2π) + Σ_n logsumexp_k( α_k + Σ_j q_kj - ½ |Q_k (x_n - μ_k)|² ) - N logsumexp(α)
//!     + Σ_k [ ½ γ² ( |exp(q_k)|² + |l_k|² ) - m Σ_j q_kj ] - K C
//! C = ν D (ln γ - ½ ln 2) - ln Γ_D(ν/2),   ν = D + m + 1
//! ln Γ_D(a) = D (D-1)/4 · ln π + Σ_{j=1..D} ln Γ(a + (1-j)/2)
//! ```

mod evaluate;
mod instance;
mod matrices;
pub mod plain;
mod products;
mod program;

pub use evaluate::{gradient, value, PRODUCTS_FROM};
pub use instance::Instance;
pub use matrices::objective_by_matrices;
pub use products::objective_by_products;
pub use program::{objective, prior, wishart_constant};

/// The number of covariance factors of one component: D log-diagonals and the strict lower triangle.
///
/// Only for dimensions whose square doesn't overflow, which [`parameter_count`] finds out.
pub const fn icf_len(d: usize) -> usize {
    d + d * (d - 1) / 2
}

/// The number of parameters of `k` components in `d ≥ 1` dimensions, `None` when it overflows.
pub fn parameter_count(d: usize, k: usize) -> Option<usize> {
    let icf = d.checked_add(d.checked_mul(d.checked_sub(1)?)? / 2)?;
    k.checked_mul(icf.checked_add(d)?.checked_add(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_counted_and_overflow_is_seen() {
        assert_eq!(parameter_count(2, 5), Some(5 * (1 + 2 + 3)));
        assert_eq!(parameter_count(10, 25), Some(25 * (1 + 10 + icf_len(10))));
        assert_eq!(parameter_count(usize::MAX, 2), None);
        assert_eq!(parameter_count(1 << 20, usize::MAX >> 20), None);
    }
}
