//! Quantum gates: the language's against matrices, the gradient of an expectation value against the
//! analytic one and finite differences, on the CPU and the interpreter.
#![allow(clippy::unwrap_used)]

use approx::assert_abs_diff_eq;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_kernels::gates::{self, plain, product_state};

const QUBITS: usize = 7;

fn largest_difference(a: &[Complex<f64>], b: &[Complex<f64>]) -> f64 {
    assert!(a.iter().chain(b).all(|z| z.is_finite()));
    a.iter().zip(b).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
}

fn devices() -> [Box<dyn Device>; 2] {
    [Box::new(Cpu::with_threads(2)), Box::new(Interpreter::new())]
}

#[test]
fn gates_are_their_matrices_and_their_inverses_undo_them() {
    for device in devices() {
        let d = &*device;
        for qubit in 0..QUBITS {
            let start = product_state(QUBITS, 2);
            let mut state = start.clone();
            let mut expected = start.clone();
            gates::rx::run(d, &mut state, 0.4, qubit).unwrap();
            plain::apply(&mut expected, &plain::rx(0.4), qubit);
            assert!(largest_difference(&state, &expected) < 1e-15);
            gates::ry::run(d, &mut state, 1.1, qubit).unwrap();
            plain::apply(&mut expected, &plain::ry(1.1), qubit);
            assert!(largest_difference(&state, &expected) < 1e-15);
            gates::rz::run(d, &mut state, -2.3, qubit).unwrap();
            plain::apply(&mut expected, &plain::rz(-2.3), qubit);
            assert!(largest_difference(&state, &expected) < 1e-15);
            if qubit > 0 {
                gates::swap_qubits::run(d, &mut state, qubit - 1, qubit).unwrap();
                plain::swap_qubits(&mut expected, qubit - 1, qubit);
                assert!(largest_difference(&state, &expected) < 1e-15);
                gates::swap_qubits::run_inverse(d, &mut state, qubit - 1, qubit).unwrap();
            }
            gates::rz::run_inverse(d, &mut state, -2.3, qubit).unwrap();
            gates::ry::run_inverse(d, &mut state, 1.1, qubit).unwrap();
            gates::rx::run_inverse(d, &mut state, 0.4, qubit).unwrap();
            assert!(largest_difference(&state, &start) < 1e-15);
        }
    }
}

#[test]
fn the_gradient_of_an_expectation_value() {
    let (a, b, c) = (0.7f64, -1.3, 0.4);
    for (low, high) in [(0, 1), (2, 5), (3, QUBITS - 1)] {
        let mut state = product_state(QUBITS, low);
        let value = |d: &dyn Device, a, b, c| {
            let (mut value, mut state) = (0.0, state.clone());
            gates::expectation::run(d, &mut value, &mut state, a, b, c, low, high).unwrap();
            value
        };
        let before = state.clone();
        for device in devices() {
            let d = &*device;
            let g = gates::expectation::gradient(d, &state, a, b, c, low, high).unwrap();
            let exact = a.cos() * b.cos() - a.sin() * b.sin() * c.sin();
            assert_abs_diff_eq!(g.value, exact, epsilon = 1e-14);
            let analytic = [
                -a.sin() * b.cos() - a.cos() * b.sin() * c.sin(),
                -a.cos() * b.sin() - a.sin() * b.cos() * c.sin(),
                -a.sin() * b.sin() * c.cos(),
            ];
            for (found, exact) in [g.a, g.b, g.c].into_iter().zip(analytic) {
                assert_abs_diff_eq!(found, exact, epsilon = 1e-14);
            }
            let h = 1e-5;
            let slopes = [
                value(d, a + h, b, c) - value(d, a - h, b, c),
                value(d, a, b + h, c) - value(d, a, b - h, c),
                value(d, a, b, c + h) - value(d, a, b, c - h),
            ];
            for (found, slope) in [g.a, g.b, g.c].into_iter().zip(slopes) {
                assert_abs_diff_eq!(found, slope / (2.0 * h), epsilon = 1e-9);
            }
        }
        gates::expectation(&mut 0.0, &mut state, a, b, c, low, high).unwrap();
        assert!(largest_difference(&state, &before) < 1e-15);
    }
}
