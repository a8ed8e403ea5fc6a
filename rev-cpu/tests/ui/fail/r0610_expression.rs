use rev_cpu::prelude::*;

#[reversible]
fn expressions(y: &mut f64, x: &[f64]) {
    *y += if x[0] > 0.0 { 1.0 };
    for v in x {
        *y += v;
    }
    for i in (0..8).step_by(2).rev().step_by(3) {
        *y += x[i];
    }
}

#[reversible]
fn arrays(y: &mut f64, x: &[f64]) {
    let a: Vec<f64> = zeros(x.len());
    *y += a[0];
}

fn main() {}
