use rev_cpu::prelude::*;

#[reversible]
fn early(y: &mut f64, n: usize) {
    if n == 0 {
        return;
    }
    *y += 1.0;
}

#[reversible]
fn watched(y: &mut f64, n: usize) {
    #[external]
    {
        if n == 0 {
            return;
        }
        println!("{n}");
    }
    *y += 1.0;
}

fn main() {}
