//! Derivatives against finite differences, and how far numbers are apart.

use std::io::{self, Write};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{number, Outcome, Report};

/// How many coordinates are compared.
const SAMPLES: usize = 20;

/// The largest difference that is good: an order above what the differences themselves are off
/// by on the largest instances.
const TOLERANCE: f64 = 1e-5;

/// The length of a step, relative to coordinates above 1.
const STEP: f64 = 1e-3;

/// Comparisons made and how they came out.
pub struct Checks {
    report: Report,
    worst: f64,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks::new()
    }
}

impl Checks {
    /// None yet.
    pub fn new() -> Checks {
        let columns = ["coordinate", "derivative", "finite difference", "difference"];
        Checks { report: Report::new("Derivatives against finite differences", &columns), worst: 0.0 }
    }

    /// Random numbers below `count`, the same in every run.
    pub fn coordinates(count: usize) -> impl Iterator<Item = usize> {
        let mut rng = ChaCha8Rng::seed_from_u64(20);
        (0..SAMPLES).map(move |_| rng.random_range(0..count.max(1)))
    }

    /// Compares a derivative at `x` with the differences of `value`, which gives
    /// `f(x + h) - f(x - h)` for a step `h`, by the formula of fourth order.
    pub fn compare<E>(
        &mut self,
        name: String,
        derivative: f64,
        x: f64,
        mut difference: impl FnMut(f64) -> Result<f64, E>,
    ) -> Result<(), E> {
        let h = STEP * x.abs().max(1.0);
        let slope = (8.0 * difference(h)? - difference(2.0 * h)?) / (12.0 * h);
        let off = (derivative - slope).abs() / (derivative.abs() + slope.abs()).max(1.0);
        // NaN has to count as the worst
        self.worst = if off > self.worst || off.is_nan() { off } else { self.worst };
        self.report.row([name, number(derivative), number(slope), format!("{off:.1e}")]);
        Ok(())
    }

    /// Prints the comparisons.
    pub fn finish(self) -> io::Result<Outcome> {
        self.report.print()?;
        let (worst, good) = (self.worst, self.worst <= TOLERANCE);
        let verdict = if good { "within" } else { "NOT within" };
        writeln!(io::stdout().lock(), "largest difference {worst:.1e}, {verdict} {TOLERANCE:e}")?;
        Ok(if good { Outcome::Good } else { Outcome::CheckFailed })
    }
}

/// The largest magnitude of numbers; NaN if one of them is.
pub fn largest<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> f64 {
    let larger = |most: f64, v: &f64| if most.is_nan() || v.abs() <= most { most } else { v.abs() };
    numbers.into_iter().fold(0.0, larger)
}
