use rev_cpu::prelude::*;

#[reversible]
fn inverse(y: &mut f64, __cx: f64) {
    let None = 2.0;
    *y += 1.0;
}

fn main() {}
