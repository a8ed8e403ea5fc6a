//! Inference: what a function alone tells about its types, and what a module does.

#![allow(clippy::unwrap_used, clippy::panic)]

use rev_compiler::check::{check, check_module, check_pure, infer, infer_module, type_of};
use rev_compiler::diag::Code;
use rev_compiler::ir::{
    Class, Expr, Function, Generic, GenericArgument, GenericKind, Length, ScalarType, StmtKind, Type,
};
use rev_compiler::pass::{adjoint, partials, Adjoint};
use rev_compiler::text::{parse_function, parse_module, print_function};

fn inferred(text: &str) -> String {
    let mut f = parse_function(text).unwrap();
    infer(&mut f);
    print_function(&f)
}

#[test]
fn bindings_and_ancillas_get_their_types() {
    let text = inferred(
        "fn f<T: Real>(y: &mut T, x: [T], z: Complex<f64>, n: usize) {
            let a = x[n] * 2 {
                let b = abs2(z) {
                    managed anc c = 0 {
                        managed anc d = fill(0.0, n, n) {
                            let e = (a, c, b > 1.0) {
                                c += n
                                d[0, c] += b
                                y += e.0
                            }
                        }
                    }
                }
            }
        }",
    );
    for declaration in [
        "let a: T =",
        "let b: f64 =",
        "managed anc c: usize =",
        "managed anc d: Array2<f64> =",
        "let e: (T, usize, bool) =",
    ] {
        assert!(text.contains(declaration), "{declaration} in\n{text}");
    }
}

#[test]
fn what_only_rustc_knows_stays_unknown() {
    let text = inferred("fn f(y: &mut f64, c: Camera) { let a = c.focal { let b = g(a) { y += 1.0 } } }");
    assert!(text.contains("let a = c.focal"), "{text}");
    assert!(text.contains("let b = "), "{text}");
}

#[test]
fn the_use_of_an_unknown_part_tells_its_type() {
    let text = inferred("fn f(y: &mut f64, c: Camera) { let a = c.focal { y += c.focal + 1 } }");
    assert!(text.contains("let a: f64 = c.focal"), "{text}");
}

#[test]
fn a_slash_between_integers_is_their_quotient() {
    let text = inferred("fn f(k: &mut usize, n: usize, y: &mut f64, x: f64) { k += n / 2 y += x / 2 }");
    assert!(text.contains("k += quot(n, 2)"), "{text}");
    assert!(text.contains("y += x / 2"), "{text}");
}

#[test]
fn a_question_about_one_expression() {
    let f: Function = parse_function("fn f(y: &mut f64, x: [f64], n: usize) { y += x[n] * 2.0 }").unwrap();
    let StmtKind::Update { expr, .. } = &f.body[0].kind else { unreachable!() };
    assert_eq!(type_of(&f, expr).to_string(), "f64");
    assert_eq!(type_of(&f, &Expr::int(1)).to_string(), "_");
}

const MODULE: &str = "\
module f

const mass::OF_EARTH = 5.972

struct Camera<T: Real> {
    focal: T,
    rot: [T; 3],
    count: usize,
}

pure fn square<S: Ring>(a: S) -> S {
    let b = a * a;
    b + 0
}

fn f(y: &mut f64, cams: [Camera<f64>], k: &mut usize) {
    let c = cams[0] {
        let r = square(c.rot[c.count]) {
            managed anc s = 0.0 {
                call g(&mut s, r, 2)
                y += s * mass::OF_EARTH
            }
            k += 7 / 2
        }
    }
}

fn g<T: Real>(a: &mut T, b: T, n: i64) {
    a += b * 3
}
";

#[test]
fn a_module_tells_everything() {
    let mut module = parse_module(MODULE).unwrap();
    infer_module(&mut module);
    let f = print_function(&module.functions["f"]);
    let g = print_function(&module.functions["g"]);
    let expected_f = "\
fn f(y: &mut f64, cams: [Camera<f64>], k: &mut usize) {
    let c: Camera<f64> = cams[0usize] {
        let r: f64 = square(c.rot[c.count]) {
            managed anc s: f64 = 0.0f64 {
                call g(&mut s, r, 2i64)
                y += s * mass::OF_EARTH
            }
            k += quot(7usize, 2usize)
        }
    }
}
";
    assert_eq!(f, expected_f);
    assert_eq!(g, "fn g<T: Real>(a: &mut T, b: T, n: i64) {\n    a += b * 3_T\n}\n");
    assert_eq!(module.pures["square"].vars[1].ty.to_string(), "S");
}

/// A partial derivative is a number like the result; where the result carries none, a zero like the parameter, or like the
/// first that carries one.
#[test]
fn partial_derivatives_have_types() {
    for (signature, expected) in [
        ("g(x: f32, n: i64) -> f64 { n as f64 * (x as f64) }", "(f64, f64)"),
        ("g(x: f32, n: i64) -> i64 { n + floor(x) as i64 }", "(f32, f32)"),
        ("g<T: Real>(x: T, n: i64) -> (T, bool) { (x * x, n > 0) }", "((T, T), (T, T))"),
    ] {
        let module = parse_module(&format!("module f\n\npure fn {signature}\n")).unwrap();
        let derived = partials(&module.pures["g"]).unwrap();
        assert_eq!(derived.result_type.to_string(), expected, "{signature}");
    }
}

/// What is read from a struct may be an integer, whose cotangent is nothing: only rustc knows.
#[test]
fn cotangents_of_unknown_types_are_converted() {
    let converted = |argument: &str| {
        let text = format!("fn f(y: &mut f64, x: f64, k: i64, c: Camera) {{ y += g(x, {argument}) }}");
        let checked = check(parse_function(&text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
        let text = adjoint(&checked, Adjoint::LEAN).to_string();
        (text.matches(" as Shadow<").count(), text.matches("x_bar +=").count())
    };
    assert_eq!(converted("c.count"), (1, 1));
    assert_eq!(converted("x"), (0, 2));
    assert_eq!(converted("k"), (0, 1));
}

/// The types of partial derivatives tell those of the literals beside them, and their parameters those of literal
/// arguments, where nothing else does: `… as Shadow<_>` is any shadow.
#[test]
fn partial_derivatives_tell_the_types_of_literals() {
    let text = "\
module f

pure fn given<T: Real>(x: T, y: T) -> T { x * sin(y) } partials (sin(y), x * cos(y))

pure fn both<T: Real>(x: T, n: i64) -> (T, bool) { (x * sin(x), n > 0) }

struct Camera<T: Real> { focal: T }

fn f<T: Real>(y: &mut T, x: T, z: Complex<T>, c: Camera<T>) {
    y += min(0.45, given(0.74, x))
    y += max(both(x, 3).0, 2)
    y += min(0.25, given(x, c.focal))
    y += re(z)
}
";
    let module = check_module(parse_module(text).unwrap()).unwrap_or_else(|d| panic!("{d:?}"));
    for mut made in [module.adjoint(), module.adjoint().adjoint()] {
        infer_module(&mut made);
        let text = made.to_string();
        assert!(text.contains("0_T }"), "{text}");
        assert!(!text.contains("0i32 }") && !text.contains("f64"), "{text}");
    }
}

/// The codes of what is wrong with a pure function.
fn wrong(pure: &str) -> Vec<Code> {
    let module = parse_module(&format!("module f\n\npure fn {pure}\n")).unwrap();
    let pure = module.pures.values().next().unwrap();
    match check_pure(pure) {
        Ok(()) => Vec::new(),
        Err(e) => e.iter().map(|d| d.code).collect(),
    }
}

#[test]
fn pure_functions() {
    assert_eq!(wrong("f<T: Real>(x: T, n: usize) -> T { if n > 2 { sin(x) } else { x } }"), []);
    assert_eq!(wrong("f(x: f64) -> (f64, f64) { let a = x * x; (a, a + 1.0) }"), []);
    assert_eq!(wrong("f(x: f64, n: i32) -> f64 { powi(x, n) } partials (powi(x, n - 1), 0)"), []);
    assert_eq!(
        wrong("f(x: f64, n: i32) -> f64 { powi(x, n) } partials (powi(x, n - 1))"),
        [Code::PurePartials]
    );
    assert_eq!(wrong("f(x: [f64]) -> [f64] { x }"), [Code::PureResult]);
    assert_eq!(wrong("f(x: f64) -> f64 { f(x) }"), [Code::PureRecursion]);
    assert_eq!(wrong("f(x: f64, n: usize) -> f64 { (fill(x, n), x).1 }"), [Code::PureBody]);
    assert_eq!(wrong("f(x: &mut f64) -> f64 { x }"), [Code::PureBody]);
    assert_eq!(wrong("f(x: f64, n: usize) -> f64 { x * n }"), [Code::TypeMismatch]);
    assert_eq!(wrong("f(x: f64, n: usize) -> f64 { n }"), [Code::TypeMismatch]);
    assert_eq!(wrong("f<T: Ring>(x: T) -> T { sin(x) }"), [Code::FunctionClass]);
}

#[test]
fn paths_say_what_generic_parameters_stand_for() {
    let generic = |name: &str, kind| Generic { name: name.into(), kind };
    let scalar = || GenericKind::Scalar(Class::Scalar);
    let all = [generic("T", scalar()), generic("N", GenericKind::Const), generic("U", scalar())];
    let written = |path: &str| {
        Generic::written(&all, &path.into())
            .into_iter()
            .map(|(g, a)| (g.name.as_str(), a))
            .collect::<Vec<_>>()
    };
    let (f32, length) = (Type::Scalar(ScalarType::F32), |n| GenericArgument::Length(Length::Literal(n)));
    let complex = GenericArgument::Scalar(Type::Complex(Box::new(f32.clone())));
    assert_eq!(written("m::f::<Complex<f32>, 3, _>"), [("T", complex), ("N", length(3))]);
    let named = GenericArgument::Length(Length::Named("K".into()));
    let own = GenericArgument::Scalar(Type::Generic("V".into()));
    let inner = GenericArgument::Scalar(Type::Complex(Box::new(Type::Generic("V".into()))));
    assert_eq!(written("f::<V, K, Complex<V>>"), [("T", own), ("N", named), ("U", inner)]);
    assert_eq!(written("S::<f32>::f"), []);
    assert_eq!(written("f"), []);
}

/// A number that is converted there and back is the same where every one of the first type is one of the second.
#[test]
fn types_hold_others() {
    use rev_compiler::ir::FixedFormat;
    use ScalarType::*;
    let holds = |pairs: &[(ScalarType, &[ScalarType])]| {
        pairs.iter().for_each(|(a, all)| all.iter().for_each(|b| assert!(a.holds_in(*b), "{a:?} {b:?}")));
    };
    holds(&[
        (Bool, &[Bool, I8, U8, U128, Usize]),
        (I8, &[I16, I64, Isize, F16, Bf16, F32, F64]),
        (U8, &[I16, U16, Usize, F16, Bf16, F32]),
        (I32, &[I64, I128, Isize, F64]),
        (U32, &[I64, U64, Usize, F64]),
        (Usize, &[U64, U128, I128]),
        (F16, &[F32, F64]),
        (Bf16, &[F32, F64]),
        (F32, &[F64]),
    ]);
    let lossy: [(ScalarType, &[ScalarType]); 11] = [
        (I8, &[U8, U64, Bool]),
        (U8, &[I8, Bool]),
        (I16, &[F16, Bf16]),
        (I32, &[F32, U32, U64]),
        (I64, &[F64, Isize, I32]),
        (U64, &[I64, Usize, F64]),
        (Usize, &[U32, Isize, I64, F64]),
        (F64, &[F32, F16, I64, I128]),
        (F32, &[F16, Bf16, I32]),
        (F16, &[Bf16, Fixed(FixedFormat::DEFAULT)]),
        (Bf16, &[F16]),
    ];
    for (a, all) in lossy {
        all.iter().for_each(|b| assert!(!a.holds_in(*b), "{a:?} {b:?}"));
    }
}
