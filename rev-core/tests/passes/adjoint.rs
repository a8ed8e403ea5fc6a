//! Adjoints of small programs as they are printed: signs are taken out of products, and what is used once has no
//! name.

use rev_core::check::check;
use rev_core::pass::{adjoint, Adjoint};
use rev_core::text::parse_function;

/// What the adjoint adds to shadows: its statements after the one that is taken back.
fn pulled(statement: &str) -> String {
    let text = format!("fn f(y: &mut f64, a: f64, b: f64) {{ {statement} }}");
    let checked = check(parse_function(&text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
    let made = adjoint(&checked, Adjoint::REVERSIBLE).to_string();
    let lines: Vec<String> = made.lines().map(|line| line.trim().to_owned()).collect();
    lines[2..lines.len() - 1].join("; ")
}

fn are_pulled(expected: &[(&str, &str)]) {
    let found: Vec<_> = expected.iter().map(|(statement, _)| (*statement, pulled(statement))).collect();
    let found: Vec<_> = found.iter().map(|(statement, pulled)| (*statement, pulled.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn signs_are_taken_out_of_products() {
    are_pulled(&[
        ("y += a - b", "a_bar += y_bar; b_bar -= y_bar"),
        ("y -= neg(a)", "a_bar += y_bar"),
        ("y += a * -3", "a_bar -= scale(y_bar, 3)"),
        ("y -= a * -0.5", "a_bar += scale(y_bar, 0.5)"),
        ("y -= cos(a)", "a_bar += scale(y_bar, sin(a))"),
    ]);
}

#[test]
fn what_is_used_once_has_no_name() {
    are_pulled(&[
        ("y += sin(cos(a))", "let t = cos(a) {; a_bar -= scale(y_bar, cos(t) * sin(a)); }"),
        ("y += sqrt(a * 2.0)", "let t2 = sqrt(a * 2.0) {; a_bar += scale(absorb(y_bar, 0.5 * (1 / t2)), 2.0); }"),
        (
            "y += sin(a * b)",
            "let t = a * b {; let k = cos(t) {; a_bar += scale(y_bar, k * b); b_bar += scale(y_bar, k * a); }; }",
        ),
        (
            "y += sqrt(a * b)",
            "let t2 = sqrt(a * b) {; let c: Shadow<_> = absorb(y_bar, 0.5 * (1 / t2)) {; a_bar += scale(c, b); b_bar += scale(c, a); }; }",
        ),
    ]);
    // nor has a cotangent on its way through several functions
    let text = pulled("y += sqrt(sqrt(a))");
    assert!(text.contains("absorb(absorb(y_bar") && !text.contains("Shadow<_>"), "{text}");
}

#[test]
fn a_name_may_only_seem_to_depend_on_what_carries_a_derivative() {
    let value = "if a < 1.0 { let v = if b < 2.0 { let w = b;2.0 } else { 3.0 };v - v } else { b }";
    let text = format!("fn f(y: &mut f64, a: f64, b: f64) {{ y += cos({value}) }}");
    let checked = check(parse_function(&text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
    for form in [Adjoint::LEAN, Adjoint::REVERSIBLE] {
        let made = adjoint(&checked, form);
        assert!(made.defects.is_empty(), "{form:?}: {:?}", made.defects);
    }
}
