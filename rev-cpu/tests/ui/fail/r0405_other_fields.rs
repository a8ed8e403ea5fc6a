use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Point<T: Real> {
    x: T,
    y: T,
}

#[derive(Clone, Debug, Reversible)]
struct Speed<T: Real> {
    x: T,
    y: T,
}

#[reversible]
fn moved<T: Real>(p: &mut Point<T>, v: &Speed<T>) {
    *p += fields(v);
    *p += Point { x: p.y, y: p.x };
}

fn main() {}
