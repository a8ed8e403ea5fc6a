use rev_cpu::prelude::*;

#[reversible]
fn apply(y: &mut f64, x: f64, f: impl Reversible<(&mut f64, f64)>) {
    f(*y, x);
}

fn main() {}
