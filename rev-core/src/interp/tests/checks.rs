//! Every check and every error of a run: the program fails at the statement, with the values and
//! the place, and passes where it should. Programs that the static rules reject are run as written.

use super::*;
use crate::scalar::rt::instr::InstrError;
use crate::scalar::Fixed43;
use crate::tolerance::Tolerance;
use crate::value::Stack;
use approx::assert_abs_diff_eq;

fn raw_error(text: &str, args: &[Data]) -> Error {
    run(&raw(text), Direction::FORWARD, args).expect_err("the program must fail")
}

fn raw_failure(text: &str, args: &[Data]) -> Cause {
    raw_error(text, args).cause().clone()
}

fn passes(text: &str, args: &[Data]) {
    run(&raw(text), Direction::FORWARD, args).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn an_ancilla_is_released_with_its_first_value() {
    let error = raw_error("fn f(x: f64) { for i in 0..3 { anc a: f64 = 0.5 { a += x } } }", &args([&2.0]));
    let Cause::Release { place, expected, found, tolerance } = error.cause() else { panic!("{error}") };
    assert_eq!((place.as_str(), expected.as_str(), found.as_str()), ("a", "0.5", "2.5"));
    assert_abs_diff_eq!(*tolerance, 2.5e-8, epsilon = 1e-20);
    let site = error.site().unwrap();
    assert_eq!(site.statement, "anc a: f64 = 0.5 { … }");
    assert_eq!(site.iterations[0].value, 0);
}

#[test]
fn the_element_of_a_composite_ancilla_is_named() {
    let error =
        raw_error("fn f(x: f64) { anc a: ([f64; 2], i32) = ([0.0; 2], 0) { a.0[1] += x } }", &args([&2.0]));
    assert!(matches!(error.cause(), Cause::Release { place, .. } if place == "a[0][1]"), "{error}");
}

#[test]
fn a_release_is_relative_to_what_the_ancilla_held() {
    let f = "fn f(x: f64, rest: f64) { anc a: f64 = 0.0 { a += x a -= x a += rest } }";
    passes(f, &args([&1e12, &1e3]));
    assert!(matches!(raw_failure(f, &args([&1e-12, &1e-9])), Cause::Release { .. }));
    assert!(matches!(raw_failure(f, &args([&1e12, &1e5])), Cause::Release { .. }));
    assert!(matches!(raw_failure(f, &args([&f64::INFINITY, &0.0])), Cause::Release { .. }));
}

#[test]
fn the_caller_sets_the_tolerance() {
    let f = raw("fn f(x: f64) { anc a: f64 = 0.0 { a += 1.0 a -= 1.0 + x } }");
    let result = |t: Tolerance| {
        let tolerances = Tolerances { f64: t, ..Tolerances::default() };
        Machine::new(&f, "f", Direction::FORWARD, args([&1e-5]))
            .unwrap()
            .with_options(Options { tolerances, ..Options::default() })
            .run()
    };
    assert!(result(Tolerance { absolute: 0.0, relative: 1e-4 }).is_ok());
    assert!(result(Tolerance { absolute: 1.0, relative: 1e-6 }).is_err());
    assert!(result(Tolerance::EXACT).is_err());
}

#[test]
fn integers_and_fixed_point_are_released_exactly() {
    let int = "fn f(x: i64) { anc a: i64 = 0 { a += x a -= x - 1 } }";
    assert!(matches!(
        raw_failure(int, &args([&1_000_000_000_000i64])),
        Cause::Release { tolerance: 0.0, .. }
    ));
    let fixed = "fn f(x: Fixed43, e: Fixed43) { anc a: Fixed43 = 0 { a += x a -= x a += e } }";
    passes(fixed, &args([&Fixed43::from_num(1000), &Fixed43::ZERO]));
    assert!(matches!(
        raw_failure(fixed, &args([&Fixed43::from_num(1000), &Fixed43::DELTA])),
        Cause::Release { .. }
    ));
}

#[test]
fn an_explicit_release_is_a_check_where_it_stands() {
    let f = "fn f(y: &mut f64) { anc a: f64 = 0.0 { a += 1.0 release a = 0.0 y += 1.0 a -= 1.0 } }";
    let error = raw_error(f, &args([&0.0]));
    assert_eq!(error.site().unwrap().statement, "release a = 0.0");
}

#[test]
fn a_shape_that_differs_is_no_zero() {
    // [0.0] is not [0.0, 0.0]
    let f = "fn f(s: &mut Stack<[f64]>) { anc a: [f64] = fill(0.0, 2) { pop(s, a) } }";
    let error = raw_error(f, &args([&Stack::from(vec![vec![0.0]])]));
    assert!(matches!(error.cause(), Cause::Shape { .. }), "{error}");
}

#[test]
fn the_postcondition_of_each_branch() {
    let f = "fn f(y: &mut f64, x: f64) { if x > 0.0 { y += x } else { y -= x } post y > 1.0 }";
    passes(f, &args([&0.0, &2.0]));
    let then = raw_failure(f, &args([&0.0, &0.5]));
    assert!(
        matches!(&then, Cause::Condition { condition, expected: true, .. } if condition == "y > 1.0"),
        "{then}"
    );
    let otherwise = raw_failure(f, &args([&0.0, &-2.0]));
    assert!(matches!(otherwise, Cause::Condition { expected: false, .. }));
}

#[test]
fn a_condition_without_postcondition_holds_afterwards() {
    let f = "fn f(x: &mut [f64], i: usize, j: usize) { if x[i] > 0.0 { x[j] -= 3.0 } else { } }";
    passes(f, &args([&vec![1.0, 1.0], &0usize, &1usize]));
    let cause = raw_failure(f, &args([&vec![1.0, 1.0], &0usize, &0usize]));
    assert!(matches!(cause, Cause::Condition { expected: true, .. }), "{cause}");
}

#[test]
fn the_postcondition_of_a_loop_before_and_after() {
    let f = "fn f(k: &mut i64) { while k < 3 post k > 0 { k += 1 } }";
    passes(f, &args([&0i64]));
    let entry = raw_error(f, &args([&1i64]));
    assert!(entry.to_string().contains("must be false before the loop"), "{entry}");
    let each = raw_error(f, &args([&-5i64]));
    assert!(each.to_string().contains("must be true after each iteration"), "{each}");
    assert_eq!(each.site().unwrap().iterations[0].variable, "while");
}

#[test]
fn the_bounds_of_a_loop_stay() {
    let f = "fn f(k: &mut usize) { for i in 0..k { k += 1 } }";
    let cause = raw_failure(f, &args([&2usize]));
    assert_eq!(cause, Cause::RangeChanged { expected: "0, 1".into(), found: "0, 1, … 3".into() });
    let step = "fn f(y: &mut f64, k: usize) { for i in (0..9).step_by(k) { y += 1.0 } }";
    assert_eq!(raw_failure(step, &args([&0.0, &0usize])), Cause::Step { found: 0 });
}

#[test]
fn what_a_binding_stands_for_stays() {
    let f = "fn f(x: &mut [f64], i: usize, j: usize) { let t: f64 = x[i] { x[j] += 1.0 + t } }";
    passes(f, &args([&vec![1.0, 2.0], &0usize, &1usize]));
    let cause = raw_failure(f, &args([&vec![1.0, 2.0], &0usize, &0usize]));
    assert!(matches!(cause, Cause::BindingChanged { .. }), "{cause}");
    let nan = "fn f(y: &mut f64, x: f64) { let t: f64 = x / x { y += t } }";
    passes(nan, &args([&0.0, &0.0]));
}

#[test]
fn aliases_of_every_statement() {
    let alias = |text: &str, args: &[Data]| {
        let cause = raw_failure(text, args);
        assert!(matches!(cause, Cause::Alias { .. }), "{text}: {cause}");
    };
    let x = vec![1.0, 2.0];
    let same = args([&x, &1usize, &1usize]);
    alias("fn f(x: &mut [f64], i: usize, j: usize) { rot(x[i], x[j], 0.5) }", &same);
    alias("fn f(x: &mut [f64], i: usize, j: usize) { rot(x[i], x[0], x[j]) }", &same);
    alias("fn f(x: &mut [f64], i: usize, j: usize) { scale_by(x[i], x[j]) }", &same);
    alias("fn f(k: &mut [usize]) { k[k[0]] += 1 }", &args([&vec![0usize, 1]]));
    alias("fn f(k: &mut [usize], i: usize) { k[0] ^= k[i] }", &args([&vec![0usize, 1], &0usize]));
    let callee = "fn g(a: &mut f64, b: f64) { a += b }\nfn h(a: &mut f64, b: &mut f64) { swap(a, b) }\n";
    let with = |body: &str| format!("{callee}fn f(x: &mut [f64], i: usize, j: usize) {{ {body} }}");
    alias(&with("call g(&mut x[i], &x[j])"), &same);
    alias(&with("call g(&mut x[i], x[j] + 1.0)"), &same);
    alias(&with("call h(&mut x[i], &mut x[j])"), &same);
    passes(&with("call h(&mut x[i], &mut x[j])"), &args([&x, &0usize, &1usize]));
    // parts of one element are apart
    passes("fn f(z: &mut [Complex<f64>], i: usize) { z[i].re += z[i].im }", {
        &args([&vec![crate::scalar::Complex::new(1.0, 2.0)], &0usize])
    });
}

#[test]
fn an_element_exchanged_with_itself_stays() {
    let f = "fn f(x: &mut [[f64; 2]], i: usize, j: usize) { swap(x[i], x[j]) swap(x[j][0], x[i][0]) }";
    let x = args([&vec![[1.0, 2.0], [3.0, 4.0]], &1usize, &1usize]);
    let end = run(&module(f), Direction::FORWARD, &x).unwrap();
    assert_eq!(end, x);
    assert_eq!(run(&module(f), Direction::INVERSE, &x).unwrap(), x);
    // the element's shadow too
    let with_shadow = |x: &[Data]| -> Vec<Data> {
        let shadow = args([&vec![[5.0, 6.0], [7.0, 8.0]]]).remove(0);
        let none = x[1].zero_shadow();
        vec![x[0].clone(), shadow, x[1].clone(), none.clone(), x[2].clone(), none]
    };
    let before = with_shadow(&x);
    assert_eq!(run(&module(f), ADJOINT, &before).unwrap()[..2], before[..2]);
}

#[test]
fn a_popped_into_variable_is_zero() {
    let f = "fn f(s: &mut Stack<f64>, x: &mut f64) { pop(s, x) }";
    passes(f, &args([&Stack::from(vec![1.0]), &0.0]));
    let cause = raw_failure(f, &args([&Stack::from(vec![1.0]), &0.5]));
    assert_eq!(cause, Cause::PopTarget { place: "x".into(), found: "0.5".into() });
}

#[test]
fn a_stack_has_an_end_checked_or_not() {
    let f = raw("fn f(s: &mut Stack<f64>, x: &mut f64) { pop(s, x) }");
    let start = args([&Stack::<f64>::new(), &0.0]);
    for options in [Options::default(), unchecked()] {
        let mut m = Machine::new(&f, "f", Direction::FORWARD, start.clone()).unwrap().with_options(options);
        assert_eq!(*m.run().unwrap_err().cause(), Cause::StackUnderflow { stack: "s".into() });
        assert_eq!(m.arguments(), start);
    }
}

#[test]
fn an_index_is_in_range_checked_or_not() {
    let f = raw("unchecked fn f(y: &mut f64, a: Array2<f64>, i: i64) { y += a[1, i] }");
    let a = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    for i in [2i64, -1] {
        let error = run(&f, Direction::FORWARD, &args([&0.0, &a, &i])).unwrap_err();
        let (place, index, shape) = ("a[1, i]".into(), vec![1, i.into()], vec![2, 2]);
        assert_eq!(*error.cause(), Cause::IndexOutOfRange { place, index, shape });
    }
    let slice = "fn g(x: &mut [f64]) { x[0] += 1.0 }\nfn f(x: &mut [f64], i: usize, j: usize) { call g(&mut x[i..j]) }";
    for (i, j) in [(1usize, 3usize), (2, 1)] {
        let cause = raw_failure(slice, &args([&vec![1.0, 2.0], &i, &j]));
        assert!(matches!(cause, Cause::IndexOutOfRange { .. }), "{cause}");
    }
    let inside = raw_error(slice, &args([&vec![1.0, 2.0], &1usize, &1usize]));
    assert_eq!(inside.to_string(), "`x[0]`: index [0] is out of range for the shape [0]\n  in `g`: `x[0] += 1.0`\n  called in `f`: `call g(&mut x[i..j])`");
}

#[test]
fn integer_division_by_zero_is_an_error_of_its_statement() {
    let f = "fn f(y: &mut i64, a: i64, b: i64) { y += quot(a, b) }";
    assert_eq!(raw_failure(f, &args([&0i64, &1i64, &0i64])), Cause::DivisionByZero);
    assert_eq!(
        raw_failure(&f.replace("quot(a, b)", "a % b"), &args([&0i64, &1i64, &0i64])),
        Cause::DivisionByZero
    );
    passes("fn f(y: &mut f64, a: f64, b: f64) { y += a / b }", &args([&0.0, &1.0, &0.0]));
}

#[test]
fn instructions_that_lose_something_are_errors() {
    let f = "fn f(x: &mut i32, k: i64) { div_int(x, k) }";
    passes(f, &args([&6i32, &3i64]));
    let reason = |text: &str, args: &[Data]| match raw_failure(text, args) {
        Cause::Instruction { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason(f, &args([&7i32, &3i64])), InstrError::Inexact);
    assert_eq!(reason(f, &args([&7i32, &0i64])), InstrError::Inexact);
    assert_eq!(reason(&f.replace("div", "mul"), &args([&i32::MAX, &2i64])), InstrError::Overflow);
}

#[test]
fn an_injective_index_array_has_no_value_twice() {
    let f = "fn f(y: &mut [f64], k: [usize]) { par for i in 0..len(k) injective(k) { neg(y[k[i]]) } }";
    passes(f, &args([&vec![1.0, 2.0], &vec![1usize, 0]]));
    let cause = raw_failure(f, &args([&vec![1.0, 2.0], &vec![1usize, 0, 1]]));
    let place = "k".into();
    assert_eq!(cause, Cause::NotInjective { place, value: "1".into(), first: 0, second: 2 });
}

#[test]
fn unchecked_code_makes_no_reversibility_checks() {
    let texts = [
        "unchecked fn f(x: f64) { anc a: f64 = 0.0 { a += x } }",
        "fn f(x: f64) { unchecked { anc a: f64 = 0.0 { a += x } } }",
        "unchecked fn f(x: &mut f64) { x += x }",
        "unchecked fn f(x: &mut f64) { if x > 1.0 { x -= 3.0 } else { } }",
        "unchecked fn f(x: &mut f64) { for i in 0..1 { unchecked { anc a: f64 = x { a += 1.0 } } } }",
        "fn g(a: &mut f64) { anc b: f64 = 0.0 { b += 1.0 a += b } }\nfn f(x: &mut f64) { unchecked { call g(&mut x) } }",
    ];
    for text in texts {
        passes(text, &args([&2.0]));
        let checked = text.replace("unchecked fn", "fn").replace("unchecked {", "compute { } do {");
        assert!(run(&raw(&checked), Direction::FORWARD, &args([&2.0])).is_err(), "{checked}");
    }
    let f = raw("fn f(x: f64) { anc a: f64 = 0.0 { a += x } }");
    let mut m = Machine::new(&f, "f", Direction::FORWARD, args([&2.0])).unwrap().with_options(unchecked());
    m.run().unwrap();
}

#[test]
fn an_error_names_the_chain_of_calls_and_the_iterations() {
    let f = "fn h(a: &mut f64, k: usize) { anc t: f64 = 0.0 { t += a } }
        fn g(a: &mut f64, k: usize) { for j in 0..k { call h(&mut a, j) } }
        fn f(a: &mut f64) { for i in 0..2 { call g(&mut a, i) } }";
    let error = raw_error(f, &args([&2.0]));
    assert_eq!(
        error.to_string(),
        "`t` must be released as 0.0 and holds 2.0 (tolerance 2e-8)\n  \
         in `h`: `anc t: f64 = 0.0 { … }`\n  \
         called in `g`: `call h(&mut a, j)` with j = 0\n  \
         called in `f`: `call g(&mut a, i)` with i = 1"
    );
}

#[test]
fn what_the_module_lacks_is_named() {
    let missing = |text: &str| match raw_failure(text, &args([&2.0])) {
        Cause::Missing { kind, name } => format!("{kind} {name}"),
        other => panic!("{other}"),
    };
    assert_eq!(missing("fn f(y: &mut f64) { call m::g(&mut y) }"), "function m::g");
    assert_eq!(missing("fn f(y: &mut f64) { y += g(1.0) }"), "pure function g");
    assert_eq!(missing("fn f(y: &mut f64) { y += C }"), "constant C");
    assert_eq!(missing("fn f<const N: usize>(y: &mut f64) { y += N as f64 }"), "const parameter N");
    let module = raw("fn f(y: &mut f64) { }");
    let error = Machine::new(&module, "f", Direction::FORWARD, vec![]).err().unwrap();
    assert_eq!(*error.cause(), Cause::Arguments { function: "f".into(), expected: 1, found: 0 });
    assert!(Machine::new(&module, "g", Direction::FORWARD, vec![]).is_err());
}

#[test]
fn values_of_the_wrong_type_are_errors() {
    let kind = |text: &str, args: &[Data]| {
        let cause = raw_failure(text, args);
        assert!(matches!(cause, Cause::Type { .. } | Cause::Shape { .. }), "{text}: {cause}");
    };
    kind("fn f(y: &mut f64, x: f32) { y += x }", &args([&0.0, &1.0f32]));
    kind("fn f(y: &mut f64, x: f32) { y += x < 1.0 }", &args([&0.0, &1.0f32]));
    kind("fn f(y: &mut bool) { y += true }", &args([&true]));
    kind("fn f(y: &mut f64) { y ^= 1.0 }", &args([&1.0]));
    kind("fn f(y: &mut f64) { flip(y) }", &args([&1.0]));
    kind("fn f(y: &mut i64) { y += sin(1i64) }", &args([&1i64]));
    kind("fn f(y: &mut f64) { if y { } else { } }", &args([&1.0]));
    kind("fn f(y: &mut [f64], x: [f64]) { y += x }", &args([&vec![1.0], &vec![1.0, 2.0]]));
    kind("fn f(y: &mut f64, x: [f64]) { y += x[0.5] }", &args([&1.0, &vec![1.0]]));
}
