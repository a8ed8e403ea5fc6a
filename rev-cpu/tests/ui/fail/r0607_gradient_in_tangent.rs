use rev_cpu::prelude::*;

#[reversible(adjoint)]
fn potential<T: Real>(y: &mut T, x: T) {
    *y += x * x * x;
}

#[reversible(tangent, adjoint)]
fn force<T: Real>(f: &mut T, x: T) {
    potential::gradient(x, &mut f);
}

fn main() {}
