use rev_cpu::prelude::*;

#[derive(Clone, Debug)]
struct Spring<T> {
    stiffness: T,
    length: T,
}

#[reversible]
fn energy<T: Real>(e: &mut T, spring: &Spring<T>, x: T) {
    let d = x - spring.length;
    *e += 0.5 * spring.stiffness * d * d;
}

fn main() {}
