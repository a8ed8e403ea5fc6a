//! `ln Σ exp(x)`, safe against overflow and underflow.
//!
//! The largest element is found without changing or sorting a copy: its index is carried along,
//! and an index has no derivative, so the adjoint pays nothing for the search.

use rev_cpu::prelude::*;

/// `out += ln Σ exp(x)`. Memory: an index for each element.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn log_sum_exp<T: Real>(out: &mut T, x: &[T]) {
    let n = x.len();
    let mut best: Array1<usize> = zeros(n);
    for i in 1..n {
        best[i] += if x[i] > x[best[i - 1]] { i } else { best[i - 1] };
    }
    let max = x[best[n - 1]];
    let mut sum = T::zero();
    for i in par(0..n) {
        sum += (x[i] - max).exp();
    }
    *out += max + sum.ln();
}
