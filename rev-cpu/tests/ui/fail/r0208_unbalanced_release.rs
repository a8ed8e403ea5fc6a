use rev_cpu::prelude::*;

#[reversible]
fn one_branch(y: &mut f64, c: bool) {
    let mut a = 0.0;
    *y += a;
    if c {
        release(a);
    }
}

#[reversible]
fn in_a_loop(y: &mut f64) {
    let mut a = 0.0;
    for _ in 0..3 {
        *y += 1.0;
        release(a);
    }
}

fn main() {}
