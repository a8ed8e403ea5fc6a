//! Probabilities from scores (logits), and how unlikely the truth is by them.
//!
//! ```text
//! softmax(x)_c     = e^(x_c - m) / Σ_k e^(x_k - m),  m = max x
//! cross entropy    = -Σ_c p_c ln softmax(x)_c = Σ_c p_c (m + ln Σ_k e^(x_k - m) - x_c)
//! ```
//!
//! The largest score is subtracted before it can overflow. Which one it is, is an index, and has no derivative: the adjoint pays
//! nothing for the search. Goodfellow, Bengio and Courville, "Deep Learning", 2016, sections 4.1 and 6.2.2; Liu and Zhao,
//! "Differentiate everything with a reversible programming language" (2021), of whose library `i_softmax_crossentropy` is the second program.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1};
use rev_cpu::prelude::*;

/// `at +=` the index of the largest element, of equal ones the first. Memory: an index for each element.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn largest<T: Real>(at: &mut usize, x: ArrayView1<T>) {
    let mut best = vec![0usize; x.len()];
    for i in 1..x.len() {
        best[i] += if x[i] > x[best[i - 1]] { i } else { best[i - 1] };
    }
    *at += best[x.len() - 1];
}

/// `y += softmax(x)`, of the same length.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn softmax<T: Real>(mut y: ArrayViewMut1<T>, x: ArrayView1<T>) {
    let mut at = 0usize;
    largest(&mut at, x);
    let mut sum = T::zero();
    for c in 0..x.len() {
        sum += (x[c] - x[at]).exp();
    }
    for c in 0..x.len() {
        y[c] += (x[c] - x[at]).exp() / sum;
    }
}

/// `loss +=` the mean cross entropy of N examples with probabilities `p`, N by C like the scores. A row of `p` has the sum 1.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn cross_entropy<T: Real>(loss: &mut T, x: ArrayView2<T>, p: ArrayView2<T>) {
    for n in par(0..x.nrows()) {
        let mut at = 0usize;
        largest(&mut at, x.row(n));
        let mut sum = T::zero();
        for c in 0..x.ncols() {
            sum += (x[[n, c]] - x[[n, at]]).exp();
        }
        let log_sum = x[[n, at]] + sum.ln();
        for c in 0..x.ncols() {
            *loss += p[[n, c]] * (log_sum - x[[n, c]]) / (x.nrows() as T);
        }
    }
}

/// `loss +=` the mean cross entropy of N examples that belong to one class each; `found[n] +=` the class with the largest score. Scores are
/// N by C; a label that is no class is an error of the run.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn cross_entropy_of_labels<T: Real>(
    loss: &mut T,
    found: &mut [usize],
    x: ArrayView2<T>,
    labels: &[usize],
) {
    for n in par(0..x.nrows()) {
        let mut at = 0usize;
        largest(&mut at, x.row(n));
        let mut sum = T::zero();
        for c in 0..x.ncols() {
            sum += (x[[n, c]] - x[[n, at]]).exp();
        }
        found[n] += at;
        *loss += (x[[n, at]] + sum.ln() - x[[n, labels[n]]]) / (x.nrows() as T);
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array1, ArrayView1, ArrayView2};

    /// The first index of the largest element; 0 of none.
    pub fn largest(x: ArrayView1<f64>) -> usize {
        x.iter().enumerate().fold(0, |best, (i, v)| if *v > x[best] { i } else { best })
    }

    /// `softmax(x)`.
    pub fn softmax(x: ArrayView1<f64>) -> Array1<f64> {
        let most = x.fold(f64::NEG_INFINITY, |most, v| most.max(*v));
        let powers = x.mapv(|v| (v - most).exp());
        let sum = powers.sum();
        powers / sum
    }

    /// The mean of `-Σ p ln softmax(x)`.
    pub fn cross_entropy(x: ArrayView2<f64>, p: ArrayView2<f64>) -> f64 {
        let each = x.outer_iter().zip(p.outer_iter());
        let sum: f64 = each.map(|(x, p)| -(softmax(x).mapv(f64::ln) * p).sum()).sum();
        sum / x.nrows() as f64
    }
}
