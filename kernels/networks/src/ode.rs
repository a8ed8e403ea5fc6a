//! A differential equation whose right side is a network, by steps that can be undone: as deep as it takes many steps, in the memory of one.
//!
//! ```text
//! dx/dt = f(x) = T tanh(W x + b) + t
//! x ← x + h u,   u ← f(x) - u,   x ← x + h u      with 2 u = dx/dt
//! ```
//!
//! The asynchronous leapfrog of U. Mutze ("An asynchronous leap-frog method", 2013), which J. Zhuang et al. take for networks ("MALI: a memory
//! efficient and reverse accurate integrator for neural ODEs", 2021); equations with networks are those of R. T. Q. Chen et al. ("Neural ordinary
//! differential equations", 2018). Its error is of second order in the step `h`. The state has two halves, `x` and `u`, of which the other is changed by
//! each, so the steps are undone as they are, without an equation to solve.
//!
//! What goes together in the equation comes apart in the difference of `u` from `f(x)/2`: where all near solutions approach each other as `e^(-λt)`,
//! that difference grows as `e^(λt)`, both ways up to rounding. So the method is for times up to a few `1/λ`, as those of networks are.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

use crate::flows::coupling::additive;

/// `u += f(x)/2`, from zero: the second half of a state that begins at `x`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn begin<T: Real>(
    mut u: ArrayViewMut2<T>,
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
) {
    let mut rate: Array2<T> = zeros((x.nrows(), x.ncols()));
    additive(&mut rate, &x, &w, &b, &shift, &t);
    u += T::from_f64(0.5) * rate;
}

/// `steps` steps of length `h` of both halves of a state: N samples of D numbers. With H hidden numbers the weights `w` are H by D, `shift`
/// D by H, the biases `b` H and `t` D numbers. Memory of an iteration: H numbers.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn advance<T: Real>(
    mut x: ArrayViewMut2<T>,
    mut u: ArrayViewMut2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
    h: T,
    steps: usize,
) {
    for _ in 0..steps {
        x += h * u;
        for i in par(0..u.nrows()) {
            for j in 0..u.ncols() {
                neg(u[[i, j]]);
            }
        }
        additive(&mut u, &x, &w, &b, &shift, &t);
        x += h * u;
    }
}

/// `y +=` the solution at the time 1 that begins at `x`. Memory: both halves of a state.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solution<T: Real>(
    mut y: ArrayViewMut2<T>,
    x: ArrayView2<T>,
    w: ArrayView2<T>,
    b: ArrayView1<T>,
    shift: ArrayView2<T>,
    t: ArrayView1<T>,
    steps: usize,
) {
    let mut at: Array2<T> = zeros((x.nrows(), x.ncols()));
    let mut u: Array2<T> = zeros((x.nrows(), x.ncols()));
    at += entries(x);
    begin(&mut u, &x, &w, &b, &shift, &t);
    advance(&mut at, &mut u, &w, &b, &shift, &t, T::one() / (steps as T), steps);
    y += entries(at);
}

/// The same as plain Rust.
pub mod plain {
    use crate::flows::coupling::plain::additive;
    use ndarray::{Array2, ArrayView1, ArrayView2};

    /// `f(x)`.
    pub fn rate(
        x: ArrayView2<f64>,
        network: (ArrayView2<f64>, ArrayView1<f64>),
        out: (ArrayView2<f64>, ArrayView1<f64>),
    ) -> Array2<f64> {
        let mut rate = Array2::zeros(x.dim());
        additive(rate.view_mut(), x, network, out);
        rate
    }

    /// The solution at the time 1.
    pub fn solution(
        x: ArrayView2<f64>,
        network: (ArrayView2<f64>, ArrayView1<f64>),
        out: (ArrayView2<f64>, ArrayView1<f64>),
        steps: usize,
    ) -> Array2<f64> {
        let (mut x, h) = (x.to_owned(), 1.0 / steps as f64);
        let mut u = 0.5 * rate(x.view(), network, out);
        for _ in 0..steps {
            x.scaled_add(h, &u);
            u = rate(x.view(), network, out) - &u;
            x.scaled_add(h, &u);
        }
        x
    }
}
