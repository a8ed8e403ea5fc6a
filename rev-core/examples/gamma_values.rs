//! Values of log-gamma and the polygamma functions at random arguments, as encodings, for
//! `scripts/math_gamma.py` to compare.

use rev_core::math::cpu::double::{ln_gamma, polygamma};

fn main() {
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / 2f64.powi(53)
    };
    for i in 0..20000 {
        let x = match i % 4 {
            0 => 12.0 * unit(),
            1 => 2f64.powf(60.0 * unit() - 30.0),
            2 => 0.4 + 2.2 * unit(),
            _ => -8.0 * unit(),
        };
        println!("ln_gamma 0 {:016x} {:016x}", x.to_bits(), ln_gamma(x).to_bits());
        let k = i / 4 % 4;
        println!("polygamma {k} {:016x} {:016x}", x.to_bits(), polygamma(k, x).to_bits());
    }
}
