use rev_cpu::prelude::*;

#[reversible]
fn scale(y: &mut f64, x: f64) {
    *y *= x;
    *y /= 2.0;
}

fn main() {}
