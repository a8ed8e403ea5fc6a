use rev_cpu::prelude::*;

#[reversible]
fn undecidable(y: &mut f64) {
    if *y > 0.0 {
        *y += 1.0;
    } else {
        *y -= 1.0;
    }
}

fn main() {}
