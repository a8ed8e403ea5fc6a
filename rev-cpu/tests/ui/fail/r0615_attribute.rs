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

#[reversible]
fn kept(x: &mut f64, k: &mut bool, n: usize) {
    #[keep]
    if *x > 0.0 {
        *x -= 1.0;
    }
    #[keep(*k)]
    #[post(*x > 1.0)]
    if *x > 0.0 {
        *x += 1.0;
    }
    #[keep(*k)]
    for _ in 0..n {
        *x += 1.0;
    }
}

fn main() {}
