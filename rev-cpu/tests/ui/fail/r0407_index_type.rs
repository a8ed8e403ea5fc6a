use ndarray::ArrayView2;
use rev_cpu::prelude::*;

#[reversible]
fn signed(y: &mut [f64], i: i32, x: ArrayView2<f64>) {
    y[i] += 1.0;
    y[0] += x[0];
}

fn main() {}
