//! A differential equation with a network: the twin, the order of the method, the way back, derivatives, and memory.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use allocation_counter::measure;
use approx::abs_diff_eq;
use ndarray::{arr1, arr2, Array1, Array2};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_networks::ode::{advance, begin, plain, solution};
use support::{apart, numbers};

struct Weights {
    w: Array2<f64>,
    b: Array1<f64>,
    shift: Array2<f64>,
    t: Array1<f64>,
}

fn weights(hidden: usize, dimensions: usize) -> Weights {
    let (w, b) = (numbers((hidden, dimensions), 3), numbers(hidden, 4));
    Weights { w, b, shift: 0.5 * numbers((dimensions, hidden), 5), t: numbers(dimensions, 6) }
}

fn solved(p: &Weights, x: &Array2<f64>, steps: usize) -> Array2<f64> {
    let mut y = Array2::zeros(x.dim());
    solution(y.view_mut(), x.view(), p.w.view(), p.b.view(), p.shift.view(), p.t.view(), steps).unwrap();
    y
}

#[test]
fn as_plain_rust_and_back() {
    let (p, x) = (weights(8, 3), numbers((5, 3), 1));
    for steps in [1, 2, 30] {
        let y = solved(&p, &x, steps);
        let expected =
            plain::solution(x.view(), (p.w.view(), p.b.view()), (p.shift.view(), p.t.view()), steps);
        assert!(apart(&y, &expected) < 1e-13);
        let mut y = y;
        let (w, b, shift, t) = (p.w.view(), p.b.view(), p.shift.view(), p.t.view());
        solution::inverse(y.view_mut(), x.view(), w, b, shift, t, steps).unwrap();
        assert!(y.iter().all(|&y| abs_diff_eq!(y, 0.0, epsilon = 1e-13)));
        for threads in [1, 2] {
            let (cpu, mut at, mut u) =
                (Cpu::with_threads(threads).parallel_from(0), x.clone(), Array2::zeros(x.dim()));
            begin::run(&cpu, u.view_mut(), x.view(), w, b, shift, t).unwrap();
            let first = u.clone();
            advance::run(&cpu, at.view_mut(), u.view_mut(), w, b, shift, t, 1.0 / steps as f64, steps)
                .unwrap();
            assert!(apart(&at, &expected) < 1e-13);
            advance::run_inverse(
                &cpu,
                at.view_mut(),
                u.view_mut(),
                w,
                b,
                shift,
                t,
                1.0 / steps as f64,
                steps,
            )
            .unwrap();
            assert!(apart(&at, &x) < 1e-13 && apart(&u, &first) < 1e-13);
        }
    }
}

/// `dx/dt = tanh(x)` from `x₀` has the solution `asinh(eᵗ sinh x₀)`; half the step, a quarter of the error.
#[test]
fn the_error_is_of_second_order() {
    let p = Weights { w: arr2(&[[1.0]]), b: arr1(&[0.0]), shift: arr2(&[[1.0]]), t: arr1(&[0.0]) };
    let x = arr2(&[[0.7], [-0.2]]);
    let exact = x.mapv(|x| f64::asinh(1f64.exp() * f64::sinh(x)));
    let errors = [10, 20, 40, 80].map(|steps| apart(&solved(&p, &x, steps), &exact));
    assert!(errors[0] < 2e-3, "{errors:?}");
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((3.8..4.2).contains(&ratio), "{errors:?}");
    }
}

#[test]
fn derivatives() {
    let (p, x, y) = (weights(4, 2), numbers((3, 2), 1), numbers((3, 2), 2));
    let (w, b, shift, t) = (p.w.view(), p.b.view(), p.shift.view(), p.t.view());
    for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
        let report = solution::check_gradient(device, y.view(), x.view(), w, b, shift, t, 5).unwrap();
        assert!(report.passed(), "{report}");
        let report = advance::check_gradient(device, y.view(), x.view(), w, b, shift, t, 0.2, 4).unwrap();
        assert!(report.passed(), "{report}");
    }
}

/// The most bytes at a time that the adjoint of so many steps takes beside its arguments.
fn bytes(steps: usize) -> u64 {
    let (p, cpu) = (weights(8, 4), Cpu::with_threads(1));
    let (mut x, mut u) = (numbers((50, 4), 1), numbers((50, 4), 2));
    let mut bars = [x.map(|_| Batch([1.0])), u.map(|_| Batch([0.5]))];
    let [mut w_bar, mut shift_bar] = [&p.w, &p.shift].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let [mut b_bar, mut t_bar] = [&p.b, &p.t].map(|a| a.map(|x| x.zero_shadow::<1>()));
    let mut h_bar = Batch([0.0]);
    let mut adjoint = || {
        let [x_bar, u_bar] = &mut bars;
        advance::adjoint(
            &cpu,
            x.view_mut(),
            x_bar.view_mut(),
            u.view_mut(),
            u_bar.view_mut(),
            p.w.view(),
            w_bar.view_mut(),
            p.b.view(),
            b_bar.view_mut(),
            p.shift.view(),
            shift_bar.view_mut(),
            p.t.view(),
            t_bar.view_mut(),
            0.5 / steps as f64,
            &mut h_bar,
            steps,
            &mut steps.zero_shadow::<1>(),
        )
        .unwrap();
    };
    adjoint();
    measure(&mut adjoint).bytes_max
}

#[test]
fn steps_take_no_memory() {
    let few = bytes(2);
    assert_eq!(few, bytes(100));
    assert!(few < 16 * 1024, "{few}");
}
