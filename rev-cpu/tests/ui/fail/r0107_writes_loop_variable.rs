use rev_cpu::prelude::*;

#[reversible]
fn counts(y: &mut usize) {
    for i in 0..10 {
        i += 1;
        *y += i;
    }
}

fn main() {}
