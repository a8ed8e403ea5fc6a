use rev_cpu::prelude::*;

#[reversible]
fn changed(y: &mut f64, xs: &mut [f64], a: ArrayView2<f64>) {
    for x in &mut xs {
        *x += 1.0;
    }
    for x in a.iter() {
        *y += x;
    }
    for x in xs.iter().enumerate() {
        *y += x;
    }
    for x in xs.iter().enumerate().enumerate() {
        *y += x;
    }
}

#[reversible]
fn written(xs: &mut [f64], ys: &[f64]) {
    for y in ys {
        y += 1.0;
    }
    for x in xs.iter() {
        xs[0] += x;
    }
}

fn main() {}
