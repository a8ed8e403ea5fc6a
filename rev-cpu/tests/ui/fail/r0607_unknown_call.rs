use rev_cpu::prelude::*;

fn plain(y: &mut f64) {
    *y += 1.0;
}

fn value(x: f64) -> f64 {
    x
}

#[pure]
fn square(x: f64) -> f64 {
    x * x
}

#[derive(Clone, Debug, Reversible)]
struct Body {
    x: f64,
}

#[reversible]
impl Body {
    #[reversible]
    fn energy(&self, e: &mut f64) {
        *e += self.x * self.x;
    }
}

#[reversible]
fn outside(y: &mut f64, log: &mut Vec<f64>) {
    log.push(*y);
    *y += y.rem_euclid(2.0);
}

#[reversible]
fn calls(y: &mut f64, x: f64, b: &mut Body) {
    plain(&mut y);
    misspelt(&mut y);
    square(&mut y);
    *y += value(x) + unknown(x);
    b.energie(&mut y);
    b.energy(&mut y);
}

fn main() {
    let mut y = 0.0;
    passes(&mut y, |y: &mut f64| *y += 1.0).unwrap();
}

#[reversible]
fn passes(y: &mut f64, f: impl Reversible<(&mut f64,)>) {
    f(&mut y);
}
