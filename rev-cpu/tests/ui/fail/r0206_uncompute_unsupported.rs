use rev_cpu::prelude::*;

#[reversible]
fn popped(y: &mut f64, st: &mut Stack<f64>) {
    let mut a = 0.0;
    pop(st, a);
    *y += a;
}

fn main() {}
