use rev_cpu::prelude::*;

#[reversible]
fn mixed(y: &mut f64, n: usize) {
    *y += n;
}

fn main() {}
