use rev_cpu::prelude::*;

#[reversible]
fn part(y: &mut [f64], x: &[f64]) {
    let first = x[0..2];
    y[0] += first[0];
}

fn main() {}
