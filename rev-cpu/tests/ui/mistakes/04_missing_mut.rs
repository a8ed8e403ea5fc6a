use rev_cpu::prelude::*;

#[reversible]
fn sum_of_squares(y: f64, x: &[f64]) {
    for i in 0..x.len() {
        y += x[i] * x[i];
    }
}

fn main() {}
