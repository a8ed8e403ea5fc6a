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

#[derive(Clone, Debug, Reversible)]
struct Layer<T: Real> {
    w: Vec<T>,
    b: T,
}

/// Nothing says how long the vector is.
#[reversible]
fn made<T: Real>(y: &mut T, x: &[T]) {
    let mut l = Layer::<T> { w: vec![T::zero(); 3], b: x[0] };
    l.w[0] += x[1];
    *y += l.w[0] * l.b;
}

fn main() {}
