use rev_cpu::prelude::*;

#[reversible]
fn neighbours(y: &mut [f64], n: usize) {
    for i in par(0..n) {
        y[i] += y[i + 1];
    }
}

#[reversible]
fn running(s: &mut f64, x: &mut [f64], y: &[f64]) {
    for i in par(0..y.len()) {
        *s += y[i];
        x[i] += *s;
    }
}

fn main() {}
