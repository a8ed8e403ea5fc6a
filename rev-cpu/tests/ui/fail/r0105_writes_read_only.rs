use ndarray::ArrayView1;
use rev_cpu::prelude::*;

#[reversible]
fn shared(y: &mut f64, x: &f64) {
    *x += *y;
}

#[reversible]
fn value(y: &mut f64, n: usize) {
    *y += 1.0;
    inc(n);
}

#[reversible]
fn view(x: ArrayView1<f64>, y: &mut f64) {
    swap(x[0], y);
}

fn main() {}
