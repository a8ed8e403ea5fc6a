//! Rotations in loops: by angles that the loop changes and by others, whose sine and cosine are computed
//! before it where there are no checks.

#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev_cpu::prelude::*;

const QUARTER: f64 = 0.25;

/// In parallel loops and in others, inside each other.
#[reversible]
fn turns<T: Real>(x: &mut [T], y: &mut [T], theta: T, n: usize) {
    for i in par(0..x.len()) {
        rot(x[i], y[i], 0.5);
        rot(x[i], y[i], T::from_usize(n));
        irot(x[i], y[i], theta * theta);
        for j in 0..n {
            rot(x[i], y[i], (j as T) * theta);
            irot(x[i], y[i], -theta);
        }
    }
    for i in 0..x.len() {
        rot(x[i], y[i], theta + 1.0);
        rot(x[i], y[i], x.len() as T);
    }
}

/// Numbers of two types, in a loop with a condition.
#[reversible]
fn two_widths(x: &mut f64, y: &mut f64, u: &mut f32, v: &mut f32, n: i64) {
    let mut k: i64 = 0;
    #[post(k > 0)]
    while k < n {
        rot(x, y, QUARTER);
        rot(x, y, 0.5 * QUARTER);
        irot(u, v, 0.1);
        k += 1;
    }
    k -= n;
}

#[test]
fn rotations_have_the_same_bits_wherever_sine_and_cosine_are_computed() {
    for n in [1usize, 5, 40] {
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let y: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let run = |device: &Cpu| {
            let (mut a, mut b) = (x.clone(), y.clone());
            turns::run(device, &mut a, &mut b, 0.3, 3).unwrap();
            let there = [a.clone(), b.clone()];
            turns::run_inverse(device, &mut a, &mut b, 0.3, 3).unwrap();
            let g = turns::vjp(device, &x, &y, &x, &y, 0.3, 3).unwrap();
            (there, [a, b, g.x_bar, g.y_bar], g.theta_bar)
        };
        let expected = run(&Cpu::with_threads(1));
        assert!(expected.1[0].iter().zip(&x).all(|(a, b)| abs_diff_eq!(a, b, epsilon = 1e-12)));
        let free = Cpu::with_threads(1).checks(false);
        for device in [free.clone(), free.clone().lanes(false), free.threads(3)] {
            let got = run(&device);
            assert_eq!((&got.0, &got.1), (&expected.0, &expected.1));
            assert_abs_diff_eq!(got.2, expected.2, epsilon = 1e-9);
        }
    }
}

#[test]
fn angles_that_are_constants() {
    for device in [Cpu::new(), Cpu::new().checks(false)] {
        let (mut x, mut y, mut u, mut v) = (1.0, 0.0, 1.0, 0.0);
        two_widths::run(&device, &mut x, &mut y, &mut u, &mut v, 4).unwrap();
        assert!(abs_diff_eq!(x, 1.5f64.cos(), epsilon = 1e-15), "{x} {y}");
        assert!(abs_diff_eq!(y, 1.5f64.sin(), epsilon = 1e-15), "{x} {y}");
        assert!(abs_diff_eq!(u, 0.4f32.cos(), epsilon = 1e-6), "{u} {v}");
        assert!(abs_diff_eq!(v, -0.4f32.sin(), epsilon = 1e-6), "{u} {v}");
    }
}
