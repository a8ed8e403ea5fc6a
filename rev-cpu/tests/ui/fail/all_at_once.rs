use rev_cpu::prelude::*;

/// Every mistake of a function is shown in one go.
#[reversible]
fn wrong(y: &mut f64, x: &f64, n: usize) {
    let mut a = 0.0;
    *x += 1.0;
    y = 2.0;
    *y += *y;
    while n > 0 {
        a += 1.0;
    }
    let a = 3.0;
    missing += a;
}

fn main() {}
