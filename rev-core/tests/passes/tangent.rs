//! Tangents: what has none costs nothing.

use super::module;

/// What no derivative reaches is computed once and has no tangent: constants, integers, and what is computed from them.
#[test]
fn constants_have_no_tangents() {
    let with = |declared: &str| {
        let text = format!(
            "fn f(y: &mut f64, x: f64, c: [f64], n: u64) {declared} {{
                managed anc s: f64 = 0.0 {{
                    for i in 0..len(c) {{ s += c[i] * exp(c[i]) + (n as f64) }}
                    if s > 2.0 {{ y += x * s }} else {{ y += s * s }}
                }}
            }}"
        );
        let text = module(&text).tangent().unwrap().functions["f::tangent"].to_string();
        let statements = text.lines().skip(1).map(str::trim).filter(|line| line.contains("_dot"));
        statements.map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(with("constant(c)"), ["y_dot += x_dot * s"]);
    assert!(with("").iter().any(|line| line.contains("s_dot")));
}
