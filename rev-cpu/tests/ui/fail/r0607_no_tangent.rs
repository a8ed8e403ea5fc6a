use rev_cpu::prelude::*;

#[reversible]
fn square(y: &mut f64, x: f64) {
    *y += x * x;
}

// what it calls has no tangent
#[reversible(tangent)]
fn twice(y: &mut f64, x: f64) {
    square(&mut y, x);
}

#[reversible]
fn slope(y: &mut f64, x: f64) {
    let mut value = 0.0;
    let mut value_dot = 0.0;
    let mut x_bar = 0.0;
    square::tangent(&mut value, &mut value_dot, x, 1.0);
    square::gradient(x, &mut x_bar);
    *y += value_dot + x_bar;
}

#[reversible(tangent = 5)]
fn often(y: &mut f64, x: f64) {
    *y += x;
}

fn main() {}
