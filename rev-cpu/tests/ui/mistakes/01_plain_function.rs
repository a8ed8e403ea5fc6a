use rev_cpu::prelude::*;

fn square(x: f64) -> f64 {
    x * x
}

#[reversible]
fn add_square(y: &mut f64, x: f64) {
    *y += square(x);
}

fn main() {}
