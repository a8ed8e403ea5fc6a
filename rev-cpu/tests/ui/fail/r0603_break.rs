use rev_cpu::prelude::*;

#[reversible]
fn search(y: &mut f64, x: &[f64]) {
    for i in 0..x.len() {
        if x[i] > 1.0 {
            break;
        }
        if x[i] < 0.0 {
            continue;
        }
        *y += x[i];
    }
}

#[reversible]
fn watched(y: &mut f64, x: &[f64]) {
    for i in 0..x.len() {
        #[external]
        {
            for k in 0..i {
                if k > 2 {
                    break;
                }
            }
            if i > 2 {
                break;
            }
        }
        *y += x[i];
    }
}

fn main() {}
