use rev_cpu::prelude::*;

#[reversible]
fn part_of_a_sum<T: Real>(y: &mut T, a: T, b: T) {
    *y += a + fused(a * b);
}

fn main() {}
