use rev_cpu::prelude::*;

#[reversible(loss = y)]
fn many(y: &mut [f64], x: f64) {
    y[0] += x;
}

fn main() {}
