use rev_cpu::prelude::*;

#[reversible]
fn stale(y: &mut f64, x: &mut [f64], i: usize, j: usize) {
    let n = x[i];
    x[j] += 1.0;
    *y += n;
}

fn main() {}
