use rev_cpu::prelude::*;

#[reversible]
fn whole(n: &mut i64, x: f64) {
    *n += x as _;
}

fn main() {}
