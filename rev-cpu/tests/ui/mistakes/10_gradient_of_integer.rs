use rev_cpu::prelude::*;

#[reversible(loss = n)]
fn count(n: &mut u64, x: &[f64]) {
    for i in 0..x.len() {
        if x[i] > 0.0 {
            *n += 1;
        }
    }
}

fn main() {}
