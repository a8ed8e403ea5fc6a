use rev_cpu::prelude::*;

#[reversible]
fn mapped(y: &mut f64, x: f64) {
    let square = |v: f64| v * v;
    *y += square(x);
}

fn main() {}
