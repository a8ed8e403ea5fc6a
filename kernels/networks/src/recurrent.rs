//! A recurrent network whose steps can be undone, so that a sequence of any length needs the memory of its last state.
//!
//! ```text
//! z = (1 + σ(W [x, h₂] + b)) / 2,  g = tanh(U [x, h₂] + c),  h₁ ← z h₁ + (1 - z) g
//! ```
//!
//! and the same for `h₂` by the new `h₁`: the reversible gated recurrent unit of MacKay, Vicol, Ba and Grosse, "Reversible recurrent neural
//! networks" (2018), section 3, without its reset gate. What is forgotten can't be brought back: a gate `z` takes `log₂ 1/z` bits of the state
//! at each step. It is above ½ here, so that a step forgets less than a bit, as in their section 4.2; where gates are near ½ throughout,
//! states of `f64` come back to 1e-8 after some 25 steps.

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `h ← z h + (1 - z) g` by input `x` and the other half of the state: N by H states, N by I inputs; the weights of the gate and of the new values are H by
/// I + H each.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn update<T: Real>(
    mut h: ArrayViewMut2<T>,
    other: ArrayView2<T>,
    x: ArrayView2<T>,
    gate: ArrayView2<T>,
    b: ArrayView1<T>,
    new: ArrayView2<T>,
    c: ArrayView1<T>,
) {
    let inputs = x.ncols();
    for n in par(0..h.nrows()) {
        for j in 0..h.ncols() {
            let mut open = T::zero();
            let mut value = T::zero();
            for k in 0..inputs {
                open += gate[[j, k]] * x[[n, k]];
                value += new[[j, k]] * x[[n, k]];
            }
            for k in 0..other.ncols() {
                open += gate[[j, inputs + k]] * other[[n, k]];
                value += new[[j, inputs + k]] * other[[n, k]];
            }
            let z = 0.5 + 0.5 * (open + b[j]).sigmoid();
            scale_by(h[[n, j]], z);
            h[[n, j]] += (1.0 - z) * (value + c[j]).tanh();
        }
    }
}

/// Runs a sequence through both halves of a state, in place. Inputs are S steps by N by I; weights as [`update()`] has them, those of the first half
/// and of the second half in an array, 2 by H by I + H, their biases 2 by H.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn recurrent<T: Real>(
    mut h1: ArrayViewMut2<T>,
    mut h2: ArrayViewMut2<T>,
    x: ArrayView3<T>,
    gate: ArrayView3<T>,
    b: ArrayView2<T>,
    new: ArrayView3<T>,
    c: ArrayView2<T>,
) {
    for s in 0..x.dim(0) {
        update(
            &mut h1,
            &h2,
            x.index_axis(Axis(0), s),
            gate.index_axis(Axis(0), 0),
            b.row(0),
            new.index_axis(Axis(0), 0),
            c.row(0),
        );
        update(
            &mut h2,
            &h1,
            x.index_axis(Axis(0), s),
            gate.index_axis(Axis(0), 1),
            b.row(1),
            new.index_axis(Axis(0), 1),
            c.row(1),
        );
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

    /// The new half of a state.
    pub fn update(
        h: ArrayView2<f64>,
        other: ArrayView2<f64>,
        x: ArrayView2<f64>,
        (gate, b): (ArrayView2<f64>, ArrayView1<f64>),
        (new, c): (ArrayView2<f64>, ArrayView1<f64>),
    ) -> Array2<f64> {
        let weigh = |w: ArrayView2<f64>, bias: ArrayView1<f64>| {
            let (by_x, by_other) = w.split_at(Axis(1), x.ncols());
            x.dot(&by_x.t()) + other.dot(&by_other.t()) + bias
        };
        let z = weigh(gate, b).mapv(|v| 0.5 + 0.5 / (1.0 + (-v).exp()));
        let g = weigh(new, c).mapv(f64::tanh);
        &z * &h + (1.0 - &z) * g
    }
}
