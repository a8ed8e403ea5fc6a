// A fraction that leaves no room for the number one, in a program and outside of one; one that isn't written out.
use rev_core::scalar::fraction::{U20, U31, U64};
use rev_cpu::prelude::*;

#[reversible]
fn narrow(y: &mut FixedI32<U31>, x: FixedI32<U31>) {
    *y += x;
}

type Places = U20;

#[reversible]
fn renamed(y: &mut FixedI64<Places>, x: FixedI64<Places>) {
    *y += x;
}

#[reversible]
fn generic<T: Real>(y: &mut T, x: T) {
    *y += x;
}

fn main() {
    let mut y = FixedI64::<U64>::ZERO;
    let _ = generic(&mut y, y);
}
