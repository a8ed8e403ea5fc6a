use rev_cpu::prelude::*;

#[reversible]
fn race(y: &mut [f64], x: &[f64]) {
    for i in par(0..x.len()) {
        swap(y[0], y[i]);
    }
}

/// Legal only if declared: nothing proves that the halves don't meet.
#[reversible]
fn reverse(a: &mut [f64], n: usize) {
    for i in par(0..n / 2) {
        swap(a[i], a[n - 1 - i]);
    }
}

fn main() {}
