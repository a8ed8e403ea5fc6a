//! R0701: an index into a constant array may be out of range, which a pure function can't say.
use rev_cpu::prelude::*;

const WEIGHTS: [f64; 2] = [1.0, 2.0];

#[pure]
fn weighted(x: f64, i: usize) -> f64 {
    WEIGHTS[i] * x
}

fn main() {}
