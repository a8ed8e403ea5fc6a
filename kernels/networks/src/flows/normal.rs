//! Two uniformly distributed numbers become two normally distributed ones, in place.
//!
//! ```text
//! z₁ = √(-2 ln u₁) cos 2π u₂,  z₂ = √(-2 ln u₁) sin 2π u₂
//! u₁ = e^(-(z₁² + z₂²)/2),     u₂ = arg(z₁ + i z₂) / 2π, from 0 to 1
//! ```
//!
//! Box and Muller, "A note on the generation of random normal deviates" (1958). The old numbers are given up by the formula for them in the new
//! ones: a bijection that neither side is computed from in place, but each from the other. `ln |det ∂z/∂u| = -ln p(z₁) p(z₂)`, which is
//! `ln 2π/u₁`.

use rev_cpu::prelude::*;

/// The angle of a point in turns, from 0 to 1.
#[pure]
pub fn turns<T: Real>(x: T, y: T) -> T {
    let part = y.atan2(x) / (2.0 * T::pi());
    if part < 0.0 {
        part + 1.0
    } else {
        part
    }
}

/// `(u, v) ← (z₁, z₂)` for `u` and `v` between 0 and 1.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn box_muller<T: Real>(u: &mut T, v: &mut T) {
    let mut x = T::zero();
    let mut y = T::zero();
    x += (-2.0 * u.ln()).sqrt() * (2.0 * T::pi() * v).cos();
    y += (-2.0 * u.ln()).sqrt() * (2.0 * T::pi() * v).sin();
    swap(u, x);
    swap(v, y);
    release(x, (-0.5 * (u * u + v * v)).exp());
    release(y, turns(u, v));
}

/// The same of many pairs: rows of N by 2 numbers.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn box_muller_each<T: Real>(pairs: &mut [[T; 2]]) {
    for i in par(0..pairs.len()) {
        box_muller(&mut pairs[i][0], &mut pairs[i][1]);
    }
}

/// The same as plain Rust.
pub mod plain {
    use std::f64::consts::TAU;

    /// Two normally distributed numbers.
    pub fn box_muller(u: f64, v: f64) -> (f64, f64) {
        let (radius, angle) = ((-2.0 * u.ln()).sqrt(), TAU * v);
        (radius * angle.cos(), radius * angle.sin())
    }

    /// The density of the normal distribution.
    pub fn density(x: f64) -> f64 {
        (-0.5 * x * x).exp() / TAU.sqrt()
    }
}
