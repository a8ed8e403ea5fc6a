use ndarray::Array2;
use rev_cpu::prelude::*;

#[reversible]
fn keep(kept: &mut Stack<Vec<f64>>, numbers: &mut Stack<f64>, x: &mut [f64], y: &mut [f64; 3], z: &mut Array2<f64>) {
    push(kept, y);
    push(kept, x[0]);
    push(kept, z);
    push(numbers, x);
    push(kept, x[1..3]);
}

#[reversible]
fn matrices(y: &mut f64, z: &mut Array2<f64>) {
    let mut kept = Stack::new();
    push(kept, z);
    pop(kept, z);
}

#[reversible]
fn rows(deep: &mut Stack<Vec<Vec<f64>>>, x: &mut [f64]) {
    push(deep, x);
}

fn main() {}
