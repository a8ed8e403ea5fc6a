use rev_cpu::prelude::*;

#[reversible]
fn returns(y: &mut f64) -> f64 {
    *y += 1.0;
}

#[reversible]
async fn later(y: &mut f64) {
    *y += 1.0;
}

#[reversible]
fn unbounded<S>(y: &mut S, x: S) {
    *y += x;
}

#[reversible]
fn lanes<const LEFT: bool>(y: &mut f64) {
    *y += 1.0;
}

struct Counter;

impl Counter {
    #[reversible]
    fn count(&mut self, n: &mut u32) {
        inc(n);
    }
}

trait Count {
    fn count(&mut self);
}

#[reversible]
impl Count for Counter {
    #[reversible]
    fn count(&mut self) {}
}

#[reversible]
struct NotAFunction;

fn main() {}
