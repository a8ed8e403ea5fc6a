//! The derivative of every function of the table, and the conventions where there is none.

use super::*;
use crate::ops::{Func, Instr, Shape};

/// Points inside the domain of a function of one, two or three reals.
fn points(func: Func) -> [f64; 3] {
    match func {
        Func::Asin | Func::Acos => [0.3, 0.2, 0.5],
        Func::Floor | Func::Ceil | Func::Round | Func::Trunc => [1.7, 2.2, 3.4],
        _ => [1.3, 0.7, -0.4],
    }
}

#[test]
fn every_function_of_reals_against_finite_differences() {
    let mut tested = 0;
    for func in Func::ALL {
        let row = func.row();
        let args: Option<Vec<String>> = row
            .args
            .iter()
            .enumerate()
            .map(|(k, shape)| match shape {
                Shape::T => Some(["a", "b", "c"][k].to_string()),
                Shape::I => Some((k + 1).to_string()),
                Shape::B => Some("a > 1.0".to_string()),
                Shape::R | Shape::C | Shape::S | Shape::SR | Shape::SC => None,
            })
            .collect();
        let real =
            matches!(row.class, crate::ir::Class::Real | crate::ir::Class::Field | crate::ir::Class::Ring);
        let ordered = matches!(func, Func::Select | Func::Min | Func::Max);
        let (Some(args), true, Shape::T | Shape::R) = (args, real || ordered, row.result) else { continue };
        let value = match func {
            Func::Fused => "fused(a * b)".to_string(),
            _ => format!("2.0 * {}({})", func.name(), args.join(", ")),
        };
        let text = format!("fn f(y: &mut f64, a: f64, b: f64, c: f64) {{ y += {value} }}");
        let [a, b, c] = points(*func);
        check_program(&text, &super::args([&0.5, &a, &b, &c]));
        tested += 1;
    }
    assert!(tested > 40, "{tested}");
}

#[test]
fn every_instruction_against_finite_differences() {
    for instr in Instr::ALL {
        let row = instr.row();
        if matches!(instr, Instr::Flip) {
            continue;
        }
        let operand = match instr {
            Instr::MulInt | Instr::DivInt => ", 3",
            _ if row.operands == 1 => ", c",
            _ => "",
        };
        let places = if row.places == 1 { "a" } else { "a, b" };
        let text = format!(
            "fn f(l: &mut f64, a: &mut f64, b: &mut f64, c: f64) {{ {}({places}{operand}) l += a * b * b }}",
            instr.name()
        );
        let out = check_module(&raw(&text), &args([&0.0, &1.3, &0.7, &0.4]));
        assert_eq!(out.len(), 4);
    }
}

/// The gradient of `y += e` by `a` and `b`, with cotangent 1.
fn at(e: &str, a: f64, b: f64) -> (f64, f64) {
    scaled(e, a, b, "")
}

fn scaled(e: &str, a: f64, b: f64, factor: &str) -> (f64, f64) {
    let f = module(&format!("fn f(y: &mut f64, a: f64, b: f64) {{ y += {factor}{e} }}"));
    let out = run(&f, Direction::FORWARD, &args([&0.0, &a, &b])).unwrap();
    let end = run(&f, ADJOINT, &seeded(&out, 0)).unwrap();
    match (&end[3], &end[5]) {
        (Data::Scalar(a), Data::Scalar(b)) => (a.to_num().to_f64(), b.to_num().to_f64()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn conventions_where_there_is_no_derivative() {
    assert_eq!(at("abs(a)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("max(a, b)", 2.0, 2.0), (1.0, 0.0));
    assert_eq!(at("min(a, b)", 2.0, 2.0), (1.0, 0.0));
    assert_eq!(at("hypot(a, b)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("atan2(a, b)", 0.0, 0.0), (0.0, 0.0));
    assert_eq!(at("sqrt(a)", 0.0, 0.0).0, f64::INFINITY);
    assert_eq!(scaled("sqrt(a)", 0.0, 0.0, "0.0 * "), (0.0, 0.0));
    assert_eq!(at("powf(a, b)", 0.0, 2.0), (0.0, 0.0));
    assert_eq!(at("powi(a, 2)", 0.0, 0.0).0, 0.0);
    assert_eq!(at("floor(a)", 1.5, 0.0).0, 0.0);
    // the branch that isn't taken has no say, even where its derivative is infinite
    assert_eq!(at("select(b > 0.0, a, sqrt(a))", 0.0, 1.0).0, 1.0);
    assert_eq!(at("if b > 0.0 { a } else { 1.0 / a }", 0.0, 1.0).0, 1.0);
}

#[test]
fn a_repeated_read_counts_every_time() {
    assert_eq!(at("a * a * a", 2.0, 0.0).0, 12.0);
    assert_eq!(at("(a - a) * b + a / a", 2.0, 3.0), (0.0, 0.0));
}

#[test]
fn given_derivatives_of_pure_functions_are_used() {
    let f = module(
        "pure fn g(x: f64, n: i64) -> f64 { x * x } partials (7.0 * x, 0.0)
        fn f(y: &mut f64, a: f64) { y += g(a, 1) }",
    );
    assert_eq!(gradient(&f, &args([&0.0, &2.0]), 0)[1], 14.0.load());
}

#[test]
fn integers_carry_no_derivative() {
    let f = module("fn f(y: &mut f64, n: i64, k: [usize]) { y += n as f64 * (k[0] as f64) }");
    let out = gradient(&f, &args([&0.0, &3i64, &vec![1usize, 2]]), 0);
    assert_eq!(out[1..], [Data::None, Data::vector(vec![Data::None, Data::None])]);
}

#[test]
fn conversions_between_floats_carry_it() {
    let f = module("fn f(y: &mut f64, a: f32) { y += (a * a) as f64 }");
    assert_eq!(gradient(&f, &args([&0.0, &3.0f32]), 0)[1], 6.0f32.load());
}
