use rev_cpu::prelude::*;

#[reversible]
fn mean(y: &mut f64, x: &[f64]) {
    for i in 0..x.len() {
        *y += x[i] / x.len();
    }
}

fn main() {}
