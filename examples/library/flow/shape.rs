//! Pictures that points are drawn from: the inside of a shape, evenly black.

use clap::ValueEnum;
use ndarray::Array2;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// All pictures lie within this square around the origin.
pub const SIDE: f64 = 2.5;

/// How finely areas are measured, each way.
const CELLS: usize = 1000;

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Two half rings, each with an end in the other one
    Moons,
    /// A ring
    Ring,
    /// Two arms around the origin, for which 16 layers and 10000 steps do
    Spiral,
    /// A heart
    Heart,
}

impl Shape {
    /// Whether a point is in it.
    pub fn contains(self, x: f64, y: f64) -> bool {
        match self {
            Shape::Moons => {
                let half = |x: f64, y: f64| y > 0.0 && ((x * x + y * y).sqrt() - 1.2).abs() < 0.18;
                let (x, y) = (x / 1.25, y / 1.25);
                half(x + 0.6, y + 0.25) || half(0.6 - x, 0.25 - y)
            }
            Shape::Ring => ((x * x + y * y).sqrt() - 1.5).abs() < 0.25,
            Shape::Spiral => {
                let (radius, angle) = ((x * x + y * y).sqrt(), y.atan2(x));
                // the distance from the nearest arm, in turns; arms are half a turn apart
                let turns = (radius / 1.1 - angle / std::f64::consts::TAU).rem_euclid(0.5);
                (0.3..2.2).contains(&radius) && (turns - 0.25).abs() < 0.12
            }
            Shape::Heart => {
                let (x, y) = (x / 1.4, y / 1.4 + 0.1);
                let round = x * x + y * y - 1.0;
                round * round * round < x * x * y * y * y
            }
        }
    }

    /// Points in it, one in each row.
    pub fn sample(self, points: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
        let mut all = Array2::zeros((points, 2));
        for mut row in all.outer_iter_mut() {
            let (x, y) = loop {
                let (x, y) = (rng.random_range(-SIDE..SIDE), rng.random_range(-SIDE..SIDE));
                if self.contains(x, y) {
                    break (x, y);
                }
            };
            row[0] = x;
            row[1] = y;
        }
        all
    }

    /// The entropy of its points, the logarithm of its area: no flow has a smaller mean of `-ln p`.
    pub fn entropy(self) -> f64 {
        let at = |k: usize| SIDE * (2.0 * (k as f64 + 0.5) / CELLS as f64 - 1.0);
        let inside = (0..CELLS * CELLS).filter(|&k| self.contains(at(k % CELLS), at(k / CELLS))).count();
        (4.0 * SIDE * SIDE * inside as f64 / (CELLS * CELLS) as f64).ln()
    }
}
