use rev_cpu::prelude::*;

#[reversible]
fn moved(y: &mut f64, k: &mut usize) {
    let mut a = *k;
    a += 1;
    *k += 1;
    *y += a as f64;
}

fn main() {}
