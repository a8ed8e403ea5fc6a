//! The first programs: values and inverses.

use rev_cpu::prelude::*;

#[reversible]
fn multiply<T: Real>(y: &mut T, a: T, b: T) {
    *y += a * b;
}

#[reversible]
fn dot<T: Real>(y: &mut T, a: &[T], b: &[T]) {
    let mut s = T::zero();
    for i in 0..a.len() {
        s += a[i] * b[i];
    }
    *y += s;
}

#[test]
fn values_and_inverses() {
    let mut y = 2.0;
    multiply(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 17.0);
    multiply::inverse(&mut y, 3.0, 5.0).unwrap();
    assert_eq!(y, 2.0);
    dot(&mut y, &[1.0, 2.0], &[10.0, 20.0]).unwrap();
    assert_eq!(y, 52.0);
}
