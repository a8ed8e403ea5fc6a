use rev_cpu::prelude::*;

#[reversible]
fn halve(y: &mut f64, k: &mut u32) {
    while *k < 10 {
        *y += 1.0;
        inc(k);
    }
}

fn main() {}
