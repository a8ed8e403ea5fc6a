use rev_cpu::prelude::*;

#[pure]
fn nothing(x: f64) {
    x * 2.0
}

#[pure]
fn array(x: f64) -> [f64; 2] {
    [x, x]
}

fn main() {}
