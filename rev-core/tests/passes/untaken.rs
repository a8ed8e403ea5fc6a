//! What a branch that isn't taken would compute counts for nothing, in derivatives of all orders.

use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::value::DynArg;

use super::module;

/// Derivatives of derivatives, the inner one first.
const DERIVATIVES: &[&[&str]] = &[
    &["adjoint"],
    &["adjoint", "adjoint"],
    &["adjoint", "adjoint", "adjoint"],
    &["adjoint", "tangent"],
    &["adjoint", "Taylor"],
    &["tangent"],
    &["tangent", "adjoint"],
    &["tangent", "tangent"],
    &["tangent", "tangent", "adjoint"],
    &["Taylor"],
    &["Taylor", "adjoint"],
];

/// The numbers after a run in which all are 0.25 before but `x`, which is zero.
fn run(module: &Module) -> Vec<f64> {
    let count = module.functions[&module.entry].params.len();
    let args = (0..count).map(|k| if k == count / 2 { 0.0 } else { 0.25 }.load()).collect();
    let mut machine = Machine::new(module, &module.entry, Direction::FORWARD, args).unwrap();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments().iter().flat_map(rev_core::coordinates::of).collect()
}

#[test]
fn branches_that_are_not_taken_give_no_infinity() {
    for value in [
        "if x == 0.0 { 1.0 - x * x } else { sin(x) / x }",
        "exp(if x == 0.0 { 1.0 } else { sin(x) / x * exp(x) })",
        "if x == 0.0 { 0.0 } else { ln(x) * x }",
        "if x <= 0.0 { 0.0 } else { sqrt(x) }",
        "if x <= 0.0 { 0.0 } else { exp(-1.0 / x) }",
        "sin(if x == 0.0 { x } else { (1.0 - cos(x)) / (x * x) * exp(recip(x)) })",
        "abs(x) * exp(abs(x))",
        "select(x == 0.0, x, sin(x) / x)",
        "if x <= 0.0 { 0.0 } else { sqrt(recip(x)) }",
        "if x == 0.0 { 1.0 } else { let r = recip(x);r * sin(x) }",
        "if x < 1.0 { x * x } else { acosh(x) * exp(x) }",
    ] {
        let m = module(&format!("fn f(y: &mut f64, x: f64) {{ y += {value} }}"));
        let of = |path: &[&str]| {
            path.iter().fold(m.clone(), |m, derivative| match *derivative {
                "adjoint" => m.pullback().unwrap(),
                "tangent" => m.tangent().unwrap(),
                _ => m.taylor(3).unwrap(),
            })
        };
        for path in DERIVATIVES {
            let found = run(&of(path));
            assert!(found.iter().all(|x| x.is_finite()), "{value}, {path:?}: {found:?}");
        }
    }
}

/// At the origin, where they have no derivatives, `hypot` and `atan2` have ones of zero; a power has others where its exponent
/// is zero.
#[test]
fn second_derivatives_where_first_ones_are_chosen() {
    let hessian = |value: &str, x: f64, z: f64| {
        let m = module(&format!("fn f(y: &mut f64, x: f64, z: f64) {{ y += {value} }}"));
        let m = m.tangent().unwrap().tangent().unwrap();
        let second = |[a, b]: [[f64; 2]; 2]| {
            // each number, its tangent by the first direction, by the second, and that of the tangent
            let args = [[0.0; 4], [x, a[0], b[0], 0.0], [z, a[1], b[1], 0.0]];
            let args = args.as_flattened().iter().map(DynArg::load).collect();
            let mut machine = Machine::new(&m, &m.entry, Direction::FORWARD, args).unwrap();
            machine.run().unwrap_or_else(|e| panic!("{e}\n{m}"));
            machine.arguments().iter().flat_map(rev_core::coordinates::of).nth(3).unwrap()
        };
        let (x, z) = ([1.0, 0.0], [0.0, 1.0]);
        [second([x, x]), second([x, z]), second([z, x]), second([z, z])]
    };
    let l = 2f64.ln();
    assert_eq!(hessian("powf(x, z)", 2.0, 0.0), [0.0, 0.5, 0.5, l * l]);
    assert_eq!(hessian("powf(x, z)", 0.0, 0.0), [0.0; 4]);
    assert_eq!(hessian("hypot(x, z)", 0.0, 0.0), [0.0; 4]);
    assert_eq!(hessian("atan2(x, z)", 0.0, 0.0), [0.0; 4]);
}

/// The adjoint on numbers of a part of a complex number: the cotangent of a real part meets a number that is complex.
#[test]
fn cotangents_of_parts_take_the_type_of_what_they_belong_to() {
    for (value, expected) in [
        ("min(2.0, re(conj(complex(x, 1.0))))", 1.0),
        ("min(2.0, im(conj(complex(1.0, x))))", -1.0),
        ("max(-2.0, re(conj(conj(complex(x, 1.0)))) * x)", 1.0),
    ] {
        let m = module(&format!("fn f(y: &mut f64, x: f64) {{ y += {value} }}")).pullback().unwrap();
        let args = [0.0, 1.0, 0.5, 0.0].map(|x| DynArg::load(&x)).to_vec();
        let mut machine = Machine::new(&m, &m.entry, Direction::FORWARD, args).unwrap();
        machine.run().unwrap_or_else(|e| panic!("{e}\n{m}"));
        let found: Vec<f64> = machine.arguments().iter().flat_map(rev_core::coordinates::of).collect();
        assert_eq!(found[3], expected, "{value}: {found:?}\n{m}");
    }
}
