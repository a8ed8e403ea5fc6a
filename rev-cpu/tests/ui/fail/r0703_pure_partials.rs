use rev_cpu::prelude::*;

#[pure(d(x) = 2.0 * x)]
fn missing(x: f64, y: f64) -> f64 {
    x * x + y
}

#[pure(d(x) = 2.0 * x, d(z) = 1.0, d(n) = 0.0)]
fn unknown(x: f64, n: usize) -> f64 {
    x * x * n as f64
}

#[pure]
fn chosen<T: Scalar>(which: bool, a: T, b: T) -> T {
    if which {
        a
    } else {
        b
    }
}

#[derive(Clone, Debug, Reversible)]
struct Pair<T: Scalar> {
    a: T,
    n: usize,
}

#[pure]
fn first<T: Scalar>(pair: Pair<T>) -> T {
    pair.a
}

fn main() {}
