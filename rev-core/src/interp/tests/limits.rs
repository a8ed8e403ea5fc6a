//! Deep and large programs, arrays for which there is no memory, and what a recursion costs.

use super::super::Progress;
use super::*;
use crate::diag::Code;
use crate::ir::{height, nesting, Function};
use crate::limits::{HEIGHT, NESTING};
use crate::text::{encode_function, parse_function, print_function};
use approx::assert_abs_diff_eq;

/// `y += x² + …` through names in names, `n` deep.
fn names(n: usize) -> String {
    let lets: String = (0..n).map(|k| format!("let a{}: f64 = a{k} * x {{ ", k + 1)).collect();
    format!("fn f(y: &mut f64, x: f64) {{ let a0: f64 = x {{ {lets} y += a{n} {} }} }}", "}".repeat(n))
}

fn codes(text: &str) -> Vec<Code> {
    let function = parse_function(text).unwrap();
    crate::check::check(function)
        .map_or_else(|wrong| wrong.0.iter().map(|d| d.code).collect(), |_| Vec::new())
}

/// What the printer prints, the parser reads.
fn reads(function: &Function) {
    assert!(parse_function(&encode_function(function)).unwrap() == *function);
    let text = print_function(function);
    assert!(print_function(&parse_function(&text).unwrap()) == text);
}

#[test]
fn names_are_nested_up_to_the_limit() {
    // the statement inside is a level too, and so is the first name
    assert_eq!(codes(&names(NESTING - 2)), []);
    assert_eq!(codes(&names(NESTING - 1)), [Code::TooDeep]);
}

#[test]
fn expressions_are_high_up_to_the_limit() {
    let sum = |n: usize| format!("fn f(y: &mut f64, x: f64) {{ y += {} }}", vec!["x"; n].join(" + "));
    assert_eq!(codes(&sum(HEIGHT)), []);
    let wrong = parse_function(&sum(HEIGHT + 1)).unwrap_err().to_string();
    assert!(wrong.contains("2000 operations high"), "{wrong}");
    // one that wasn't read from a text
    let mut function = parse_function(&sum(HEIGHT)).unwrap();
    let x = crate::ir::Expr::read(crate::ir::Place::var(crate::ir::VarId(1)));
    for stmt in &mut function.body {
        stmt.each_expr_mut(&mut |e| *e = std::mem::replace(e, x.clone()) + x.clone());
    }
    let wrong = crate::check::check(function).unwrap_err();
    assert_eq!(wrong.0.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::TooHigh]);
}

#[test]
fn deep_programs_have_texts_adjoints_and_runs() {
    let n = 1000;
    let program = module(&names(n));
    let (y, x) = (0.5, 1.0 - 1e-4);
    let expected = (n as f64 + 1.0) * f64::powi(x, n as i32);
    reads(program.entry().unwrap());
    let adjoint = program.adjoint();
    reads(adjoint.entry().unwrap());
    assert!(nesting(&adjoint.entry().unwrap().body) >= 2 * n);
    reads(adjoint.adjoint().entry().unwrap());
    let end = run(&program, Direction::FORWARD, &args([&y, &x])).unwrap();
    let bars = run(&program, ADJOINT, &seeded(&end, 0)).unwrap();
    let Data::Scalar(x_bar) = &bars[3] else { panic!("{bars:?}") };
    assert_abs_diff_eq!(x_bar.to_num().to_f64(), expected, epsilon = 1e-9 * expected);
    let copy = adjoint.clone();
    assert!(copy.entry().unwrap() == adjoint.entry().unwrap());
}

#[test]
fn derivatives_of_high_expressions_are_not_high() {
    // their partial derivatives are multiplied first, or meet the cotangent at once where they can be infinite
    ["sin", "sqrt"].into_iter().for_each(derivatives_are_not_high);
}

fn derivatives_are_not_high(func: &str) {
    let (open, close) = (format!("{func}(").repeat(1000), ")".repeat(1000));
    let program = module(&format!("fn f(y: &mut f64, x: f64) {{ y += {open}x{close} }}"));
    let adjoint = program.adjoint();
    let mut highest = 0;
    fn each(block: &[crate::ir::Stmt], f: &mut dyn FnMut(&crate::ir::Stmt)) {
        block.iter().for_each(|s| {
            f(s);
            s.blocks().into_iter().for_each(|b| each(b, f));
        });
    }
    let function = adjoint.entry().unwrap();
    // what is taken back is as high as it was
    function.grown(|| {
        each(&function.body[1..], &mut |s| s.each_expr(&mut |e| highest = highest.max(height(e))));
    });
    assert!(highest < 100, "{func}: {highest}");
    reads(function);
}

#[test]
fn a_text_that_is_nested_without_end_is_no_program() {
    for open in ["(", "sin(", "-", "!", "[", "{ let a = ", "if true { "] {
        let text = format!("fn f(y: &mut f64) {{ y += {} }}", open.repeat(100_000));
        assert!(parse_function(&text).is_err());
    }
    for open in ["unchecked { ", "if true { ", "let a = 1.0 { ", "compute { "] {
        let text = format!("fn f(y: &mut f64) {{ {}", open.repeat(100_000));
        let wrong = parse_function(&text).unwrap_err().to_string();
        assert!(wrong.contains("nested at most 50000 deep"), "{wrong}");
    }
}

#[test]
fn an_array_without_end_is_an_error() {
    let program = module("fn f(y: &mut f64, n: usize) { managed anc a: [f64] = fill(0.0, n) { y += 1.0 } }");
    let matrix =
        module("fn f(y: &mut f64, n: usize) { managed anc a: Array2<f64> = fill(0.0, n, n) { y += 1.0 } }");
    for (program, n) in [(&program, usize::MAX), (&program, usize::MAX / 64), (&matrix, 1 << 33)] {
        let error = run(program, Direction::FORWARD, &args([&0.0, &n])).unwrap_err().to_string();
        assert!(error.contains("out of memory"), "{error}");
    }
}

/// How many steps a program takes in a direction.
fn steps(program: &Module, direction: Direction, start: Vec<Data>) -> usize {
    let mut machine = Machine::new(program, "f", direction, start).unwrap();
    let mut count = 0;
    while machine.step().unwrap() == Progress::Stepped {
        count += 1;
    }
    count
}

#[test]
fn a_recursion_that_takes_back_its_result_costs_exponential_time() {
    let power = "fn f(y: &mut f64, x: f64, n: usize) {
        if n == 0 { y += 1.0 } else { managed anc lower: f64 = 0.0 { call f(&mut lower, x, n - 1) y += lower * x } }
    }";
    // the form that docs/language.md offers instead
    let scaled = "fn f(y: &mut f64, x: f64, factor: f64, n: usize) {
        if n == 0 { y += factor } else { call f(&mut y, x, factor * x, n - 1) }
    }";
    let (power, scaled) = (module(power), module(scaled));
    let of_power = |n: usize, direction| {
        let start = args([&0.0, &1.5, &n]);
        let end = run(&power, Direction::FORWARD, &start).unwrap();
        steps(&power, direction, if direction == ADJOINT { seeded(&end, 0) } else { start })
    };
    let of_scaled = |n: usize, direction| {
        let start = args([&0.0, &1.5, &1.0, &n]);
        let end = run(&scaled, Direction::FORWARD, &start).unwrap();
        steps(&scaled, direction, if direction == ADJOINT { seeded(&end, 0) } else { start })
    };
    for direction in [Direction::FORWARD, ADJOINT] {
        // a 2ⁿ + b n + c: the second differences double
        let [a, b, c, d] = [4, 5, 6, 7].map(|n| of_power(n, direction));
        assert_eq!(d + b - 2 * c, 2 * (c + a - 2 * b), "{direction:?}");
        assert!(c + a > 2 * b, "{direction:?}");
        let [a, b, c] = [4, 5, 6].map(|n| of_scaled(n, direction));
        assert_eq!(c - b, b - a, "{direction:?}");
    }
}
