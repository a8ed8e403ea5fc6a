//! R0106: a constant array is only read.
use rev_cpu::prelude::*;

const WEIGHTS: [f64; 2] = [1.0, 2.0];

#[reversible]
fn writes(x: f64, i: usize) {
    WEIGHTS[i] += x;
}

fn main() {}
