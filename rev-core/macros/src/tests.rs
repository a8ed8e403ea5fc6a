//! The whole expansion on strange input: errors are reported, and the macro never panics.

use proc_macro2::TokenStream;
use quote::quote;

use super::{expand_pure, expand_reversible};

/// Statements and expressions that aren't part of the language, or nearly so.
const STATEMENTS: &[&str] = &[
    "",
    ";",
    "();",
    "{}",
    "x",
    "x;",
    "x = y",
    "x[..] += 1.0",
    "x[] += 1.0",
    "x.0.0 += 1.0",
    "x.len() += 1",
    "x.shape()[9] += 1",
    "y += x.shape()[k]",
    "y += x.dim().a",
    "y += x.dim(1, 2)",
    "y += x.len_of(3)",
    "y += Axis(1)",
    "(a, b) += c",
    "((a, b), c) += ((1, 2), 3)",
    "(y, y) += (1.0, y)",
    "-y ^= 1",
    "-(-(-y)) += 1.0",
    "conj(conj(y)) += 1.0",
    "conj() += 1.0",
    "*&mut *&y += 1.0",
    "y += 340282366920938463463374607431768211456",
    "y += 1e999",
    "y += 0x_ff_u8",
    "y += 1f16",
    "y += 'c'",
    "y += b\"x\"[0]",
    "y += \"text\"",
    "y += -128i8",
    "y += !0u8",
    "y += 1 << 200",
    "y += 1.0 / 0.0",
    "y += 1 / 0",
    "y += (|x| x)(1.0)",
    "y += f(g(h(1.0)))",
    "y += <f64 as Trait>::CONST",
    "y += <f64>::sin(1.0)",
    "y += <[f64; 3]>::zero()[0]",
    "y += f64::nothing(1.0)",
    "y += Complex::<>::new(1.0, 2.0).re",
    "y += Stack::new()",
    "y += vec![]",
    "y += vec![1, 2]",
    "y += zeros()",
    "y += zeros((1, 2, 3, 4, 5, 6))",
    "y += [1.0; 3][0]",
    "y += [[1.0; 3]; 2][0][1]",
    "y += (1.0, 2.0).7",
    "y += if let Some(z) = x { 1.0 } else { 2.0 }",
    "y += if true { 1.0 } else if false { 2.0 } else { 3.0 }",
    "y += { let a = 1.0; let (b, c) = (a, a); let _ = 2.0; b * c }",
    "y += { 1.0; 2.0 }",
    "y += {}",
    "y += match 1 { _ => 2.0 }",
    "y += loop { break 1.0 }",
    "y += unsafe { 1.0 }",
    "y += async { 1.0 }",
    "y += return",
    "y += S { a: 1.0 }",
    "y += 1..2",
    "y += x as Vec<f64>",
    "y += x as _",
    "y += &x",
    "y += x?",
    "y += (y += 1.0)",
    "y %= 2.0",
    "y <<= 2",
    "let a",
    "let a: f64",
    "let mut a = 0.0; let mut a = 1.0;",
    "let (a, mut b, _) = (1.0, 2.0, 3.0); b += a;",
    "let (a, b, c) = (1.0, 2.0);",
    "let ((a, b), c) = ((1.0, 2.0), 3.0);",
    "let [a, b] = [1.0, 2.0];",
    "let S { a } = s;",
    "let ref a = 1.0;",
    "let a @ b = 1.0;",
    "let 1 = 1;",
    "let a = 1.0 else { return };",
    "let a: (f64, f64) = (1.0, 2.0); y += a.0;",
    "let a = x; y += 1.0;",
    "let mut a = x; y += 1.0;",
    "let a = a;",
    "for i in 0.. {}",
    "for i in ..3 {}",
    "for (i, j) in 0..3 {}",
    "for i in 3..0 {}",
    "for i in par(0..3).rev() { x[i] += 1.0; }",
    "for i in par(par(0..3)) { x[i] += 1.0; }",
    "for i in par() {}",
    "for i in (0..3).map(|i| i) {}",
    "for i in (0..9).step_by(0) {}",
    "for i in (0..9).step_by(2).step_by(3).rev().rev() {}",
    "'a: for i in 0..3 { break 'a; }",
    "while true {}",
    "#[post()] while true {}",
    "#[post(a, b)] while true {}",
    "#[post = 3] while true {}",
    "#[post(y > 0.0)] while y < 3.0 { y += 1.0; }",
    "#[post(y)] if y {}",
    "#[post(y > 0.0)] #[post(y > 0.0)] if y > 0.0 {}",
    "#[compute] {} #[compute] {} #[compute] {}",
    "#[compute(1)] { y += 1.0; }",
    "#[inverse] #[unchecked] { y += 1.0; }",
    "#[inverse] { #[inverse] { #[inverse] { y += 1.0; } } }",
    "#[external] { return; }",
    "#[external] { let y = 1; mac!(y) }",
    "#[external] y += 1.0;",
    "#[injective] for i in par(0..3) {}",
    "#[injective()] for i in par(0..3) {}",
    "#[disjoint(x, 1)] for i in par(0..3) { x[i] += 1.0; }",
    "#[whatever] y += 1.0;",
    "release()",
    "release(y)",
    "release(x[0])",
    "release(nothing)",
    "let mut a = 1.0; release(a, 2.0, 3.0);",
    "let mut a = 1.0; release(a); release(a);",
    "push(y)",
    "push(1, 2)",
    "pop(x, y)",
    "swap(y, y)",
    "swap(1, 2)",
    "swap(y)",
    "rot(y, y, y)",
    "scale_by(y)",
    "f()",
    "f(&mut 1.0)",
    "f(&mut y, &mut y)",
    "f(y.view_mut(), x.view())",
    "f(&x[1..][2..])",
    "f(&mut x[..=3], &x[4..])",
    "f::inverse()",
    "f::inverse::inverse(&mut y)",
    "inverse(&mut y)",
    "f::<T>::inverse::<U>(&mut y)",
    "<F as Trait>::f(&mut y)",
    "(f)(&mut y)",
    "f(1)(2)",
    "y.f()",
    "y.inverse(1.0)",
    "x.swap(0, 1)",
    "mac!(y)",
    "mac! { y }",
    "fn inner() {}",
    "use a::b;",
    "const A: f64 = 1.0;",
    "loop {}",
    "unsafe {}",
    "async {};",
    "return 1.0",
    "yield_(y)",
];

const SIGNATURES: &[&str] = &[
    "fn f(y: &mut f64, x: &mut [f64])",
    "fn f<T: Real>(y: &mut T, x: &mut [T])",
    "fn f<'a, T>(y: &'a mut T, x: ArrayViewMut1<'a, T>) where T: Field",
    "fn f<const N: usize>(y: &mut f64, x: &mut [f64; N])",
    "fn f(y: f64, x: Unknown<f64, 3>)",
    "fn f(mut y: &mut f64, _: f64)",
    "fn f(y: &mut &mut f64, x: &[&[f64]])",
    "fn f(self, y: &mut f64)",
    "fn f<F: Reversible<(&mut f64,)>>(y: &mut f64, x: F)",
    "fn f(y: &mut f64, x: impl Reversible<f64>)",
    "fn f(y: &mut f64, x: impl Fn(f64) -> f64)",
    "fn f(y: &mut Complex<f64>, x: &mut Stack)",
    "fn f(y: &mut (f64, [f64; { 3 }]), x: Array)",
    "async unsafe extern \"C\" fn f(y: &mut f64, x: dyn Fn()) -> impl Sized",
    "fn f()",
];

fn tokens(source: &str) -> Option<TokenStream> {
    source.parse().ok()
}

fn assert_expands(signature: &str, statement: &str) -> bool {
    let Some(item) = tokens(&format!("{signature} {{ {statement} }}")) else { return false };
    let readable = syn::parse2::<syn::ItemFn>(item.clone()).is_ok();
    let out = expand_reversible(TokenStream::new(), item);
    assert!(!out.is_empty(), "{signature} {{ {statement} }}");
    syn::parse2::<syn::File>(out).unwrap_or_else(|e| panic!("{signature} {{ {statement} }}: {e}"));
    readable
}

#[test]
fn strange_statements_are_reported() {
    let read = STATEMENTS.iter().filter(|s| assert_expands("fn f(y: &mut f64, x: &mut [f64])", s)).count();
    assert!(read > 100, "{read}");
}

#[test]
fn strange_signatures_are_reported() {
    for signature in SIGNATURES {
        assert_expands(signature, "y += 1.0; for i in 0..x.len() { y += x[i]; }");
    }
}

#[test]
fn strange_pure_functions_are_reported() {
    for statement in STATEMENTS {
        let signature = "fn g<T: Real>(x: T, y: usize) -> T";
        let Some(item) = tokens(&format!("{signature} {{ {statement} }}")) else { continue };
        let expanded = expand_pure(TokenStream::new(), item);
        syn::parse2::<syn::File>(expanded).unwrap_or_else(|e| panic!("`{statement}`: {e}"));
    }
    for signature in ["fn g(x: f64) -> f64", "fn g<T: Real>(x: &mut T) -> (T, T)", "fn g()", "fn g(self)"] {
        for attribute in [quote!(), quote!(d(x) = 1.0), quote!(d(z)), quote!(nothing)] {
            let item = tokens(&format!("{signature} {{ x * 2.0 }}")).unwrap();
            syn::parse2::<syn::File>(expand_pure(attribute, item)).unwrap();
        }
    }
}

#[test]
fn strange_attributes_are_reported() {
    for attribute in
        [quote!(unchecked), quote!(loss = y), quote!(loss = z), quote!(loss), quote!(1), quote!(a, b)]
    {
        let item = quote!(
            fn f(y: &mut f64, x: &[f64]) {
                *y += x[0];
            }
        );
        syn::parse2::<syn::File>(expand_reversible(attribute, item)).unwrap();
    }
    for item in [
        quote!(
            struct S;
        ),
        quote!(fn f()),
        quote!(1),
        quote!(impl S { fn f() {} }),
    ] {
        let out = expand_reversible(TokenStream::new(), item.clone()).to_string();
        assert!(out.contains("compile_error"), "{item}");
    }
}

#[test]
fn strange_structs_are_reported() {
    let items = [
        quote!(
            struct S;
        ),
        quote!(
            struct S(f64);
        ),
        quote!(
            struct S {}
        ),
        quote!(union U { a: f64 }),
        quote!(
            enum E {
                A,
            }
        ),
        quote!(
            struct S<'a> {
                a: &'a f64,
            }
        ),
        quote!(
            struct S<T, const N: usize> {
                a: [T; N],
                n: T,
            }
        ),
        quote!(
            struct S<T: Real = f64>
            where
                T: Copy,
            {
                a: Vec<T>,
                b: Option<T>,
                c: Box<dyn Fn()>,
                d: fn(),
            }
        ),
        quote!(
            struct S<F: Reversible<(f64,)>> {
                f: F,
            }
        ),
    ];
    for item in items {
        let out = super::derive::derive(syn::parse2(item).unwrap());
        syn::parse2::<syn::File>(out).unwrap();
    }
}

/// Names that clash with those of generated code, of the language and of the standard library, and those that don't.
const NAMES: &[(&str, [bool; 4])] = &[
    // whether each is fine as a function, a type parameter, a variable, a field
    ("__cx", [false, false, false, false]),
    ("__s", [false, false, false, false]),
    ("__m", [false, false, false, false]),
    ("__v", [false, false, false, false]),
    ("__run", [false, false, false, false]),
    ("__C", [false, false, false, false]),
    ("__N", [false, false, false, false]),
    ("__callee0", [false, false, false, false]),
    ("_1", [true, true, true, true]),
    ("_x", [true, true, true, true]),
    ("r#type", [true, true, true, true]),
    ("r#match", [true, true, true, true]),
    ("str", [false, false, true, true]),
    ("char", [false, false, true, true]),
    ("f64", [false, false, true, true]),
    ("usize", [false, false, true, true]),
    ("bool", [false, false, true, true]),
    ("main", [true, true, true, true]),
    ("run", [true, true, true, true]),
    ("gradient", [false, true, true, true]),
    ("inverse", [false, true, true, true]),
    ("tangent", [false, true, true, true]),
    ("adjoint", [false, true, true, true]),
    ("device", [true, true, true, true]),
    ("value", [true, true, true, true]),
    ("x_bar", [true, true, true, true]),
    ("Some", [false, true, false, true]),
    ("None", [false, true, false, true]),
    ("Ok", [false, true, false, true]),
    ("Err", [false, true, false, true]),
    ("Vec", [false, true, true, true]),
    ("Result", [false, true, true, true]),
    ("Body", [false, true, true, true]),
    ("größe", [true, true, true, true]),
    ("関数", [true, true, true, true]),
];

#[test]
fn names_work_or_are_refused() {
    for (name, fine) in NAMES {
        let sources = [
            format!("fn {name}(y: &mut f64) {{ *y += 1.0; }}"),
            format!("fn f<{name}: Real>(y: &mut {name}, x: {name}) {{ *y += x; }}"),
            format!("fn f(y: &mut f64, {name}: f64) {{ *y += {name}; }}"),
            format!("struct S {{ {name}: f64 }}"),
            format!("fn f(y: &mut f64) {{ let mut {name} = 0.0; {name} += 1.0; *y += {name}; }}"),
            format!("fn f(y: &mut f64) {{ for {name} in 0..3 {{ *y += {name} as f64; }} }}"),
            format!("fn f<const {name}: usize>(y: &mut [f64; {name}]) {{ for i in 0..{name} {{ y[i] += 1.0; }} }}"),
            format!("fn f(y: &mut f64, s: &S) {{ *y += s.{name}; }}"),
        ];
        let positions = [0, 1, 2, 3, 2, 2, 1, usize::MAX];
        for (source, position) in sources.iter().zip(positions) {
            let item = tokens(source).unwrap();
            let out = match position {
                3 => super::derive::derive(syn::parse2(item).unwrap()),
                _ => expand_reversible(TokenStream::new(), item),
            };
            let text = out.to_string();
            syn::parse2::<syn::File>(out).unwrap_or_else(|e| panic!("{source}: {e}"));
            let fine = fine.get(position).copied().unwrap_or(true);
            assert_eq!(text.contains("[R0617]"), !fine, "{source}: {text}");
            assert_eq!(text.contains("compile_error"), !fine, "{source}");
        }
    }
}

#[test]
fn tangents_and_adjoints_are_taken_four_times_at_most() {
    for (attribute, fine) in [
        ("tangent", true),
        ("tangent = 4", true),
        ("tangent = 5", false),
        ("tangent = 0", false),
        ("adjoint = 4", true),
        ("adjoint = 5", false),
        ("adjoint = x", false),
    ] {
        let item = tokens("fn f(y: &mut f64, x: f64) { *y += x * x; }").unwrap();
        let text = expand_reversible(tokens(attribute).unwrap(), item).to_string();
        assert_eq!(text.contains("[R0615]"), !fine, "{attribute}");
        assert_eq!(text.contains("compile_error"), !fine, "{attribute}");
    }
}
