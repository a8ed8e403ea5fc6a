use rev_cpu::prelude::*;

#[derive(Clone, Debug, Reversible)]
struct Pair {
    a: f32,
}

#[reversible]
fn convert_all<T: Real>(x: &mut f64, y: &mut f32, t: &mut T, p: &mut Pair, q: &mut Fixed43, lost: &mut Stack<f32>, n: &mut i64) {
    convert(x, y);
    convert(n, x);
    convert(y, x, lost);
    convert(y, t);
    convert(p.a, x);
    convert(q, x);
}

fn main() {}
