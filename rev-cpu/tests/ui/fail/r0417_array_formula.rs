use rev_cpu::prelude::*;

#[reversible]
fn wrong(c: &mut Array2<f64>, a: &Array2<f64>, x: &[f64], y: &mut f64) {
    c += matmul(a, 2.0 * a);
    c += contract("ik,kj->", a, a);
    c += contract("ik;kj", a, a);
    *y += dot(a.t(), a);
    lower(c) += 1.0;
    if sum(x) > 0.0 {
        *y += 1.0;
    }
    c += matmul(c, a);
    c += matmul(a, x);
}

fn main() {}
