use rev_cpu::prelude::*;

#[reversible]
fn binding(y: &mut f64) {
    let n = 1.0;
    n += 2.0;
    *y += n;
}

#[derive(Clone, Debug, Reversible)]
struct Point<T: Real> {
    x: T,
    y: T,
}

#[reversible]
fn made<T: Real>(d: &mut T, a: T) {
    let p = Point::<T> { x: a, y: 1.0 };
    p.x += a;
    *d += p.x * p.y;
}

fn main() {}
