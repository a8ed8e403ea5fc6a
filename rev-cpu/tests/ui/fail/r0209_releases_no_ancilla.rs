use rev_cpu::prelude::*;

#[reversible]
fn argument(y: &mut f64) {
    *y += 1.0;
    release(y);
}

fn main() {}
