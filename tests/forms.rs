//! Forms of the language on every device: the same values, and the same errors.

#![allow(clippy::unwrap_used)]

use rev::prelude::*;
use rev::Emulator;

/// Weights of a rule of integration.
const WEIGHTS: [f64; 6] = [0.5, 1.5, -0.25, 2.0, 0.125, 3.0];

mod numbers {
    /// A matrix.
    pub const MIX: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]];
    /// Where a table of weights starts.
    pub const FIRST: [u8; 4] = [3, 0, 2, 1];
}

#[reversible]
fn weighted(y: &mut f64, z: &mut [f64], x: &[f64], at: &[usize]) {
    for i in par(0..x.len()) {
        z[i] += WEIGHTS[at[i]] * x[i] * x[i] + numbers::MIX[i % 2][at[i] % 3] * x[i];
        *y += x[i] * WEIGHTS[numbers::FIRST[i % numbers::FIRST.len()] as usize];
    }
    for (k, w) in WEIGHTS.iter().enumerate() {
        if w > 1.0 {
            *y += w * x[k];
        }
    }
}

fn weighted_plainly(z: &mut [f64], x: &[f64], at: &[usize]) -> f64 {
    let mut y = 0.0;
    for i in 0..x.len() {
        z[i] += WEIGHTS[at[i]] * x[i] * x[i] + numbers::MIX[i % 2][at[i] % 3] * x[i];
        y += x[i] * WEIGHTS[usize::from(numbers::FIRST[i % 4])];
    }
    (0..WEIGHTS.len()).filter(|k| WEIGHTS[*k] > 1.0).for_each(|k| y += WEIGHTS[k] * x[k]);
    y
}

#[test]
fn tables_by_an_index_of_the_run() {
    let n = 100;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i as u8) / 16.0 - 1.0).collect();
    let at: Vec<usize> = (0..n).map(|i| i * i % 6).collect();
    let mut expected = vec![0.0; n];
    let sum = weighted_plainly(&mut expected, &x, &at);
    fn on<D: Device>(device: &D, x: &[f64], at: &[usize], expected: &[f64], sum: f64) {
        let (mut y, mut z) = (0.0, vec![0.0; x.len()]);
        weighted::run(device, &mut y, &mut z, x, at).unwrap();
        assert_eq!(z, expected);
        assert!((y - sum).abs() < 1e-12 * sum.abs());
        weighted::run_inverse(device, &mut y, &mut z, x, at).unwrap();
        assert!(y.abs() < 1e-10 && z.iter().all(|z| z.abs() < 1e-10));
        let v = weighted::vjp(device, 1.0, &vec![2.0; x.len()], &0.0, &vec![0.0; x.len()], x, at).unwrap();
        for (i, (x, at)) in x.iter().zip(at).enumerate() {
            let mut slope = 2.0 * (2.0 * WEIGHTS[*at] * x + numbers::MIX[i % 2][at % 3]);
            slope += WEIGHTS[usize::from(numbers::FIRST[i % 4])];
            slope += if i < 6 && WEIGHTS[i] > 1.0 { WEIGHTS[i] } else { 0.0 };
            assert!((v.x_bar[i] - slope).abs() < 1e-12, "{i}: {} {slope}", v.x_bar[i]);
        }
        let wrong = weighted::run(device, &mut y, &mut z, x, &vec![6; x.len()]).unwrap_err().to_string();
        assert!(wrong.contains("WEIGHTS[at[i]]") && wrong.contains('6'), "{wrong}");
    }
    on(&Cpu::new(), &x, &at, &expected, sum);
    on(&Cpu::with_threads(3).parallel_from(0), &x, &at, &expected, sum);
    on(&Cpu::new().deterministic(true), &x, &at, &expected, sum);
    on(&Interpreter::new(), &x, &at, &expected, sum);
    on(&Emulator::new(), &x, &at, &expected, sum);
}
