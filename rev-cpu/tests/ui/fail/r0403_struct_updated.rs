use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Log<T: Real> {
    repr: T,
}

#[derive(Clone, Debug, Reversible)]
struct Pair<T: Real> {
    a: Log<T>,
    b: Log<T>,
}

/// Whether these are numbers, only their type says.
#[reversible]
fn sum(p: &mut Pair<f64>, q: &Pair<f64>) {
    p.a += q.b;
}

fn main() {}
