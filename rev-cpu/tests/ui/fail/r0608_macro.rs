use rev_cpu::prelude::*;

#[reversible]
fn prints(y: &mut f64) {
    println!("{}", y);
    *y += 1.0;
}

fn main() {}
