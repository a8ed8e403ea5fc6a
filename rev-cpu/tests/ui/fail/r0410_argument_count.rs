use rev_cpu::prelude::*;

#[reversible]
fn counts(y: &mut f64, x: f64) {
    *y += x.powi() + atan2(x);
    swap(y);
}

fn main() {}
