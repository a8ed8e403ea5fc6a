//! Which pure functions have partial derivatives.

#![allow(clippy::unwrap_used)]

use rev_compiler::pass::partials;
use rev_compiler::text::parse_module;

/// Only the value of a pure function is known by the parts of an argument: its derivative is refused, and not zero.
#[test]
fn a_pure_function_of_several_parts_has_no_derivative() {
    let given = |parameters: &str, body: &str| {
        let text = format!("module g\n\npure fn g({parameters}) -> f64 {{ {body} }}\n");
        let module = parse_module(&text).unwrap();
        partials(&module.pures["g"]).map_err(|e| e.to_string())
    };
    let refused = |parameters: &str, body: &str| {
        let error = given(parameters, body).unwrap_err();
        assert_eq!(error, "`g` has no partial derivatives: its parameter `p` has several parts");
    };
    refused("p: (f64, f64)", "p.0 * p.1");
    refused("x: f64, p: [f64; 2]", "x * p[0]");
    assert!(given("x: f64, p: f64", "x * p").is_ok());
    // integers carry none
    assert!(given("x: f64, p: (i64, i64)", "x * (p.0 as f64)").is_ok());
}
