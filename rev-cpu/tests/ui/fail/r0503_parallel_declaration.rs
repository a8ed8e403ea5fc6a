use rev_cpu::prelude::*;

#[reversible]
fn nothing(y: &mut [f64], idx: &[usize], n: usize) {
    #[injective(n)]
    for i in par(0..n) {
        y[idx[i]] += 1.0;
    }
    #[disjoint(y[0])]
    for i in par(0..n) {
        y[i] += 1.0;
    }
    #[injective(idx)]
    for i in 0..n {
        y[idx[i]] += 1.0;
    }
}

fn main() {}
