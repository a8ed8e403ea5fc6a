//! Programs that keep levels or states: the pyramid and the wave on a ring.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod support;

use approx::{abs_diff_eq, assert_abs_diff_eq};
use ndarray::{s, Array1, Array2};
use rev_classics::{advection, pyramid};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use support::hessian;

fn numbers(n: usize, seed: f64) -> Vec<f64> {
    (0..n).map(|i| (seed + 12.9898 * i as f64).sin()).collect()
}

#[test]
fn a_pyramid() {
    for n in [1, 2, 3, 20] {
        let (x, mut y) = (numbers(n, 0.3), 0.5);
        pyramid::pyramid(&mut y, &x).unwrap();
        assert_abs_diff_eq!(y - 0.5, pyramid::plain::pyramid(&x).unwrap(), epsilon = 1e-15);
        pyramid::pyramid::inverse(&mut y, &x).unwrap();
        assert_abs_diff_eq!(y, 0.5, epsilon = 1e-15);
        for cpu in [Cpu::new(), Cpu::with_threads(2).parallel_from(0), Cpu::new().checks(false)] {
            let report = pyramid::pyramid::check_gradient(&cpu, &0.5, &x).unwrap();
            assert!(report.passed(), "{report}");
        }
    }
    // sin(a) cos(b)
    let (a, b) = (0.4f64, 1.3);
    let g = pyramid::pyramid::gradient(&Cpu::new(), &[a, b]).unwrap();
    assert_eq!(g.value, a.sin() * b.cos());
    assert_abs_diff_eq!(g.x[0], a.cos() * b.cos(), epsilon = 1e-15);
    assert_abs_diff_eq!(g.x[1], -a.sin() * b.sin(), epsilon = 1e-15);
    assert!(pyramid::pyramid(&mut 0.0, &[]).is_err());
    assert_eq!(pyramid::plain::pyramid::<f64>(&[]), None);
}

/// The Hessian against differences of gradients.
#[test]
fn a_pyramid_s_second_derivatives() {
    let x = numbers(6, 0.3);
    let hessian = hessian!(pyramid::pyramid, x);
    let slope = |j: usize, h: f64| {
        let mut x = x.clone();
        x[j] += h;
        pyramid::pyramid::gradient(&Cpu::new(), &x).unwrap().x
    };
    let h = 1e-5;
    for (j, row) in hessian.iter().enumerate() {
        let (up, down) = (slope(j, h), slope(j, -h));
        for (i, found) in row.iter().enumerate() {
            let expected = (up[i] - down[i]) / (2.0 * h);
            assert!(abs_diff_eq!(*found, expected, epsilon = 1e-9), "{i} {j}: {found} {expected}");
            assert_eq!(*found, hessian[i][j]);
        }
    }
}

/// All states from the first one.
fn states(first: &[f64], steps: usize) -> Array2<f64> {
    let mut states = Array2::zeros((steps + 1, first.len()));
    states.row_mut(0).assign(&Array1::from(first.to_vec()));
    states
}

#[test]
fn a_wave_on_a_ring() {
    let first = numbers(30, 0.7);
    for c in [1.0, 0.5, -0.8, 0.0] {
        let start = states(&first, 40);
        let mut q = start.clone();
        advection::advance(q.view_mut(), c).unwrap();
        for t in [1, 17, 40] {
            let expected = advection::plain::advance(&first, c, t);
            assert!(
                q.row(t).iter().zip(&expected).all(|(q, e)| abs_diff_eq!(q, e, epsilon = 1e-14)),
                "{c} {t}"
            );
        }
        // what flows out of a cell flows into the next one
        assert!(q.rows().into_iter().all(|row| abs_diff_eq!(row.sum(), q.row(0).sum(), epsilon = 1e-13)));
        advection::advance::inverse(q.view_mut(), c).unwrap();
        assert_eq!(q, start, "{c}");
    }
    for device in [&Cpu::with_threads(2) as &dyn Device, &Interpreter::new()] {
        let report =
            advection::advance::check_gradient(device, states(&numbers(7, 0.2), 3).view(), 0.6).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// The published size: 100 cells, 2000 steps of one cell each, which are 20 times around.
#[test]
fn twenty_times_around() {
    let first = numbers(100, 0.1);
    let mut q = states(&first, 2000);
    advection::advance(q.view_mut(), 1.0).unwrap();
    for (t, moved) in [(1, 1), (250, 50), (2000, 0)] {
        for i in 0..100 {
            assert!(abs_diff_eq!(q[[t, (i + moved) % 100]], first[i], epsilon = 1e-12), "{t}");
        }
    }
    // the derivative of a cell at the end, by the states at the start: the cell from which it came
    let (mut seed, q) = (Array2::zeros((251, 100)), q.slice(s![..251, ..]).to_owned());
    seed[[250, 63]] = 1.0;
    let g = advection::advance::vjp(&Cpu::new(), seed.view(), states(&first, 250).view(), 1.0).unwrap();
    assert_eq!(g.states, q);
    for i in 0..100 {
        let expected = if i == 13 { 1.0 } else { 0.0 };
        assert!(
            abs_diff_eq!(g.states_bar[[0, i]], expected, epsilon = 1e-12),
            "{i}: {}",
            g.states_bar[[0, i]]
        );
    }
}
