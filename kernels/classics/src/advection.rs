//! A wave that moves along a ring of cells, by the scheme of P. Lax and B. Wendroff ("Systems of conservation laws", Comm. Pure Appl. Math. 13,
//! 1960): second order in time and space.
//!
//! ```text
//! ∂q/∂t = -u ∂q/∂x,   c = u Δt/Δx
//! q_i' = q_i - c/2 (q_(i+1) - q_(i-1)) + c²/2 (q_(i+1) - 2 q_i + q_(i-1))
//! ```
//!
//! Short waves are damped, so a step can't be taken back from what it leaves: each state is kept, a row of an array for each point in time.
//! The inverse clears the rows from the last one on. Where there isn't memory for all states, [`step()`] is what a checkpoint schedule runs.
//!
//! For `|c| ≤ 1` nothing grows. For `c = 1` the wave moves by a cell in each step, exactly but for rounding.

use ndarray::{ArrayView1, ArrayViewMut1, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `next +=` the state after `q`. The cells are in parallel.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn step<T: Real>(mut next: ArrayViewMut1<T>, q: ArrayView1<T>, c: T) {
    let n = q.len();
    for i in par(0..n) {
        let (left, right) = (q[(i + n - 1) % n], q[(i + 1) % n]);
        next[i] += q[i] - 0.5 * c * (right - left) + 0.5 * c * c * (right - 2.0 * q[i] + left);
    }
}

/// Adds to each row but the first what becomes of the row before it: `states`, zeros below its first row, holds all states afterwards.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn advance<T: Real>(mut states: ArrayViewMut2<T>, c: T) {
    for t in 1..states.nrows() {
        step(states.row_mut(t), states.row(t - 1), c);
    }
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// The state after a number of steps.
    pub fn advance<T: Float>(first: &[T], c: T, steps: usize) -> Vec<T> {
        let (n, half) = (first.len(), T::one() / (T::one() + T::one()));
        (0..steps).fold(first.to_vec(), |q, _| {
            let cell = |i: usize| {
                let (left, here, right) = (q[(i + n - 1) % n], q[i], q[(i + 1) % n]);
                here - half * c * (right - left) + half * c * c * (right - here - here + left)
            };
            (0..n).map(cell).collect()
        })
    }
}
