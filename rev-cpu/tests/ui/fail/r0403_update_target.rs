use rev_cpu::prelude::*;

#[reversible]
fn arrays(y: &mut [f64], x: &[f64]) {
    y += x;
}

fn main() {}
