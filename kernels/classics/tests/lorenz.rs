//! Lorenz' system: its derivatives against the variational equations.

#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/hessian.rs"]
mod support;

use approx::{assert_abs_diff_eq, assert_relative_eq};
use rev_classics::lorenz::{plain, solution};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use support::hessian;

const START: [f64; 3] = [1.0, -0.5, 20.0];
const PARAMETERS: [f64; 3] = [10.0, 28.0, 8.0 / 3.0];
const STEP: f64 = 0.01;

#[test]
fn the_state_and_back() {
    for steps in [0, 1, 5, 300] {
        let expected = plain::solution(START, PARAMETERS, STEP, steps);
        for device in [Cpu::new(), Cpu::new().checks(false)] {
            let mut end = [0.0; 3];
            solution::run(&device, &mut end, &START, &PARAMETERS, STEP, steps).unwrap();
            end.iter().zip(expected).for_each(|(a, b)| assert_abs_diff_eq!(*a, b, epsilon = 1e-9));
            solution::run_inverse(&device, &mut end, &START, &PARAMETERS, STEP, steps).unwrap();
            assert_eq!(end, [0.0; 3]);
        }
    }
}

#[test]
fn derivatives_are_those_of_the_variational_equations() {
    for steps in [0, 1, 7, 150] {
        let (by_start, by_parameters) = plain::jacobian(START, PARAMETERS, STEP, steps);
        let size = by_start.iter().chain(&by_parameters).flatten().fold(1.0f64, |most, v| most.max(v.abs()));
        for device in [&Cpu::new() as &dyn Device, &Cpu::new().checks(false), &Interpreter::new()] {
            for i in 0..3 {
                let mut seed = [0.0; 3];
                seed[i] = 1.0;
                let v = solution::vjp(device, seed, &[0.0; 3], &START, &PARAMETERS, STEP, steps).unwrap();
                let found = v.start_bar.iter().chain(&v.parameters_bar);
                for (found, expected) in found.zip(by_start[i].iter().chain(&by_parameters[i])) {
                    assert_abs_diff_eq!(*found, *expected, epsilon = 1e-11 * size);
                }
            }
        }
    }
}

/// The square of the distance from a point, after some steps.
#[reversible]
fn misfit<T: Real>(loss: &mut T, start: &[T; 3], parameters: &[T; 3], h: T, steps: usize) {
    let mut end = [T::zero(); 3];
    solution(&mut end, start, parameters, h, steps);
    for i in 0..3 {
        *loss += end[i] * end[i];
    }
}

#[test]
fn a_hessian_against_differences_of_gradients() {
    const STEPS: usize = 20;
    let gradient = |x: &[f64; 6]| {
        let (start, parameters) = ([x[0], x[1], x[2]], [x[3], x[4], x[5]]);
        let end = plain::solution(start, parameters, STEP, STEPS);
        let (by_start, by_parameters) = plain::jacobian(start, parameters, STEP, STEPS);
        let along = |rows: &[[f64; 3]; 3], j: usize| (0..3).map(|i| 2.0 * end[i] * rows[i][j]).sum::<f64>();
        let all: [f64; 6] =
            std::array::from_fn(|j| if j < 3 { along(&by_start, j) } else { along(&by_parameters, j - 3) });
        all
    };
    let h = hessian!(misfit, START, PARAMETERS, STEP, STEPS);
    let at = [START, PARAMETERS].concat();
    let mut largest = 0.0f64;
    for j in 0..6 {
        let beside = |by: f64| {
            let mut x: [f64; 6] = at.clone().try_into().unwrap();
            x[j] += by;
            gradient(&x)
        };
        let (more, less) = (beside(1e-4), beside(-1e-4));
        for i in 0..6 {
            let expected = (more[i] - less[i]) / 2e-4;
            assert_relative_eq!(h[i][j], expected, epsilon = 1e-4, max_relative = 1e-6);
            largest = largest.max(expected.abs());
        }
    }
    assert!(largest > 1.0);
}
