use rev_cpu::prelude::*;

#[reversible(constant(data))]
fn inner<T: Real>(y: &mut T, w: T, data: &[T]) {
    for i in 0..data.len() {
        *y += w * data[i];
    }
}

#[reversible]
fn outer<T: Real>(y: &mut T, w: T, x: &[T]) {
    inner(&mut *y, w, x);
}

#[reversible(constant(y, z))]
fn written<T: Real>(y: &mut T, x: T) {
    *y += x;
}

fn main() {
    let _ = outer(&mut 1.0, 2.0, &[3.0]);
}
