use rev_cpu::prelude::*;

#[pure]
fn cube(x: f64) -> f64 {
    x * x * x
}

// what it calls has no third derivative
#[pure(order = 3)]
fn twice(x: f64) -> f64 {
    cube(x) + x
}

#[reversible(tangent, adjoint)]
fn energy(y: &mut f64, x: f64) {
    *y += cube(x);
}

#[pure]
fn mirrored<T: Field>(z: T) -> T {
    z * z.conj()
}

#[reversible]
fn length<T: Field>(y: &mut T, z: T) {
    *y += mirrored(z);
}

#[pure(order = 10)]
fn often(x: f64) -> f64 {
    x
}

#[pure(times = 2)]
fn unknown(x: f64) -> f64 {
    x
}

fn main() {}
