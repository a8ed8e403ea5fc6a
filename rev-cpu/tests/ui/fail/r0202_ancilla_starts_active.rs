use rev_cpu::prelude::*;

/// The derivative through the first value would be lost.
#[reversible]
fn copy(y: &mut f64, x: f64) {
    let mut a = x;
    *y += a * a;
}

fn main() {}
