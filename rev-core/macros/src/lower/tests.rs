//! Lowering of whole functions, looked at as IR.

use rev_compiler::diag::{Code, Diagnostics};
use rev_compiler::ir::{Function, StmtKind, VarKind};

use super::lower_function;
use crate::model::Model;

fn lower(source: &str) -> (Model, Diagnostics) {
    let item: syn::ItemFn = syn::parse_str(source).unwrap();
    let mut attribute = proc_macro2::TokenStream::new();
    if let Some(a) = item.attrs.iter().find(|a| a.path().is_ident("reversible")) {
        if let syn::Meta::List(list) = &a.meta {
            attribute = list.tokens.clone();
        }
    }
    lower_function(attribute, item, None)
}

fn good(source: &str) -> Function {
    let (model, diagnostics) = lower(source);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render("source", source));
    model.function
}

fn codes(source: &str) -> Vec<Code> {
    let (_, mut diagnostics) = lower(source);
    diagnostics.sort();
    diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn a_function_of_the_design() {
    let f = good(
        "fn fit<T: Real>(loss: &mut T, w: &[T], x: ArrayView2<T>, y: &[T]) {
            for i in par(0..y.len()) {
                let mut p = T::zero();
                for j in 0..w.len() {
                    p += x[[i, j]] * w[j];
                }
                let r = p - y[i];
                *loss += r * r / (T::one() + r.abs());
            }
        }",
    );
    assert_eq!(f.params.len(), 4);
    let [stmt] = f.body.as_slice() else { panic!("one statement") };
    let StmtKind::For { parallel: Some(_), body, .. } = &stmt.kind else { panic!("a parallel loop") };
    let StmtKind::Ancilla { body, .. } = &body[0].kind else { panic!("an ancilla") };
    assert_eq!(body.len(), 2);
    assert!(matches!(body[1].kind, StmtKind::Let { .. }));
}

#[test]
fn names_are_unique() {
    let f = good("fn f(y: &mut f64, x: f64) { let x = x * 2.0; let x = x + 1.0; *y += x; for i in 0..3 { *y += x; } for i in 0..2 { *y -= x; } }");
    let mut names: Vec<_> = f.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["y", "x", "x2", "x3", "i", "i2"]);
    names.dedup();
    assert_eq!(f.vars.iter().filter(|v| v.kind == VarKind::Index).count(), 2);
}

#[test]
fn every_error_is_found_at_once() {
    let found = codes(
        "fn f(y: &mut f64, x: &[f64]) {
            y = 1.0;
            let mut a = 0.0;
            for i in 0..3 { if x[0] > 0.0 { break; } }
            let a = 2.0;
            while *y > 0.0 { *y -= 1.0; }
            println!(\"no\");
            z += 1.0;
            match (y, 1) { (_, _, _) => {} }
            return;
        }",
    );
    use Code::*;
    let expected =
        [Assignment, Break, ShadowedAncilla, MissingPostcondition, Macro, UnknownName, Match, Return];
    assert_eq!(found, expected);
}

/// The lowered program as text, after the opening line of the function.
fn lines(source: &str) -> String {
    let text = rev_compiler::text::print_function(&good(source));
    text.lines().skip(1).map(|l| format!("{}\n", l.strip_prefix("    ").unwrap_or(l))).collect()
}

#[track_caller]
fn lowers(parameters: &str, body: &str, expected: &[&str]) {
    let text = lines(&format!("fn f({parameters}) {{ {body} }}"));
    let text: Vec<&str> = text.lines().collect();
    assert_eq!(text[..text.len() - 1], *expected, "{body}");
}

#[test]
fn views_as_targets() {
    let p = "y: &mut f64, s: &mut f64, c: &mut f64, z: &mut Complex<f64>, w: &Complex<f64>, x: f64";
    lowers(p, "-*y += x;", &["y -= x"]);
    lowers(p, "conj(z) += w * 2.0;", &["z += conj(w * 2.0)"]);
    lowers(p, "(*s, *c) += (x.sin(), cos(x));", &["s += sin(x)", "c += cos(x)"]);
    lowers(
        p,
        "(s, c) -= sin_and_cos(x);",
        &["let t = sin_and_cos(x) {", "    s -= t.0", "    c -= t.1", "}"],
    );
    lowers(p, "z.re += x; swap(&mut z.im, y);", &["z.re += x", "swap(z.im, y)"]);
}

/// Updates of structs are calls of their functions, on what represents the numbers.
#[test]
fn numbers_of_a_type() {
    let p = "x: &mut Log<f64>, y: &[Log<f64>], p: f64, q: &mut f64";
    let call = |op: &str, e: &str, expected: &str| lowers(p, &format!("*x {op} {e};"), &[expected]);
    call("*=", "y[0]", "call Log::<f64>::mul_assign(&mut x, y[0].repr)");
    call("/=", "&y[0]", "uncall Log::<f64>::mul_assign(&mut x, y[0].repr)");
    call("-=", "y[0]", "uncall Log::<f64>::add_assign(&mut x, y[0].repr)");
    call("^=", "y[0]", "call Log::<f64>::bitxor_assign(&mut x, y[0].repr)");
    call("*=", "p * 3.0", "call Log::<f64>::mul_assign(&mut x, Log::<f64>::of(p * 3.0))");
    call(
        "*=",
        "(y[0] + p * 3.0).powf(p) / -y[1]",
        "call Log::<f64>::mul_assign(&mut x, Log::<f64>::div(Log::<f64>::powf(Log::<f64>::add(y[0].repr, \
         Log::<f64>::of(p * 3.0)), p), Log::<f64>::neg(y[1].repr)))",
    );
    call(
        "*=",
        "max(y[0], p.sin())",
        "call Log::<f64>::mul_assign(&mut x, Log::<f64>::max(y[0].repr, Log::<f64>::of(sin(p))))",
    );
    lowers(p, "q += y[0].repr * p;", &["q += y[0].repr * p"]);
}

/// Loops over elements are loops over indices.
#[test]
fn elements() {
    let body = |head: &str, expected: &[&str]| {
        lowers("y: &mut f64, xs: &[f64]", &format!("for {head} {{ *y += x; }}"), expected);
    };
    let visits = |head: &str, range: &str| {
        body(head, &[range, "    let x: f64 = xs[i] {", "        y += x", "    }", "}"]);
    };
    visits("x in xs", "for i in 0usize..len(xs) {");
    visits("&x in &xs", "for i in 0usize..len(xs) {");
    visits("x in par(xs.iter().rev())", "par for i in (0usize..len(xs)).rev() {");
    visits("(i, x) in xs.iter().enumerate().step_by(2)", "for i in (0usize..len(xs)).step_by(2) {");
    body(
        "x in &xs[1..3]",
        &["for i in 0usize..len(xs[1..3]) {", "    let x: f64 = xs[1 + i] {", "        y += x", "    }", "}"],
    );
}

#[test]
fn ranges() {
    let visits = |range: &str, expected: &str| {
        let body = format!("for i in {range} {{ *y += i as f64; }}");
        lowers("y: &mut f64, n: usize", &body, &[expected, "    y += i as f64", "}"]);
    };
    visits("0..n", "for i in 0..n {");
    visits("(1..=n).rev()", "for i in (1..=n).rev() {");
    visits("(0..n).step_by(2).rev()", "for i in (0..n).step_by(2).rev() {");
    visits("(0..n).rev().step_by(2)", "for i in (0..n).rev().step_by(2) {");
    visits("(0..n).step_by(2).step_by(3)", "for i in (0..n).step_by(6) {");
    visits("par((0..n).rev())", "par for i in (0..n).rev() {");
    visits("(0..n).rev().rev()", "for i in 0..n {");
}

#[test]
fn shapes() {
    let shape = |e: &str, expected: &str| {
        lowers("y: &mut usize, x: ArrayView2<f64>", &format!("*y += {e};"), &[&format!("y += {expected}")]);
    };
    shape("x.len()", "len(x)");
    shape("x.nrows()", "dim(x, 0)");
    shape("x.ncols()", "dim(x, 1)");
    shape("x.dim().1", "dim(x, 1)");
    shape("x.dim(0)", "dim(x, 0)");
    shape("x.shape()[1]", "dim(x, 1)");
    shape("x.len_of(Axis(0))", "dim(x, 0)");
}

#[test]
fn literals_and_associated_functions() {
    let generic = |e: &str, expected: &str| {
        let source = format!("fn f<T: Real, const K: usize>(y: &mut T, n: usize, x: T) {{ *y += {e}; }}");
        assert_eq!(lines(&source), format!("y += {expected}\n}}\n"), "{e}");
    };
    generic("2.0 * x", "2.0 * x");
    generic("T::zero() + T::one()", "0_T + 1_T");
    generic("T::from_f64(0.5)", "0.5_T");
    generic("T::from_usize(n)", "n as T");
    generic("<T as Ring>::one()", "1_T");
    generic("x.powi(-2)", "powi(x, -2)");
    generic("T::pi()", "3.141592653589793_T");
    generic("T::from_usize(K)", "K as T");
    generic("x * SCALE + consts::MASS", "x * SCALE + consts::MASS");
    generic("x.sin_cos().1", "cos(x)");
    generic("x.mul_add(x, 1.0)", "mul_add(x, x, 1.0)");
    generic("Complex::new(x, T::one()).norm_sqr()", "abs2(complex(x, 1_T))");
    generic(
        "if n > 2 { x } else { let z = x * x; z + 1.0 }",
        "if n > 2 { x } else { let z: T = x * x; z + 1.0 }",
    );
}

#[test]
fn operators_of_integers() {
    let p = "k: &mut i64, y: &mut f64, n: i64, x: f64, c: bool, d: bool";
    lowers(p, "*k += n / 2 + n % 3;", &["k += n / 2 + n % 3"]);
    lowers(p, "*y += x / 2.0;", &["y += x / 2.0"]);
    lowers(p, "*k ^= (n & 3) << 2;", &["k ^= (n & 3) << 2"]);
    lowers(p, "if c & d | !c { *y += 1.0; }", &["if c && d || !c {", "    y += 1.0", "}"]);
}

#[test]
fn calls() {
    let p = "y: &mut [f64], x: &[f64], v: ArrayViewMut1<f64>, k: usize, g: impl Reversible<(&mut f64, f64)>";
    lowers(p, "f(&mut y[..k], &x, k + 1);", &["call f(&mut y[0usize..k], &x, k + 1)"]);
    lowers(p, "m::f::inverse::<f64>(&mut y[k..], x);", &["uncall m::f::<f64>(&mut y[k..len(y)], &x)"]);
    lowers(p, "f(v.view_mut(), x[0], &x[1..=k]);", &["call f(&mut v, x[0], &x[1..k + 1usize])"]);
    lowers(
        p,
        "g(&mut y[0], x[1]); g.inverse(&mut y[0], x[1]);",
        &["call g(&mut y[0], x[1])", "uncall g(&mut y[0], x[1])"],
    );
}

#[test]
fn releases() {
    let p = "y: &mut f64, x: f64";
    lowers(p, "let mut a = 0.0; *y += a;", &["managed anc a = 0.0 {", "    y += a", "}"]);
    lowers(
        p,
        "let mut a = 0.0; *y += a; release(a, 0);",
        &["anc a = 0.0 {", "    y += a", "    release a = 0.0", "}"],
    );
    lowers(
        p,
        "let mut a = 1.0; a += x; *y += a; release(a, x + 1.0);",
        &[
            "anc a = 1.0 {",
            "    a += x",
            "    y += a",
            "    a -= x + 1.0",
            "    a += 1.0",
            "    release a = 1.0",
            "}",
        ],
    );
}

#[test]
fn blocks_and_conditions() {
    let p = "y: &mut f64, x: f64, n: u32";
    lowers(
        p,
        "let mut a = 0.0; #[compute] { a += x; } *y += a; #[inverse] { *y += x; } #[unchecked] { inc(y); }",
        &[
            "managed anc a = 0.0 {",
            "    compute {",
            "        a += x",
            "    } do {",
            "        y += a",
            "        inverse {",
            "            y += x",
            "        }",
            "        unchecked {",
            "            inc(y)",
            "        }",
            "    }",
            "}",
        ],
    );
    lowers(
        p,
        "#[post(*y > 0.0)] if n == 0 { *y += 1.0; } else if n > 2 { neg(y); }",
        &[
            "if n == 0 {",
            "    y += 1.0",
            "} else {",
            "    if n > 2 {",
            "        neg(y)",
            "    }",
            "} post y > 0.0",
        ],
    );
    lowers(
        p,
        "#[post(*y > 0.0)] while *y < x { *y += 1.0; }",
        &["while y < x post y > 0.0 {", "    y += 1.0", "}"],
    );
}

#[test]
fn arrays() {
    lowers(
        "n: usize, m: usize",
        "let mut a: Array2<f64> = zeros((n, m));",
        &["managed anc a: Array2<f64> = fill(0f64, n, m) {", "}"],
    );
    lowers(
        "n: usize",
        "let mut a = Array1::<f32>::zeros(n); let mut st = Stack::new(); push(st, a[0]);",
        &[
            "managed anc a: [f32] = fill(0f32, n) {",
            "    managed anc st: Stack<_> = stack() {",
            "        push(st, a[0])",
            "    }",
            "}",
        ],
    );
}

#[test]
fn an_external_block_keeps_its_tokens() {
    let (model, diagnostics) = lower(
        "fn f(y: &mut f64) { let n = 1.0; let n = n + 1.0; #[external] { println!(\"{}\", n); } *y += n; }",
    );
    assert!(diagnostics.is_empty());
    let external = &model.source.externals[0];
    assert_eq!(external.names.len(), 1);
    assert_eq!(model.function.var(external.names[0].var).name, "n2");
    assert!(external.tokens.to_string().starts_with("println !"));
}

#[test]
fn every_span_leads_back_to_tokens() {
    let (model, _) =
        lower("fn f(y: &mut [f64], x: f64) { for i in 0..y.len() { let t = x * 2.0; y[i] += t; } }");
    let spans = &model.source.spans;
    fn visit(block: &[rev_compiler::ir::Stmt], check: &dyn Fn(rev_compiler::ir::Span)) {
        for stmt in block {
            check(stmt.span);
            stmt.each_expr(&mut |e| check(e.span));
            stmt.each_place(&mut |p, _| check(p.span));
            stmt.blocks().into_iter().for_each(|b| visit(b, check));
        }
    }
    visit(&model.function.body, &|span| assert!(spans.region(span).is_some(), "{span:?}"));
    model.function.vars.iter().for_each(|v| assert!(spans.region(v.span).is_some(), "{}", v.name));
}

#[test]
fn the_loss_is_the_first_differentiable_scalar() {
    let loss = |source: &str| lower(source).0.loss;
    assert_eq!(loss("fn f(k: &mut u32, x: f64, y: &mut f64, z: &mut f64) {}"), Some(2));
    assert_eq!(loss("fn f(k: &mut u32, x: f64, y: &mut [f64]) {}"), None);
    assert_eq!(loss("#[reversible(loss = z)] fn f(y: &mut f64, z: &mut f64) {}"), Some(1));
    assert_eq!(codes("#[reversible(loss = k)] fn f(k: &mut u32) {}"), [Code::GradientOfInteger]);
    assert_eq!(codes("#[reversible(loss = k)] fn f(k: &mut [f64]) {}"), [Code::LossType]);
    assert_eq!(codes("#[reversible(loss = j)] fn f(k: &mut f64) {}"), [Code::LossNotFound]);
}

#[test]
fn constants_are_parameters_that_are_read() {
    let constants = |source: &str| {
        let function = lower(source).0.function;
        function.constants.iter().map(|v| function.var(*v).name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(constants("fn f(y: &mut f64, x: f64) {}"), [""; 0]);
    assert_eq!(
        constants("#[reversible(constant(x, n), loss = y)] fn f(y: &mut f64, x: &[f64], n: usize) {}"),
        ["x", "n"]
    );
    assert_eq!(codes("#[reversible(constant(y))] fn f(y: &mut f64) {}"), [Code::ConstantParameter]);
    assert_eq!(codes("#[reversible(constant(z))] fn f(y: &mut f64) {}"), [Code::ConstantParameter]);
}

#[test]
fn given_derivatives_come_in_the_order_of_the_parameters() {
    let item = syn::parse_str("fn g<T: Real>(x: T, n: usize, y: T) -> T { x * y }").unwrap();
    let (model, diagnostics) = super::lower_pure(quote::quote!(d(y) = x, d(x) = y), item, None);
    assert!(diagnostics.is_empty(), "{diagnostics}");
    let text = model.function.to_string();
    assert!(text.ends_with("partials (y, 0, x)"), "{text}");
}

/// Everything that would leave the block, and the reversible function in the middle of it.
#[test]
fn an_external_block_is_left_at_its_end() {
    let of = |body: &str| {
        codes(&format!(
            "fn f(y: &mut f64, n: usize) {{ for i in 0..n {{ #[external] {{ {body} }} *y += 1.0; }} }}"
        ))
    };
    for leaving in [
        "return;",
        "if n > 2 { return }",
        "let k = if n > 2 { return } else { 1 };",
        "for j in 0..n { return; }",
        "match n { 0 => return, _ => {} }",
        "return return;",
        "let f = |x: f64| x; print(f(return));",
    ] {
        assert_eq!(of(leaving)[0], Code::Return, "{leaving}");
    }
    for leaving in [
        "break;",
        "continue;",
        "if n > 2 { break }",
        "'a: { break; }",
        "for j in list({ break }) {}",
        "for j in 0..n { break 'outside; }",
        "loop { continue 'outside; }",
        "'a: loop { break 'a; } break 'a;",
        "let k = loop { break (break 'b); };",
    ] {
        assert_eq!(of(leaving), [Code::Break], "{leaving}");
    }
    for leaving in ["read(n)?;", "let k = read(n)? + 1;", "for j in 0..read(n)? {}"] {
        assert_eq!(of(leaving), [Code::QuestionMark], "{leaving}");
    }
    for staying in [
        "let f = |x: f64| { if x > 1.0 { return x; } 2.0 * x }; print(f(3.0));",
        "fn inner() -> Option<u8> { let k = read()?; for j in 0..k { break; } return Some(k); }",
        "struct S; impl S { fn f(&self) { return; } }",
        "for j in 0..n { if j > 2 { break; } continue; }",
        "while n > 2 { break; }",
        "let k = loop { break 3; };",
        "'a: for j in 0..n { for k in 0..n { if j > k { continue 'a; } break 'a; } }",
        "let k = 'a: { if n > 2 { break 'a 1; } 2 };",
        "let f = || -> Option<u8> { let k = read()?; for j in 0..k { break; } Some(k) };",
        "let f = async { read().await?; return Ok(()); };",
        "println!(\"{}\", n);",
    ] {
        assert_eq!(of(staying), [], "{staying}");
    }
}

/// A call of such a name would mean the language's function, whatever a program's own computes.
#[test]
fn pure_functions_have_names_of_their_own() {
    for (name, refused) in [("sigmoid", true), ("clamp", true), ("ln_1p", true), ("ramp", false)] {
        let item = syn::parse_str(&format!("fn {name}(x: f64) -> f64 {{ x }}")).unwrap();
        let (_, diagnostics) = super::lower_pure(proc_macro2::TokenStream::new(), item, None);
        let found: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, if refused { vec![Code::ReservedName] } else { Vec::new() }, "{name}");
    }
}

#[test]
fn reversible_functions_have_names_of_their_own() {
    for (name, refused) in [("cnot", true), ("swap", true), ("release", true), ("step", false)] {
        let item = syn::parse_str(&format!("fn {name}(y: &mut f64, x: f64) {{ *y += x; }}")).unwrap();
        let (_, diagnostics) = super::lower_function(proc_macro2::TokenStream::new(), item, None);
        let found: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, if refused { vec![Code::ReservedName] } else { Vec::new() }, "{name}");
    }
}

/// Every function that the source may name is a function and a method, and means the same.
#[test]
fn every_function_is_a_method() {
    use super::path::is_named_in_source;
    use rev_compiler::ir::{Expr, ExprKind};
    use rev_compiler::ops::Func;
    let value = |text: &str| -> Expr {
        let f = good(&format!("fn f(y: &mut f64, x: f64, z: f64, w: f64) {{ let t = {text}; }}"));
        match &f.body[0].kind {
            StmtKind::Let { expr, .. } => expr.clone(),
            other => panic!("{other:?}"),
        }
    };
    let both = |name: &str, arguments: usize| -> Expr {
        let args = ["x", "z", "w"].get(..arguments).unwrap();
        let function = value(&format!("{name}({})", args.join(", ")));
        // a choice between two values is no method of its condition
        if name != "select" {
            let method = value(&format!("{}.{name}({})", args[0], args[1..].join(", ")));
            assert!(method.same(&function), "{name}: {method:?} and {function:?}");
        }
        function
    };
    let named: Vec<Func> = Func::ALL.iter().copied().filter(|f| is_named_in_source(*f)).collect();
    assert!(named.len() > 40, "{named:?}");
    for func in named {
        let meant = both(func.name(), func.row().args.len());
        assert!(matches!(meant.kind, ExprKind::Func(f, _) if f == func), "{meant:?}");
    }
    for name in ["exp_m1", "ln_1p", "norm_sqr", "inv", "sin_cos", "signum", "fract"] {
        both(name, 1);
    }
    both("clamp", 3);
    for wrong in ["signum()", "signum(x, z)", "sin_cos(x, z)", "x.sin_cos(z)", "x.signum(z)"] {
        let found = codes(&format!("fn f(y: &mut f64, x: f64, z: f64) {{ let t = {wrong}; }}"));
        assert!(matches!(found[..], [Code::ArgumentCount | Code::UnknownCall]), "{wrong}: {found:?}");
    }
}

#[test]
fn parts_of_arrays_and_of_parts() {
    let f = good(
        "fn f(mut y: ArrayViewMut2<f64>, x: ArrayView3<f64>, v: &[f64], i: usize) {
            g(&mut y.row_mut(i), &x.index_axis(Axis(1), i).column(2));
            g(y.column_mut(i), x.slice(s![i, .., 1..3]));
            g(&mut y.row_mut(i)[0..2], &x.slice(s![0, ..]).row(3));
            y[[0, 0]] += y.row(1)[i] + x.slice(s![.., i, ..])[[0, 1]];
            g(&mut y, &v[1..]);
        }",
    );
    let printed = rev_compiler::text::print_function(&f);
    for expected in [
        "call g(&mut y[i, ..], &x[.., i, 2])",
        "call g(&mut y[.., i], &x[i, .., 1..3])",
        "call g(&mut y[i, 0..2], &x[0, 3, ..])",
        "y[0, 0] += y[1, i] + x[0, i, 1]",
    ] {
        assert!(printed.contains(expected), "{expected} in\n{printed}");
    }
}

#[test]
fn a_struct_has_methods_of_the_names_of_parts() {
    let f = good("fn f(y: &mut f64, s: &mut Grid, i: usize) { *y += s.row(i); s.column(i); }");
    let printed = rev_compiler::text::print_function(&f);
    assert!(printed.contains("Grid::row(") && printed.contains("call Grid::column("), "{printed}");
}

#[test]
fn what_has_no_such_part() {
    use Code::*;
    let found = codes(
        "fn f(y: &mut [f64], x: ArrayView2<f64>, k: usize) {
            g(&mut y, &y.row(0));
            g(&mut y, &x.index_axis(Axis(2), 0));
            g(&mut y, &x.index_axis(k, 0));
            g(&mut y, &x.slice(k));
            g(&mut y, &x.slice(s![..;2, 0]));
        }",
    );
    assert_eq!(
        found,
        [NoSuchPart, NoSuchPart, UnsupportedExpression, UnsupportedExpression, UnsupportedExpression]
    );
}

#[test]
fn elements_by_name_are_written_out_where_that_is_short() {
    let updates = |names: usize| {
        let chain: String = (1..names).map(|k| format!("let a{k} = a{0} * a{0};", k - 1)).collect();
        let last = names - 1;
        let f = good(&format!(
            "fn f(x: &mut [f64], i: usize, j: usize) {{ let a0 = x[i]; {chain} x[j] += a{last}; }}"
        ));
        rev_compiler::text::print_function(&f)
    };
    assert!(updates(2).contains("x[j] += x[i] * x[i]"), "{}", updates(2));
    // each name doubles what is written out
    assert!(updates(60).contains("x[j] += a59"), "{}", updates(60));
    let visited = good("fn f(x: &mut [f64]) { for a in x.iter() { x[0] += a; } }");
    assert!(rev_compiler::text::print_function(&visited).contains("x[0] += a"));
}
