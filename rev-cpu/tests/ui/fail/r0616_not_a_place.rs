use rev_cpu::prelude::*;

#[reversible]
fn values(y: &mut f64, x: f64) {
    x * 2.0 += *y;
    swap(y, 1.0);
}

fn main() {}
