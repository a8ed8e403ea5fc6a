use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Point<T: Real> {
    x: T,
}

#[reversible]
fn by_fields<T: Real>(y: &mut T, s: &Point<T>) {
    let mut p = Point::zero();
    p += fields(s);
    *y += p.x;
}

#[reversible]
fn as_number<T: Real>(y: &mut T, s: &Point<T>) {
    let mut p = Point::zero();
    p += s;
    *y += p.x;
}

#[reversible]
fn grows<T: Real>(y: &mut T, s: &Point<T>) {
    let mut t = Vec::new();
    *y += s.x;
}

#[reversible]
fn as_in_rust<T: Real>(y: &mut T, x: &[T]) {
    *y += x[0].pow(2);
    *y += x.iter().sum();
}

fn main() {}
