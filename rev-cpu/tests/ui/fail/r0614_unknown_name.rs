use rev_cpu::prelude::*;

#[reversible]
fn typo(total: &mut f64, x: f64) {
    totl += x;
    *total += xx;
}

fn main() {}
