use rev_cpu::prelude::*;

#[reversible]
fn choose(y: &mut f64, k: u32) {
    match k {
        0 => *y += 1.0,
        _ => *y += 2.0,
    }
    if let 1 = k {
        *y += 3.0;
    }
}

fn main() {}
