use rev_cpu::prelude::*;

#[reversible]
fn stale(y: &mut f64, x: &mut f64) {
    let n = *x * 2.0;
    *x += 1.0;
    *y += n;
}

fn main() {}
