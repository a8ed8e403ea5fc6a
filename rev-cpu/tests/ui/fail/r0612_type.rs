use ndarray::ArrayView1;
use rev_cpu::prelude::*;

#[reversible]
fn types(y: &mut f64, owned: Vec<f64>, f: fn(f64) -> f64, s: &mut ArrayView1<f64>, o: Box<f64>) {
    *y += 1.0;
}

#[derive(Clone, Debug, Reversible)]
struct Shape;

#[derive(Clone, Debug, Reversible)]
struct Cloud {
    rows: Vec<Vec<f64>>,
    any: ndarray::ArrayD<f64>,
    pair: (Stack<f64>, f64),
}

/// Nothing more is said where the struct is used.
#[reversible]
fn uses(y: &mut f64, cloud: &mut Cloud, others: &[Cloud]) {
    *y += 1.0;
}

#[reversible]
fn nested(y: &mut f64, rows: &mut [Vec<f64>], pair: &(Stack<f64>, f64), fixed: &[Vec<f64>; 3]) {
    *y += 1.0;
}

#[derive(Clone, Debug)]
struct Plain {
    x: f64,
}

#[derive(Clone, Debug, Reversible)]
struct Outer {
    a: f64,
    inner: Plain,
}

fn main() {}
