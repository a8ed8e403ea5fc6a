use rev_cpu::prelude::*;

const WIDTH: usize = 2;

#[reversible]
fn twice<T: Real, const N: usize>(y: &mut [T; N * WIDTH], x: &[T; 2]) {
    let n = x.len();
    let mut t = [T::zero(); N + 1];
    let mut u = [T::zero(); n];
    let mut v = [T::zero(); x.len() + 1];
    let mut w = [T::zero(); { let k = 3; k }];
    t[0] += x[0];
    u[0] += x[0];
    v[0] += x[0];
    w[0] += x[0];
    y[0] += x[0];
}

fn main() {}
