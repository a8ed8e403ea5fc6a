//! Orthogonal matrices as products of rotations of two neighbouring elements: n (n - 1) / 2 angles give every orthogonal n × n matrix of
//! determinant 1.
//!
//! ```text
//! x := R(n-2, n-1; θ_last) … R(n-2, n-1; θ_0) x      R(i, i+1; θ) turns elements i and i+1 by θ
//! ```
//!
//! In order: for each `j`, the pairs from the last one up to `(j, j+1)`. M. Reck et al., *Experimental realization of any discrete unitary
//! operator*, Phys. Rev. Lett. 73, 58 (1994); as a layer of a network in J.-G. Liu and T. Zhao (2020), appendix. The matrix is never
//! formed, norms are kept, and the inverse turns back.

use ndarray::ArrayViewMut2;
use rev_cpu::prelude::*;

/// `X := U X` for the matrix `U` of the angles, each in radians. `X` has n rows; its columns are independent.
/// There are n (n - 1) / 2 angles.
///
/// # Errors
///
/// Fewer angles than that.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn rotations<T: Real>(mut x: ArrayViewMut2<T>, angles: &[T]) {
    let n = x.nrows();
    for column in par(0..x.ncols()) {
        let mut at = 0usize;
        for j in 0..n {
            for i in (j + 1..n).rev() {
                rot(x[[i - 1, column]], x[[i, column]], angles[at]);
                inc(at);
            }
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array2, ArrayView2};
    use num_traits::Float;

    /// The matrix of the angles.
    pub fn matrix<T: Float>(n: usize, angles: &[T]) -> Array2<T> {
        let mut u = Array2::from_shape_fn((n, n), |(i, j)| if i == j { T::one() } else { T::zero() });
        let pairs = (0..n).flat_map(|j| (j + 1..n).rev());
        for (i, angle) in pairs.zip(angles) {
            let (s, c) = angle.sin_cos();
            for k in 0..n {
                let (a, b) = (u[[i - 1, k]], u[[i, k]]);
                (u[[i - 1, k]], u[[i, k]]) = (c * a - s * b, s * a + c * b);
            }
        }
        u
    }

    /// `U X`.
    pub fn rotations<T: Float + 'static>(x: ArrayView2<T>, angles: &[T]) -> Array2<T> {
        matrix(x.nrows(), angles).dot(&x)
    }
}
