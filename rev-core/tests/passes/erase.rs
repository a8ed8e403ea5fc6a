//! What is left of programs without their dead code, beside the whole ones.

use rev_core::check::{check, check_module};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module, StmtKind};
use rev_core::pass::{adjoint, erase, Adjoint, Wanted};
use rev_core::text::{parse_located, parse_module};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};

fn run(module: &Module, args: &[Data]) -> Vec<Data> {
    let options = Options { checks: false, ..Options::default() };
    let machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec()).unwrap();
    let mut machine = machine.with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments()
}

#[test]
fn a_module_calls_what_is_left_of_its_functions_but_whole_ones_backwards() {
    rev_core::validate::switch_on();
    let callee = |name: &str| {
        format!(
            "fn {name}(y: &mut f64, x: f64) {{
                managed anc s: f64 = 0.0 {{
                    s += sin(x)
                    y += s * s
                }}
            }}"
        )
    };
    let text = format!(
        "module f
        {} {}
        fn f(y: &mut f64, z: &mut f64, x: f64) {{
            if x > 0.0 {{
                call g(&mut y, x)
            }}
            call h(&mut y, x + 1.0)
            uncall h(&mut z, x)
        }}",
        callee("g"),
        callee("h")
    );
    let module = check_module(parse_module(&text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
    let erased = module.erased().unwrap();
    assert_eq!(erased.entry, "f::erased");
    assert_eq!(erased.resolve("f::erased", "g"), "g::erased");
    assert_eq!(erased.resolve("f::erased", "h"), "h");
    let left = &erased.functions["g::erased"].to_string();
    // nobody asks for the ancilla to be brought back
    assert!(left.contains("s += sin(x)") && !left.contains("s -="), "{left}");
    let args = [0.5.load(), 0.25.load(), 0.7.load()];
    assert_eq!(run(&erased, &args), run(&module, &args));
}

/// A backend runs the callee's adjoint without the state before it where nobody reads that state.
#[test]
fn calls_of_adjoints_forget_the_state_that_nobody_reads() {
    let text = "fn f(y: &mut f64, x: f64) {
        call g(&mut y, &x)
    }";
    let adjoint = adjoint(&check(parse_located(text).unwrap()).unwrap(), Adjoint::REVERSIBLE);
    for (wanted, forgets) in [(Wanted::Shadows, true), (Wanted::All, false)] {
        let erased = erase(&adjoint, wanted);
        let call = erased.body.iter().find(|s| matches!(s.kind, StmtKind::Call { .. })).unwrap();
        assert!(call.span.is_some());
        assert_eq!(erased.forgets(call.span), forgets, "{wanted:?}");
    }
}

/// The adjoint as a function of its own, on numbers of which some are complex: the zero beside the partial derivative is
/// of its type, not of the one that a literal has alone.
#[test]
fn an_adjoint_knows_the_types_of_literals_beside_partial_derivatives() {
    rev_core::validate::switch_on();
    let text = "module f
        pure fn given<T: Real>(x: T, y: T) -> T { x * sin(y) } partials (sin(y), x * cos(y))
        fn f<T: Real>(y: &mut T, x: T) {
            y += min(0.45, given(0.74, x))
            y += im(complex(x, 1))
        }";
    let module = check_module(parse_module(text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
    let adjoint = module.adjoint();
    for made in [adjoint.erased().unwrap(), adjoint] {
        let pulled =
            |y: Data, y_bar: Data, x: Data, x_bar: Data| run(&made, &[y, y_bar, x, x_bar]).swap_remove(3);
        let x_bar = pulled(0.5.load(), 2.0.load(), 0.3.load(), 0.0.load());
        assert_eq!(x_bar, (2.0 * (0.74 * 0.3f64.cos())).load(), "{made}");
        let x_bar = pulled(0.5f32.load(), 2f32.load(), 0.3f32.load(), 0f32.load());
        assert_eq!(x_bar, (2.0 * (0.74 * 0.3f32.cos())).load(), "{made}");
    }
}
