use rev_cpu::prelude::*;

#[reversible]
fn patterns(y: &mut f64, (a, b): (f64, f64), x: [f64; 2]) {
    let [c, d] = x;
    let later;
    *y += 1.0;
}

fn main() {}
