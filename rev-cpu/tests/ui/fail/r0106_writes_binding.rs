use rev_cpu::prelude::*;

#[reversible]
fn binding(y: &mut f64) {
    let n = 1.0;
    n += 2.0;
    *y += n;
}

fn main() {}
