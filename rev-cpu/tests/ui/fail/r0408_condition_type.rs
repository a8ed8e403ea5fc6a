use rev_cpu::prelude::*;

#[reversible]
fn number(y: &mut f64, k: u32) {
    if k {
        *y += 1.0;
    }
}

fn main() {}
