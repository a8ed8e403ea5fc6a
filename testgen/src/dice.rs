//! Seeded random choices.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A seeded source of choices: the same seed gives the same choices on every machine.
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The choices of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 to before `n` (0 where `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            self.0.random_range(0..n)
        }
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number in an interval, with two decimals so that programs stay readable.
    pub fn decimal(&mut self, low: f64, high: f64) -> f64 {
        let v: f64 = self.0.random_range(low..high);
        (v * 100.0).round() / 100.0
    }

    /// A number in an interval.
    pub fn real(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    /// One of the items, `None` of none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// The numbers from 0 to before `n` in random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut out: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            out.swap(i, self.below(i + 1));
        }
        out
    }
}
