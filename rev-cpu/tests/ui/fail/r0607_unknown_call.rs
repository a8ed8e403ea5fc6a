use rev_cpu::prelude::*;

#[reversible]
fn outside(y: &mut f64, log: &mut Vec<f64>) {
    log.push(*y);
    *y += y.rem_euclid(2.0);
}

fn main() {}
