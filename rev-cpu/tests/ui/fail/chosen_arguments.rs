//! Derivatives by what isn't an argument of the function, and second derivatives of what has no loss.

use rev_cpu::prelude::*;

#[reversible(tangent)]
fn line<T: Real>(y: &mut T, x: T, k: T) {
    *y += k * x;
}

#[reversible(tangent)]
fn other<T: Real>(y: &mut T, x: T, k: T) {
    *y += k + x;
}

#[reversible(tangent)]
fn lines<T: Real>(y: &mut [T], x: &[T]) {
    for i in 0..x.len() {
        y[i] += x[i] * x[i];
    }
}

fn main() {
    let cpu = Cpu::new();
    let _ = line::gradient_wrt(&cpu, other::X, 1.0, 2.0);
    let _ = line::hessian_wrt(&cpu, line::X | other::K, 1.0, 2.0);
    let _ = line::hessian_wrt(&cpu, line::X.forward(), 1.0, 2.0);
    let _ = line::jvp_wrt(&cpu, &[other::X.along(&1.0)], &0.0, 1.0, 2.0);
    let _ = line::gradient_wrt(&cpu, line::Z, 1.0, 2.0);
    let _ = lines::hessian(&cpu, &[0.0], &[1.0]);
}
