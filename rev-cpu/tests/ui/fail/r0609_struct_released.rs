use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Pair<T: Real> {
    a: T,
    b: T,
}

#[reversible]
fn released<T: Real>(y: &mut T, x: T) {
    let mut p = Pair::<T> { a: x, b: 1.0 };
    *y += p.a * p.b;
    release(p);
}

#[reversible]
fn named<T: Real>(y: &mut T, x: T) {
    let p = Pair::<T> { a: x, b: 1.0 };
    *y += p.a;
}

fn main() {}
