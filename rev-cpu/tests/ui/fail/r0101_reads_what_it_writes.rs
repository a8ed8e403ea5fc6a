use rev_cpu::prelude::*;

/// A variable, an operand, a part, equal elements, and `^=`.
#[reversible]
fn variable(y: &mut f64) {
    *y += *y * 2.0;
}

#[reversible]
fn operand(a: &mut f64, b: &mut f64) {
    rot(a, b, *a);
}

#[reversible]
fn part(z: &mut (f64, f64)) {
    z.0 += z.0;
}

#[reversible]
fn element(x: &mut [f64], i: usize) {
    x[i + 1] += x[1 + i];
}

#[reversible]
fn xor(k: &mut u32) {
    *k ^= *k;
}

fn main() {}
