use rev_cpu::prelude::*;

#[reversible]
fn growing(y: &mut f64, n: &mut usize) {
    for i in 0..*n {
        *y += i as f64;
        *n += 1;
    }
}

fn main() {}
