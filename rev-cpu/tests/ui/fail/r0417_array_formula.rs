use rev_cpu::prelude::*;

#[reversible]
fn computed(y: &mut f64, x: &[f64]) {
    *y += dot(x, 2.0 * x);
}

fn main() {}
