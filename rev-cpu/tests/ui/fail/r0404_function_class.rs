use rev_cpu::prelude::*;

/// A complex number has no order, an integer no sine, a ring no quotient.
#[reversible]
fn order(y: &mut f64, z: Complex<f64>) {
    if z < Complex::new(0.0, 0.0) {
        *y += 1.0;
    }
}

#[reversible]
fn sine(k: &mut i64, n: i64) {
    *k += n.sin();
}

#[reversible]
fn quotient<T: Ring>(y: &mut T, x: T) {
    *y += x / x;
}

fn main() {}
