//! Attention: each query takes the mean of the values, weighted by how well their keys fit.
//!
//! ```text
//! y = softmax(Q Kᵀ / √d) V
//! ```
//!
//! Vaswani et al., "Attention is all you need" (2017), equation 1. Queries are N by D, keys M by D, values M by E, the output N by E. The
//! scores are never kept: each query has M numbers of its own while it is at work, which the adjoint computes again, as
//! Rabe and Staats, "Self-attention does not need O(n²) memory" (2021), do.

use ndarray::{ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `y += softmax(q kᵀ / √d) v`. If `causal`, a query looks at the keys up to its own place only. Memory of an iteration: two numbers and an
/// index for each key.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn attention<T: Real>(
    mut y: ArrayViewMut2<T>,
    q: ArrayView2<T>,
    k: ArrayView2<T>,
    v: ArrayView2<T>,
    causal: bool,
) {
    for i in par(0..q.nrows()) {
        let keys = if causal { min(i + 1, k.nrows()) } else { k.nrows() };
        let mut score = vec![T::zero(); k.nrows()];
        let mut best = vec![0usize; k.nrows()];
        for j in 0..keys {
            for c in 0..q.ncols() {
                score[j] += q[[i, c]] * k[[j, c]];
            }
        }
        for j in 1..keys {
            best[j] += if score[j] > score[best[j - 1]] { j } else { best[j - 1] };
        }
        let scale = 1.0 / (q.ncols() as T).sqrt();
        let most = score[best[keys - 1]];
        let mut weight = vec![T::zero(); k.nrows()];
        let mut sum = T::zero();
        for j in 0..keys {
            weight[j] += (scale * (score[j] - most)).exp();
            sum += weight[j];
        }
        for j in 0..keys {
            let part = weight[j] / sum;
            for e in 0..v.ncols() {
                y[[i, e]] += part * v[[j, e]];
            }
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use crate::losses::plain::softmax;
    use ndarray::{s, Array2, ArrayView2, Axis};

    /// `softmax(q kᵀ / √d) v`.
    pub fn attention(
        q: ArrayView2<f64>,
        k: ArrayView2<f64>,
        v: ArrayView2<f64>,
        causal: bool,
    ) -> Array2<f64> {
        let scores = q.dot(&k.t()) / (q.ncols() as f64).sqrt();
        let mut y = Array2::zeros((q.nrows(), v.ncols()));
        for (i, mut y) in y.axis_iter_mut(Axis(0)).enumerate() {
            let keys = if causal { k.nrows().min(i + 1) } else { k.nrows() };
            y += &softmax(scores.slice(s![i, ..keys])).dot(&v.slice(s![..keys, ..]));
        }
        y
    }
}
