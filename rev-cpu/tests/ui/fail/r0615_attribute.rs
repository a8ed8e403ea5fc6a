use rev_cpu::prelude::*;

#[reversible]
fn attributes(y: &mut f64, n: usize) {
    #[post(true)]
    for i in 0..n {
        *y += i as f64;
    }
    #[cfg(test)]
    {
        *y += 1.0;
    }
}

#[reversible(fast)]
fn option(y: &mut f64) {
    *y += 1.0;
}

#[reversible(adjoint)]
fn parts(y: &mut f64, z: Complex<f64>) {
    *y += z.norm_sqr();
}

fn main() {}
