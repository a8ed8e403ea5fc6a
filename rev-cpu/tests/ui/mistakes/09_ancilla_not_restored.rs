use rev_cpu::prelude::*;

#[reversible]
fn normalize(x: &mut [f64]) {
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i];
    }
    for j in 0..x.len() {
        x[j] -= sum;
    }
}

fn main() {}
