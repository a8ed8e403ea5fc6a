//! Kepler's problem by leapfrog: a planet around a fixed sun, millions of steps there and back.
//!
//! ```text
//! x'' = -x / |x|³,   E = |v|²/2 - 1/|x|
//! ```
//!
//! Velocity Verlet (L. Verlet, Phys. Rev. 159 (1967), 98) is a chain of shears, of the velocity by the force and of the position by the velocity.
//! Each is undone by subtracting what was added: exactly in fixed point, up to rounding in floats, as J.-G. Liu and T. Zhao measure it in
//! "Differentiate everything with a reversible embedded domain-specific language" (2020), figure 6. The method keeps areas in phase space, so
//! that the energy's error doesn't grow with the number of steps.
//!
//! Units: the sun attracts with the strength 1, so that an orbit with half axis 1 takes `2π`. State and gradient take the memory of a few
//! numbers, whatever the number of steps.

use rev_cpu::prelude::*;

/// The velocity changes by `time` times the force.
#[cfg_attr(feature = "tangents", reversible(tangent, inverse_adjoint))]
#[cfg_attr(not(feature = "tangents"), reversible(inverse_adjoint))]
pub fn kick<T: Real>(velocity: &mut [T; 2], position: &[T; 2], time: T) {
    let square = position[0] * position[0] + position[1] * position[1];
    let pull = time / (square * square.sqrt());
    for k in 0..2 {
        velocity[k] -= position[k] * pull;
    }
}

/// The position changes by `time` times the velocity.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn drift<T: Real>(position: &mut [T; 2], velocity: &[T; 2], time: T) {
    for k in 0..2 {
        position[k] += velocity[k] * time;
    }
}

/// `steps` steps of velocity Verlet of length `dt`. Between two of them the halves of two kicks are one.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn orbit<T: Real>(position: &mut [T; 2], velocity: &mut [T; 2], dt: T, steps: usize) {
    kick(&mut velocity, &position, dt / 2.0);
    for _ in 0..steps {
        drift(&mut position, &velocity, dt);
        kick(&mut velocity, &position, dt);
    }
    kick::inverse(&mut velocity, &position, dt / 2.0);
}

/// Where a planet with half axis 1 is closest to the sun, and its velocity there: an orbit of the eccentricity `e`, `0 ≤ e < 1`, with energy
/// -1/2.
pub fn perihelion(e: f64) -> ([f64; 2], [f64; 2]) {
    ([1.0 - e, 0.0], [0.0, ((1.0 + e) / (1.0 - e)).sqrt()])
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// The velocity changes by `time` times the force.
    pub fn kick<T: Float>(velocity: &mut [T; 2], position: &[T; 2], time: T) {
        let square = position[0] * position[0] + position[1] * position[1];
        let pull = time / (square * square.sqrt());
        velocity.iter_mut().zip(position).for_each(|(v, x)| *v = *v - *x * pull);
    }

    /// `steps` steps of velocity Verlet of length `dt`.
    pub fn orbit<T: Float>(position: &mut [T; 2], velocity: &mut [T; 2], dt: T, steps: usize) {
        let half = dt / (T::one() + T::one());
        kick(velocity, position, half);
        for _ in 0..steps {
            position.iter_mut().zip(&*velocity).for_each(|(x, v)| *x = *x + *v * dt);
            kick(velocity, position, dt);
        }
        kick(velocity, position, -half);
    }

    /// `|v|²/2 - 1/|x|`.
    pub fn energy<T: Float>(position: [T; 2], velocity: [T; 2]) -> T {
        let square = velocity[0] * velocity[0] + velocity[1] * velocity[1];
        square / (T::one() + T::one()) - T::one() / position[0].hypot(position[1])
    }
}
