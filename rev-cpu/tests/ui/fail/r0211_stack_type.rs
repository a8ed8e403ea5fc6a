use rev_cpu::prelude::*;

#[reversible]
fn no_stack(y: &mut f64, x: &mut f64) {
    push(y, x);
}

fn main() {}
