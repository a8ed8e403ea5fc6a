use rev_cpu::prelude::*;

#[reversible]
fn double(y: &mut f64, x: f64) {
    *y = 2.0 * x;
}

fn main() {}
