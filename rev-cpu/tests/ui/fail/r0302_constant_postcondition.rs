use rev_cpu::prelude::*;

#[reversible]
fn never_true(y: &mut f64, c: bool) {
    #[post(true)]
    if c {
        *y += 1.0;
    }
}

fn main() {}
