use rev_cpu::prelude::*;

#[reversible]
fn same(a: &mut f64, x: &mut [f64], i: usize) {
    swap(a, a);
    swap(x[i], x[i]);
    rot(x[0], x[0], 0.5);
}

fn main() {}
