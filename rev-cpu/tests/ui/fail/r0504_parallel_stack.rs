use rev_cpu::prelude::*;

#[reversible]
fn outside(x: &mut [f64], st: &mut Stack<f64>) {
    for i in par(0..x.len()) {
        push(st, x[i]);
    }
}

fn main() {}
