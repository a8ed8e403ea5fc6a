use rev_cpu::prelude::*;

#[reversible]
fn stands_still(y: &mut f64, n: usize) {
    for i in (0..n).step_by(0) {
        *y += i as f64;
    }
}

fn main() {}
