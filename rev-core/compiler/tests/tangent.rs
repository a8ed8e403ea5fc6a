use rev_compiler::check::check;
use rev_compiler::text::parse_function;
#[test]
fn show() {
    for body in [
        "y += x * x",
        "y += sin(x) * exp(a[0])",
        "let t = x * a[1] { y += t / x }",
        "anc s: f64 = 0.0 { for i in 0usize..len(a) { s += a[i] * x }; y += sqrt(s) }",
        "if x > 1.0 { y += ln(x) } else { y -= x }",
        "call g(&mut y, x * 2.0, a, 3, 2.5)",
        "y += fused(x * a[0])",
        "rot(y, z, x * x)",
    ] {
        let text =
            format!("fn f(y: &mut f64, z: &mut f64, x: f64, a: [f64]) {{ {} }}", body.replace("; ", "\n"));
        let f = parse_function(&text).unwrap();
        match check(f) {
            Ok(c) => println!("{}", rev_compiler::text::print_function(&rev_compiler::pass::tangent(&c))),
            Err(e) => println!("{body}: {e:?}"),
        }
    }
}
