use rev_cpu::prelude::*;

#[reversible]
fn statements(y: &mut f64, k: &mut u32) {
    const TWO: f64 = 2.0;
    loop {}
    *k %= 3;
    *y + 1.0;
    unsafe {}
}

fn main() {}
