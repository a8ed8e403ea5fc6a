use rev_cpu::prelude::*;

#[reversible]
fn overwrite(y: &mut f64, x: &[f64]) {
    *y = x[0] + 1.0;
}

fn main() {}
