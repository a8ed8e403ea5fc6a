use rev_cpu::prelude::*;

#[reversible]
fn forever(y: &mut f64, k: &mut u32, n: u32) {
    #[post(*k > 0)]
    while n > 0 {
        *y += 1.0;
        inc(k);
    }
}

fn main() {}
