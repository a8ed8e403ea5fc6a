use rev_cpu::prelude::*;

#[reversible]
fn hidden(y: &mut f64, x: f64) {
    let mut a = 0.0;
    a += x;
    let a = 2.0;
    *y += a;
}

#[reversible]
fn hidden_in_a_loop(y: &mut f64, x: f64) {
    let mut a = 0.0;
    for a in 0..3 {
        *y += x * a as f64;
    }
}

fn main() {}
