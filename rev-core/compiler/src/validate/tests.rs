//! Each rule is broken by a program, and found; what passes make of a program that keeps them keeps them.

use super::{adjoint_of, inverse_of, validate, validate_module, Form};
use crate::check::check;
use crate::ir::{Arg, ArgValue, Function, Mode, Place, StmtKind, Type, VarId};
use crate::pass::{adjoint, inverse, Adjoint};
use crate::text::{parse_function, parse_module};

fn function(text: &str) -> Function {
    parse_function(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The only thing that is wrong.
fn wrong(function: &Function) -> String {
    let found = validate(function, Form::Reversible);
    let [one] = found.0.as_slice() else { panic!("{found:?}\n{function}") };
    one.message.strip_prefix("this is a defect of rev, not of the program: ").unwrap().to_string()
}

fn var(f: &Function, name: &str) -> VarId {
    f.find_var(name).unwrap()
}

#[test]
fn a_variable_that_does_not_exist() {
    let mut f = function("fn f(y: &mut f64, x: f64) { y += x }");
    let StmtKind::Update { expr, .. } = &mut f.body[0].kind else { panic!() };
    *expr = crate::ir::Expr::read(Place::var(VarId(7)));
    assert_eq!(wrong(&f), "`#7` is used outside of its scope");
}

#[test]
fn scopes() {
    let mut f = function("fn f(y: &mut f64, x: f64) { let n: f64 = x { y += n } y += x }");
    let n = var(&f, "n");
    let StmtKind::Update { expr, .. } = &mut f.body[1].kind else { panic!() };
    *expr = crate::ir::Expr::read(Place::var(n));
    assert_eq!(wrong(&f), "`n` is used outside of its scope");

    let mut f = function("fn f(y: &mut f64, x: f64) { let n: f64 = x { let m: f64 = x { y += n } } }");
    let n = var(&f, "n");
    let StmtKind::Let { body, .. } = &mut f.body[0].kind else { panic!() };
    let StmtKind::Let { var, .. } = &mut body[0].kind else { panic!() };
    *var = n;
    assert_eq!(wrong(&f), "`n` is bound inside its own scope");

    let mut f = function("fn f(y: &mut f64, x: f64) { let n: f64 = x { y += n } }");
    f.vars[2].kind = crate::ir::VarKind::Ancilla;
    assert_eq!(wrong(&f), "`n` is bound as what it isn't listed as");
    f.vars[2].kind = crate::ir::VarKind::Binding;
    f.vars[2].name = "x".into();
    assert_eq!(wrong(&f), "two variables are named `x`");
}

#[test]
fn what_may_not_be_written_or_read() {
    assert_eq!(
        wrong(&function("fn f(y: &mut f64, x: f64) { x += y }")),
        "`x` is written, which it may not be"
    );
    assert_eq!(
        wrong(&function("fn f(y: &mut f64) { for i in 0..3 { i += 1 } }")),
        "`i` is written, which it may not be"
    );
    assert_eq!(
        wrong(&function("fn f(y: &mut f64, x: &acc f64) { y += x }")),
        "`x` is read, which it may not be"
    );
    assert_eq!(wrong(&function("fn f(y: &mut f64) { y += y }")), "a statement reads `y`, which it writes");
    assert_eq!(wrong(&function("fn f(y: &mut [f64]) { swap(y[1], y[1]) }")), "a statement changes `y` twice");
}

#[test]
fn what_has_to_stay() {
    let stands = "`y` changes while something stands for what it was";
    for body in [
        "let n: f64 = y[0] { y[0] += x }",
        "let n: f64 = y[i] { let m: f64 = n { y[i] += m } }",
        "if y[2] > 0 { y[2] += x }",
        "for k in 0..(y[0] as usize) { y[0] += x }",
        "anc a: f64 = y[3] { y[3] += x }",
    ] {
        assert_eq!(
            wrong(&function(&format!("fn f(y: &mut [f64], x: f64, i: usize) {{ {body} }}"))),
            stands,
            "{body}"
        );
    }
    for body in [
        // another element, or one that may be another
        "let n: f64 = y[0] { y[1] += x }",
        "let n: f64 = y[i] { y[j] += x }",
        "let n: f64 = y[0] { z += x } y[0] += x",
        "if y[2] > 0 { y[2] += x } post y[2] > 1",
    ] {
        let f =
            function(&format!("fn f(y: &mut [f64], z: &mut f64, x: f64, i: usize, j: usize) {{ {body} }}"));
        assert!(validate(&f, Form::Reversible).is_empty(), "{body}");
    }
    let f = function("fn f(y: &mut [f64], x: f64) { if y[2] > 0 { y[2] += x } }");
    assert!(validate(&f, Form::Forward).is_empty());
}

#[test]
fn scopes_that_are_not_uncomputed() {
    let f = function("fn f(y: &mut f64, x: f64) { managed anc a: f64 = 0 { a += x y += a } }");
    assert_eq!(wrong(&f), "an ancilla isn't uncomputed");
}

/// The adjoint of a program with a call, and the arguments of that call.
fn called(change: impl FnOnce(&mut Vec<Arg>, &Function)) -> Function {
    let f = check(function("fn f(y: &mut f64, u: f64, w: f64) { call g(&mut y, &u, &w) }")).unwrap();
    let mut f = adjoint(&f, Adjoint::LEAN).into_inner();
    assert!(f.defects.is_empty());
    let mut body = std::mem::take(&mut f.body);
    let StmtKind::Call { args, .. } = &mut body[0].kind else { panic!("{f}") };
    change(args, &f);
    f.body = body;
    f
}

#[test]
fn shadows_of_arguments() {
    let place = |f: &Function, name: &str| ArgValue::Place(Place::var(f.find_var(name).unwrap()));
    assert!(validate(&called(|_, _| {}), Form::Reversible).is_empty());
    let other = called(|args, f| {
        args[3].value = place(f, "w_bar");
        args[5].value = place(f, "u_bar");
    });
    let found = validate(&other, Form::Reversible);
    assert_eq!(found.0.len(), 2, "{found:?}");
    assert!(found.0[0].message.ends_with("`w_bar` is given to a call as the shadow of `u`, which it isn't"));
    assert_eq!(
        wrong(&called(|args, _| {
            args.pop();
        })),
        "a call of an adjoint has an argument without a shadow"
    );
    let twice = called(|args, f| args[5].value = place(f, "u_bar"));
    let found = validate(&twice, Form::Reversible);
    assert!(found.0.iter().any(|d| d.message.ends_with("a call is given a place that it also changes")));
    let mode = called(|args, _| args[1].mode = Mode::Accumulate);
    assert_eq!(wrong(&mode), "a shadow isn't used as its argument asks");
}

#[test]
fn shadows_of_other_types() {
    let f =
        check(function("fn f(y: &mut f64, x: f64) { managed anc a: f64 = 0 { a += x y += a } }")).unwrap();
    let mut f = adjoint(&f, Adjoint::LEAN).into_inner();
    let shadow = var(&f, "a_bar");
    f.vars[shadow.0 as usize].ty = Type::Shadow(Box::new(Type::INDEX));
    assert_eq!(wrong(&f), "`a_bar` has another type than a shadow of `a`");
}

/// A shadow that outlives its ancilla, and the update of a shadow that isn't one of any variable.
#[test]
fn shadows_that_dangle() {
    let f =
        check(function("fn f(y: &mut f64, x: f64) { managed anc a: f64 = 0 { a += x y += a } }")).unwrap();
    let made = adjoint(&f, Adjoint::LEAN).into_inner();
    assert!(validate(&made, Form::Reversible).is_empty());
    for shadow in [var(&made, "a_bar"), VarId(made.vars.len() as u32)] {
        let mut f = made.clone();
        let place = Place::var(var(&f, "x_bar"));
        let expr = crate::ir::Expr::read(Place::var(shadow));
        f.body.push(crate::ir::Stmt::new(StmtKind::Update { op: crate::ir::UpdateOp::Add, place, expr }));
        let module = crate::ir::Module {
            entry: f.name.clone(),
            functions: [(f.name.clone(), f.clone())].into_iter().collect(),
            ..Default::default()
        };
        assert!(wrong(&f).ends_with("is used outside of its scope"));
        assert_eq!(validate_module(&module, Form::Reversible).0.len(), 1);
    }
}

#[test]
fn calls_that_do_not_fit_the_callee() {
    let module = |call: &str| {
        let text = format!(
            "module f\nfn g(y: &mut f64, x: f64) {{ y += x }}\nfn f(y: &mut f64, x: f64) {{ call g({call}) }}"
        );
        let found = validate_module(&parse_module(&text).unwrap(), Form::Reversible);
        found.0.into_iter().map(|d| d.message.split(": ").nth(1).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert!(module("&mut y, x").is_empty());
    assert_eq!(module("&mut y"), ["`g` takes 2 arguments, and is given 1"]);
    assert_eq!(module("y, x"), ["an argument of `g` is given in another way than it takes it"]);
}

#[test]
fn derived_programs() {
    let f = check(function("fn f(y: &mut f64, x: f64) { let n: f64 = x * x { y += n } }")).unwrap();
    let (back, bars) = (inverse(&f), adjoint(&f, Adjoint::REVERSIBLE));
    assert!(inverse_of(&f, &back).is_empty() && adjoint_of(&f, &bars).is_empty());
    let mut wrong = bars.clone().into_inner();
    wrong.params.swap(1, 3);
    assert!(!adjoint_of(&f, &wrong).is_empty());
    let mut wrong = back.into_inner();
    wrong.body.pop();
    assert!(!inverse_of(&f, &wrong).is_empty());
}

/// What a pass can't do anything with is said with the program, which nothing then runs.
#[test]
fn derivatives_that_cannot_be_made() {
    // the update of what is out of scope has no shadow to read
    let mut f = function("fn f(y: &mut f64, x: f64) { let n: f64 = x { y += n } }");
    let StmtKind::Let { body, .. } = &mut f.body[0].kind else { panic!() };
    let update = body.remove(0);
    f.body.push(update);
    let lost = &defects_of_adjoint(f)[0];
    assert!(lost.ends_with("a variable that carries a derivative has no shadow"), "{lost}");

    let mut f = function("fn f(y: &mut f64, x: f64) { y += x * x }");
    let StmtKind::Update { expr, .. } = &mut f.body[0].kind else { panic!() };
    *expr = crate::ir::Expr::new(crate::ir::ExprKind::Element(Box::new(expr.clone()), 1));
    let of_number = &defects_of_adjoint(f)[0];
    assert!(of_number.ends_with("an element of what isn't a tuple"), "{of_number}");
}

/// What the adjoint of a program is found to lack before it runs.
fn defects_of_adjoint(f: Function) -> Vec<String> {
    let module = crate::ir::Module {
        entry: f.name.clone(),
        functions: [(f.name.clone(), f)].into_iter().collect(),
        ..Default::default()
    };
    let direction = crate::ir::Direction::ADJOINT;
    let refused = crate::pass::directed(&module, &module.entry, direction).unwrap_err().to_string();
    assert!(refused.contains("a defect of rev"), "{refused}");
    let made = module.adjoint();
    made.entry().unwrap().defects.0.iter().map(|d| d.message.clone()).collect()
}
