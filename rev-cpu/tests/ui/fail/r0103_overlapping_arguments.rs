use rev_cpu::prelude::*;

#[reversible]
fn axpy(y: &mut [f64], x: &[f64], a: f64) {
    for i in 0..x.len() {
        y[i] += a * x[i];
    }
}

#[reversible]
fn overlapping(y: &mut [f64]) {
    axpy(&mut y[0..4], &y[2..6], 2.0);
}

#[reversible]
fn read_and_written(y: &mut [f64], x: &[f64]) {
    axpy(&mut y, &x, y[0]);
}

fn main() {}
