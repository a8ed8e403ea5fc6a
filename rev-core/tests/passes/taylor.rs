//! Taylor coefficients: how large their programs are, where derivatives are infinite, and curves through instructions.

use approx::abs_diff_eq;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::value::DynArg;

use super::module;

fn taylor(text: &str, order: usize) -> Module {
    module(text).taylor(order).unwrap()
}

/// The numbers after a run.
fn run(module: &Module, direction: Direction, numbers: &[f64]) -> Vec<f64> {
    let args = numbers.iter().map(DynArg::load).collect();
    let mut machine = Machine::new(module, &module.entry, direction, args).unwrap();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments().iter().flat_map(rev_core::coordinates::of).collect()
}

/// Twice the order makes a program less than five times as long, where tangents of tangents would be eight times as long.
#[test]
fn programs_grow_as_the_square_of_the_order() {
    for value in [
        "exp(sin(x) * ln(x))",
        "tan(sqrt(x) / (1.0 + x * x))",
        "atan2(x, cosh(x)) * erf(x) * powf(x, x)",
        "powi(x, 7) * sigmoid(tanh(x)) * abs(x)",
    ] {
        let text = format!("fn f(y: &mut f64, x: f64) {{ y += {value} }}");
        let names = |order| taylor(&text, order).to_string().matches("let ").count();
        let (three, six) = (names(3), names(6));
        assert!(six < 5 * three, "{value}: {three} names and {six}");
    }
}

#[test]
fn where_derivatives_are_infinite_zero_coefficients_stay_zero() {
    for value in ["sqrt(x)", "powf(x, 0.5)", "cbrt(x)", "acosh(1.0 + x)", "asin(1.0 - x)"] {
        let module = taylor(&format!("fn f(y: &mut f64, x: f64) {{ y += {value} }}"), 4);
        let found = run(&module, Direction::FORWARD, &[0.0; 10]);
        assert!(found[1..5].iter().all(|y| *y == 0.0), "{value}: {found:?}");
    }
}

/// Each instruction on two places and what it reads, there and back along a curve: against the instruction on the points of the
/// curve.
#[test]
fn instructions_take_curves_to_curves() {
    const ORDER: usize = 6;
    for statement in [
        "inv(a)",
        "rot(a, b, x)",
        "irot(a, b, x)",
        "scale_by(a, x)",
        "unscale_by(a, x)",
        "mul_int(a, 3)",
        "hadamard(a, b)",
        "neg(a)",
        "swap(a, b)",
        "a += x * x / (b + x)",
        "a -= x * sin(x)",
    ] {
        let text = format!("fn f(a: &mut f64, b: &mut f64, x: f64) {{ {statement} }}");
        let module = taylor(&text, ORDER);
        let coefficient = |n: usize, k: usize| match k {
            0 => [1.3, 0.8, 0.6][n],
            _ => [0.7, -0.4, 0.3, 0.0, 0.2, -0.1][(k + 2 * n) % 6],
        };
        let start: Vec<f64> = (0..3).flat_map(|n| (0..=ORDER).map(move |k| coefficient(n, k))).collect();
        let at = |of: &[f64], t: f64| -> Vec<f64> {
            of.chunks(ORDER + 1).map(|c| c.iter().rev().fold(0.0, |sum, c| sum * t + c)).collect()
        };
        let end = run(&module, Direction::FORWARD, &start);
        let back = run(&module, Direction::INVERSE, &end);
        assert!(abs_diff_eq!(start[..], back[..], epsilon = 1e-9), "{statement}: {start:?} {back:?}");
        // what is left of the series is of order 7
        let plain = taylor(&text, 1);
        let t = 1e-2;
        let point: Vec<f64> = at(&start, t).into_iter().flat_map(|x| [x, 0.0]).collect();
        let expected: Vec<f64> = run(&plain, Direction::FORWARD, &point).into_iter().step_by(2).collect();
        for (found, expected) in at(&end, t).iter().zip(&expected) {
            assert!(abs_diff_eq!(found, expected, epsilon = 1e-10), "{statement}: {found} and {expected}");
        }
    }
}

/// The zero of a part that is constant, where only rustc knows its type, is like a name for its value.
#[test]
fn constant_parts_of_unknown_type_have_names() {
    for value in ["[round(x.mass), 2.0, x.mass]", "[stop_gradient(x.mass), x.mass]"] {
        let text =
            format!("fn f<T: Real>(y: &mut T, x: Body<T>) {{ let n = {value} {{ y += x.mass * n[1] }} }}");
        for order in 1..=3 {
            let names = taylor(&text, order).to_string();
            assert!(names.contains("zero_like(t)"), "{names}");
        }
    }
}
