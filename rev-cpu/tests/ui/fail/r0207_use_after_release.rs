use rev_cpu::prelude::*;

#[reversible]
fn late(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    a -= x;
    release(a);
    *y += a;
}

fn main() {}
