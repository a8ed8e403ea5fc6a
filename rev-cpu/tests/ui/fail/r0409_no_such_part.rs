use rev_cpu::prelude::*;

#[reversible]
fn parts(y: &mut f64, x: f64, t: (f64, f64)) {
    *y += x.re + t.2 + x[0];
}

fn main() {}
