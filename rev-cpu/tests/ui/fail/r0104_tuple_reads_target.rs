use rev_cpu::prelude::*;

#[reversible]
fn both(a: &mut f64, b: &mut f64) {
    (*a, *b) += (1.0, *a * 2.0);
}

fn main() {}
