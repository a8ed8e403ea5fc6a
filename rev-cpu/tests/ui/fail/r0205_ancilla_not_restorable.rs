use rev_cpu::prelude::*;

/// The running sum of the documentation, and its illegal twin.
#[reversible]
fn prefix(x: &mut [f64]) {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i];
        x[i] += s;
    }
}

#[reversible]
fn changed(y: &mut f64) {
    let mut s = 0.0;
    s += *y;
    *y += s * 2.0;
}

fn main() {}
