use rev_cpu::prelude::*;

#[reversible(loss = k)]
fn count(k: &mut u64, y: &mut f64, x: f64) {
    *k += 1;
    *y += x;
}

fn main() {}
