use rev_cpu::prelude::*;

#[reversible]
fn add<T: Real>(y: &mut T, x: T) {
    *y += x;
}

#[reversible]
fn lost<T: Real>(y: &mut T, x: T) {
    let mut r = T::zero();
    add(r, x);
    *y += r;
}

#[reversible]
fn count_and_add<T: Real>(n: &mut usize, y: &mut T, x: T) {
    inc(n);
    *y += x;
}

#[reversible]
fn lost_beside_another<T: Real>(y: &mut T, x: T) {
    let mut n = 0usize;
    let mut r = T::zero();
    count_and_add(&mut n, r, x);
    *y += r;
}

fn main() {}
