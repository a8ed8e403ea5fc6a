//! Derivatives of higher order along a direction, compiled: against closed forms, against the interpreter, and in place.

#![allow(clippy::unwrap_used)]

use num_complex::Complex;
use rev_cpu::prelude::*;

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "order {k}: {a} and {b}\n{found:?}\n{expected:?}");
    }
}

#[reversible(taylor = 6)]
fn wave<T: Real>(y: &mut T, z: &mut T, x: T, n: i64) {
    *y += x.exp() * x.sin();
    if n > 0 {
        *z += (T::one() + x).recip();
    } else {
        *z += x.sqrt();
    }
}

/// Derivatives of `eˣ sin x`: `√2^k eˣ sin(x + k π/4)`.
#[test]
fn closed_forms() {
    let (cpu, x) = (Cpu::new(), 0.7_f64);
    let d = wave::directional(&cpu, &0.0, &0.0, 1.0, &0.0, &0.0, x, 1).unwrap();
    let of_k = |k: i32| 2f64.sqrt().powi(k) * x.exp() * (x + f64::from(k) * std::f64::consts::FRAC_PI_4).sin();
    close(&d.y, &(0..=6).map(of_k).collect::<Vec<_>>());
    let mut of_k = vec![1.0 / (1.0 + x)];
    (1..=6).for_each(|k| of_k.push(-of_k[k - 1] * k as f64 / (1.0 + x)));
    close(&d.z, &of_k);
    let d = wave::directional(&cpu, &0.0, &0.0, 2.0, &0.0, &0.0, x, 0).unwrap();
    let mut of_k = vec![x.sqrt()];
    (1..=6).for_each(|k| of_k.push(of_k[k - 1] * 2.0 * (1.5 - k as f64) / x));
    close(&d.z, &of_k);
    // in place: a curve that isn't a line
    let mut y = [0.0; 7];
    let [y0, y1, y2, y3, y4, y5, y6] = &mut y;
    let mut z = [0.0; 7];
    let [z0, z1, z2, z3, z4, z5, z6] = &mut z;
    let curve = |t: f64| 0.7 + t - t * t;
    wave::taylor(&cpu, y0, y1, y2, y3, y4, y5, y6, z0, z1, z2, z3, z4, z5, z6, curve(0.0), 1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1, 0, 0, 0, 0, 0, 0)
        .unwrap();
    let t = 1e-2;
    let series: f64 = y.iter().rev().fold(0.0, |sum, c| sum * t + c);
    assert!((series - curve(t).exp() * curve(t).sin()).abs() < 1e-13);
}
