use rev_cpu::prelude::*;

#[reversible]
fn argument(x: &mut f64, steps: usize) {
    #[checkpoint]
    for _ in 0..steps {
        x = 0.5 * x;
    }
}

#[reversible]
fn downwards(y: &mut f64, x0: f64, steps: usize) {
    let mut x = 0.0;
    x += x0;
    #[checkpoint(every = 10)]
    for _ in (0..steps).rev() {
        x = 0.5 * x;
    }
    *y += x;
}

#[reversible]
fn in_parallel(y: &mut f64, steps: usize) {
    let mut u = vec![0.0; 10];
    #[checkpoint]
    for _ in 0..steps {
        for i in par(0..u.len()) {
            u[i] = 0.5 * u[i];
        }
    }
    *y += u[0];
}

#[reversible]
fn of_the_step(y: &mut f64, steps: usize) {
    let mut x = 0.0;
    #[checkpoint]
    for _ in 0..steps {
        let mut k = 0.0;
        k = 0.5 * x;
        x = k + 1.0;
    }
    *y += x;
}

#[reversible]
fn stacks(y: &mut f64, steps: usize) {
    let mut x = 0.0;
    let mut past = Stack::new();
    #[checkpoint(30)]
    for _ in 0..steps {
        push(past, x);
    }
    *y += x;
}

#[reversible]
fn whole(y: &mut f64, steps: usize) {
    let mut u = [0.0; 3];
    let mut v = [0.0; 3];
    #[checkpoint]
    for t in 0..steps {
        v[0] = u[1] + t as f64;
        u = v;
    }
    *y += u[0];
}

fn main() {}
