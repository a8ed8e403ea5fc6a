use rev_cpu::prelude::*;

#[reversible(loss = energy)]
fn total(y: &mut f64, x: f64) {
    *y += x;
}

fn main() {}
