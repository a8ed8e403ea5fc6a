use rev_cpu::prelude::*;

#[reversible]
fn divide(x: &mut u32, quotient: &mut u32, by: u32) {
    while *x >= by {
        *x -= by;
        *quotient += 1;
    }
}

fn main() {}
