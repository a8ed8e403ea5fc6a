use rev_cpu::prelude::*;

#[reversible]
fn rotate(x: &mut [f64]) {
    for i in 0..x.len() {
        swap(x[i], x[i]);
    }
}

fn main() {}
