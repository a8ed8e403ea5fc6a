use rev_cpu::prelude::*;

#[reversible(taylor = 3)]
fn square(y: &mut f64, x: f64) {
    *y += x * x;
}

// what it calls has another order
#[reversible(taylor = 2)]
fn twice(y: &mut f64, x: f64) {
    square(&mut y, x);
}

#[pure]
fn cube<T: Real>(x: T) -> T {
    x * x * x
}

#[reversible(taylor = 4)]
fn of_a_pure_function<T: Real>(y: &mut T, x: T) {
    *y += cube(x);
}

#[reversible(taylor = 7)]
fn high(y: &mut f64, x: f64) {
    *y += x;
}

#[reversible]
fn taylor3(y: &mut f64, x: f64) {
    *y += x;
}

fn main() {}
