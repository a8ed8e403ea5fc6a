use rev_cpu::prelude::*;

#[reversible]
fn condition(y: &mut f64, x: &[f64]) {
    if dot(x, x) > 1.0 {
        *y += 1.0;
    }
}

fn main() {}
