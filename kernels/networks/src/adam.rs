//! Adam, which takes gradients and moves parameters: plain Rust, for the programs here to be trained with.
//!
//! ```text
//! m ← β₁ m + (1 - β₁) g,  v ← β₂ v + (1 - β₂) g²,  x ← x - rate m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + ε)
//! ```
//!
//! Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1, with its `β₁ = 0.9`, `β₂ = 0.999`, `ε = 1e-8`.

/// The state of a search: two numbers for each parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// The length of a step; it may be changed between steps.
    pub rate: f64,
    moments: Vec<[f64; 2]>,
    steps: i32,
}

/// `β₁` and `β₂`.
const DECAY: [f64; 2] = [0.9, 0.999];

/// `ε`
const EPSILON: f64 = 1e-8;

impl Adam {
    /// Before the first step, for a number of parameters.
    pub fn new(rate: f64, parameters: usize) -> Adam {
        Adam { rate, moments: vec![[0.0; 2]; parameters], steps: 0 }
    }

    /// Moves parameters by their gradient, both in the same order at each step. What is beyond the number of parameters stays.
    pub fn step<'a>(
        &mut self,
        parameters: impl IntoIterator<Item = &'a mut f64>,
        gradient: impl IntoIterator<Item = &'a f64>,
    ) {
        self.steps = self.steps.saturating_add(1);
        let unbias = DECAY.map(|decay| 1.0 / (1.0 - decay.powi(self.steps)));
        for ((x, g), moments) in parameters.into_iter().zip(gradient).zip(&mut self.moments) {
            let new = [*g, g * g];
            for k in 0..2 {
                moments[k] = DECAY[k] * moments[k] + (1.0 - DECAY[k]) * new[k];
            }
            *x -= self.rate * moments[0] * unbias[0] / ((moments[1] * unbias[1]).sqrt() + EPSILON);
        }
    }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq};

    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut x = [1.0, -2.0, 3.0];
        Adam::new(0.01, 3).step(&mut x, &[5.0, -0.1, 0.0]);
        assert_abs_diff_eq!(x[0], 0.99, epsilon = 1e-9);
        assert_abs_diff_eq!(x[1], -1.99, epsilon = 1e-8);
        assert_eq!(x[2], 3.0);
    }

    #[test]
    fn a_narrow_valley() {
        let (mut x, mut adam) = ([1.0, 1.0], Adam::new(0.05, 2));
        for _ in 0..2000 {
            let slope = [2.0 * x[0], 200.0 * x[1]];
            adam.step(&mut x, &slope);
        }
        assert!(x.iter().all(|&v| abs_diff_eq!(v, 0.0, epsilon = 1e-6)), "{x:?}");
    }
}
