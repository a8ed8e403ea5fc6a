//! The pyramid of A. Griewank and A. Walther (*Evaluating Derivatives*, 2nd edition, 2008, section 3.5): levels of sines and cosines, each
//! narrower by one, a classic of the comparison of tools for derivatives.
//!
//! ```text
//! v_0j = x_j     v_(i+1)j = sin(v_ij) cos(v_i(j+1))     y = v_(n-1)0
//! ```
//!
//! Time and memory n²: the levels are ancillas that are taken back. The elements of a level are in parallel.

use rev_cpu::prelude::*;

/// `y +=` the top of the pyramid over `x`.
///
/// # Errors
///
/// An `x` without elements.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn pyramid<T: Real>(y: &mut T, x: &[T]) {
    let n = x.len();
    let mut v: Array2<T> = zeros((n, n));
    for j in 0..n {
        v[[0, j]] += x[j];
    }
    for i in 1..n {
        for j in par(0..n - i) {
            v[[i, j]] += v[[i - 1, j]].sin() * v[[i - 1, j + 1]].cos();
        }
    }
    *y += v[[n - 1, 0]];
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// The top of the pyramid over `x`; `None` of nothing.
    pub fn pyramid<T: Float>(x: &[T]) -> Option<T> {
        let mut level = x.to_vec();
        while level.len() > 1 {
            level = level.windows(2).map(|pair| pair[0].sin() * pair[1].cos()).collect();
        }
        level.first().copied()
    }
}
