use rev_cpu::prelude::*;

#[reversible]
fn mixed(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    swap(a, y);
}

fn main() {}
