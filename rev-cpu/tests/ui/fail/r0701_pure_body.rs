use rev_cpu::prelude::*;

#[pure]
fn looping(x: f64) -> f64 {
    let mut s = 0.0;
    for _ in 0..3 {
        s += x;
    }
    s
}

#[pure]
fn writes(x: &mut f64) -> f64 {
    x * 2.0
}

fn main() {}
