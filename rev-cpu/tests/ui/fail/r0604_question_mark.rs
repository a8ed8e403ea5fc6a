use rev_cpu::prelude::*;

#[reversible]
fn inner(y: &mut f64) {
    *y += 1.0;
}

#[reversible]
fn outer(y: &mut f64) {
    inner(&mut y)?;
}

fn main() {}
