use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
enum Holding<T: Real> {
    Values(Vec<T>),
    Name(String, T),
}

#[derive(Clone, Debug, Reversible)]
enum Part<'a> {
    Of(&'a f64),
}

#[derive(Clone, Debug, Reversible)]
enum Never {}

#[derive(Clone, Debug, Reversible)]
enum Alike {
    AB(f64),
    A { b_0: f64 },
    None,
}

#[reversible]
fn matched(y: &mut f64, x: Option<Vec<f64>>) {
    if let Some(x) = x {
        *y += x[0];
    }
}

fn main() {}
