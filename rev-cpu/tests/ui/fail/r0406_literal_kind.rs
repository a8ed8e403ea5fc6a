use rev_cpu::prelude::*;

#[reversible]
fn fraction(k: &mut i32) {
    *k += 0.5;
}

fn main() {}
