//! The leapfrog integrator of a harmonic oscillator, `x'' = -x`: on fixed point it goes forward
//! and back bit for bit, however long it runs.

use rev_cpu::prelude::*;

/// `steps` kick-drift steps of length `dt`.
#[reversible]
pub fn leapfrog<T: Real>(x: &mut T, v: &mut T, dt: T, steps: usize) {
    for _ in 0..steps {
        *v -= *x * dt;
        *x += *v * dt;
    }
}

/// The same as plain Rust.
pub mod plain {
    use std::ops::{AddAssign, Mul, SubAssign};

    /// `steps` kick-drift steps of length `dt`.
    pub fn leapfrog<T>(x: &mut T, v: &mut T, dt: T, steps: usize)
    where
        T: Copy + Mul<Output = T> + AddAssign + SubAssign,
    {
        for _ in 0..steps {
            *v -= *x * dt;
            *x += *v * dt;
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    #[test]
    fn one_period_returns_close_to_the_start() {
        let (mut x, mut v) = (1.0f64, 0.0f64);
        let steps = 10_000;
        super::plain::leapfrog(&mut x, &mut v, std::f64::consts::TAU / f64::from(steps), steps as usize);
        assert_abs_diff_eq!(x, 1.0, epsilon = 1e-3);
        assert_abs_diff_eq!(v, 0.0, epsilon = 1e-3);
    }
}
