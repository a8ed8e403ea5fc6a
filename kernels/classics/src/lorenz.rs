//! The system of E. N. Lorenz ("Deterministic Nonperiodic Flow", Journal of the Atmospheric Sciences 20 (1963), 130–141) by the classical
//! Runge-Kutta method of fourth order:
//!
//! ```text
//! dx/dt = σ (y - x)     dy/dt = x (ρ - z) - y     dz/dt = x y - β z
//! ```
//!
//! Volumes in it shrink by `e^-(σ + 1 + β)` in a unit of time: a step loses bits that no other step can bring back. So the loop over
//! the steps forgets each state, and keeps those between segments (`#[checkpoint]`): memory is linear in the root of the number of steps, and
//! a value takes four steps for each.

use rev_cpu::prelude::*;

/// `k +=` the rates of change at `x`, with σ, ρ and β in `parameters`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn rates<T: Real>(k: &mut [T; 3], x: &[T; 3], parameters: &[T; 3]) {
    k[0] += parameters[0] * (x[1] - x[0]);
    k[1] += x[0] * (parameters[1] - x[2]) - x[1];
    k[2] += x[0] * x[1] - parameters[2] * x[2];
}

/// `next +=` the state a time `h` after `x`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn step<T: Real>(next: &mut [T; 3], x: &[T; 3], parameters: &[T; 3], h: T) {
    let mut k = [[T::zero(); 3]; 4];
    rates(&mut k[0], x, parameters);
    for stage in 1..4 {
        let ahead = if stage < 3 { h / 2.0 } else { h };
        let mut at = [T::zero(); 3];
        for i in 0..3 {
            at[i] += x[i] + ahead * k[stage - 1][i];
        }
        rates(&mut k[stage], &at, parameters);
    }
    for i in 0..3 {
        next[i] += x[i] + h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
    }
}

/// `end +=` the state after so many steps of length `h` from `start`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn solution<T: Real>(end: &mut [T; 3], start: &[T; 3], parameters: &[T; 3], h: T, steps: usize) {
    let (mut x, mut y, mut z) = (T::zero(), T::zero(), T::zero());
    x += start[0];
    y += start[1];
    z += start[2];
    #[checkpoint]
    for _ in 0..steps {
        let at = [x, y, z];
        let mut next = [T::zero(); 3];
        step(&mut next, &at, parameters, h);
        x = next[0];
        y = next[1];
        z = next[2];
    }
    end[0] += x;
    end[1] += y;
    end[2] += z;
}

/// The same as plain Rust.
pub mod plain {
    /// A step of length `h` of the Runge-Kutta method, of any system.
    fn step<const N: usize>(x: &[f64; N], h: f64, rates: impl Fn(&[f64; N]) -> [f64; N]) -> [f64; N] {
        let ahead = |k: &[f64; N], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
        let a = rates(x);
        let b = rates(&ahead(&a, h / 2.0));
        let c = rates(&ahead(&b, h / 2.0));
        let d = rates(&ahead(&c, h));
        std::array::from_fn(|i| x[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]))
    }

    fn rates([x, y, z]: [f64; 3], [sigma, rho, beta]: [f64; 3]) -> [f64; 3] {
        [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]
    }

    /// The state after so many steps.
    pub fn solution(start: [f64; 3], parameters: [f64; 3], h: f64, steps: usize) -> [f64; 3] {
        (0..steps).fold(start, |x, _| step(&x, h, |x| rates(*x, parameters)))
    }

    /// The derivatives of that state by the start and by the parameters, a row for each number of it: the method on the variational
    /// equations, which are linear in the derivatives, so that these are those of its steps, without a further error.
    pub fn jacobian(
        start: [f64; 3],
        parameters: [f64; 3],
        h: f64,
        steps: usize,
    ) -> ([[f64; 3]; 3], [[f64; 3]; 3]) {
        let variational = |s: &[f64; 21]| {
            let (state, [sigma, rho, beta]) = ([s[0], s[1], s[2]], parameters);
            let [x, y, z] = state;
            let by_state = [[-sigma, sigma, 0.0], [rho - z, -1.0, -x], [y, x, -beta]];
            let by_parameters = [[y - x, 0.0, 0.0], [0.0, x, 0.0], [0.0, 0.0, -z]];
            let mut out = [0.0; 21];
            out[..3].copy_from_slice(&rates(state, parameters));
            for (i, row) in by_state.iter().enumerate() {
                for j in 0..6 {
                    let along: f64 = (0..3).map(|k| row[k] * s[3 + 6 * k + j]).sum();
                    out[3 + 6 * i + j] = along + if j < 3 { 0.0 } else { by_parameters[i][j - 3] };
                }
            }
            out
        };
        let mut s = [0.0; 21];
        s[..3].copy_from_slice(&start);
        (0..3).for_each(|i| s[3 + 7 * i] = 1.0);
        let s = (0..steps).fold(s, |s, _| step(&s, h, variational));
        let part = |from: usize| std::array::from_fn(|i| std::array::from_fn(|j| s[3 + 6 * i + from + j]));
        (part(0), part(3))
    }
}
