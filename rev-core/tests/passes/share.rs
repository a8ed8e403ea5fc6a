//! Programs with repeated functions computed once: the same bits, and what is left of the functions.

use rev_core::check::{check, Checked};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Function, Module};
use rev_core::pass::{adjoint, erase, fuse, Adjoint, Wanted};
use rev_core::scalar::Batch;
use rev_core::text::parse_function;
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};

fn checked(text: &str) -> Checked {
    rev_core::validate::switch_on();
    let f = parse_function(&text.replace("; ", "\n")).unwrap();
    check(f).unwrap_or_else(|d| panic!("{}", d.render("test", text)))
}

fn run(function: &Function, args: &[&dyn DynArg]) -> Vec<Data> {
    let functions = [(function.name.clone(), function.clone())].into_iter().collect();
    let module = Module { entry: function.name.clone(), functions, ..Module::default() };
    let options = Options { checks: false, ..Options::default() };
    let args = args.iter().map(|a| a.load()).collect();
    let machine = Machine::new(&module, &function.name, Direction::FORWARD, args).unwrap();
    let mut machine = machine.with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments()
}

/// The text of the shared program, which gives the same bits.
fn same(plain: &Function, shared: &Function, args: &[&dyn DynArg]) -> String {
    let text = shared.to_string();
    assert_eq!(format!("{:?}", run(plain, args)), format!("{:?}", run(shared, args)), "{text}");
    text
}

/// The same of a function itself.
fn shared(text: &str, args: &[&dyn DynArg]) -> String {
    let erased = erase(&checked(text), Wanted::All);
    same(&erased, &erased.clone().shared(), args)
}

fn bar(v: f64) -> Batch<f64, 1> {
    Batch([v])
}

#[test]
fn a_derivative_reads_what_the_function_computed() {
    let source = "fn f(y: &mut f64, a: f64) {
        let s: f64 = sin(a) { let c: f64 = cos(a) { let r: f64 = sqrt(a) { y += s * s * c * r } } }
    }";
    let adjoint = adjoint(&checked(source), Adjoint::LEAN);
    let erased = erase(&adjoint, Wanted::Shadows);
    let text = same(&erased, &erased.clone().shared(), &[&0.4, &bar(1.5), &0.7, &bar(0.25)]);
    for name in ["sin(", "cos(", "sqrt("] {
        assert_eq!((erased.to_string().matches(name).count(), text.matches(name).count()), (2, 1), "{text}");
    }
}

#[test]
fn a_fused_program_computes_once_there_and_back() {
    let source = "fn f(y: &mut f64, x: [f64]) {
        par for i in 0..len(x) {
            let v: f64 = x[i] { managed anc s: f64 = 0.0 { s += exp(v) / v; y += s * s } }
        }
    }";
    let fused = fuse(&checked(source)).unwrap().erased().unwrap();
    let (x, x_bar) = (vec![0.3, 1.7], vec![bar(0.0), bar(0.5)]);
    let text = same(&fused, &fused.clone().shared(), &[&0.0, &bar(1.0), &x, &x_bar]);
    let times = [&fused.to_string(), &text].map(|t| t.matches("exp(").count());
    assert!(times[0] > 1 && times[1] == 1, "{text}");
}

#[test]
fn sine_and_cosine_stand_beside_each_other() {
    let text = shared(
        "fn f(y: &mut f64, z: &mut f64, a: f64) { y += cos(a); z += y; y += sin(a * 2.0); z += sin(a) }",
        &[&0.1, &0.2, &0.7],
    );
    let (cosine, sine) = (text.find("= cos(a)").unwrap(), text.find("= sin(a)").unwrap());
    assert_eq!(text[cosine..sine].matches("let").count(), 1, "{text}");
    // names that stand so are left as they are
    let text = "fn f(y: &mut f64, a: f64) { let s: f64 = sin(a) { let c: f64 = cos(a) { y += s * c } } }";
    let erased = erase(&checked(text), Wanted::All);
    assert_eq!(erased.clone().shared(), erased);
}

#[test]
fn the_sines_and_cosines_of_two_numbers_are_bound_once() {
    let together = "y += sin(a) * cos(a) * sin(b) * cos(b)";
    let apart = "y += sin(b); y += sin(a) * cos(a) * cos(b)";
    for body in [together, apart] {
        let source = format!("fn f(y: &mut f64, a: f64, b: f64) {{ {body} }}");
        let text = shared(&source, &[&0.1, &0.7, &0.9]);
        for function in ["sin(a)", "cos(a)", "sin(b)", "cos(b)"] {
            assert_eq!(text.matches(function).count(), 1, "{text}");
        }
    }
}

#[test]
fn every_part_of_a_sum_is_surely_computed() {
    let text = shared(
        "fn f(y: &mut f64, z: &mut f64, a: f64, b: f64) { y += a * b + exp(b); z += exp(b); z += a * exp(b) }",
        &[&0.1, &0.2, &0.7, &0.9],
    );
    assert_eq!(text.matches("exp(b)").count(), 1, "{text}");
}

#[test]
fn names_of_an_expression_stay_in_it() {
    let text =
        shared("fn f(y: &mut f64, a: f64) { y += { let t: f64 = a * a;sin(t) * sin(t) } }", &[&0.1, &0.7]);
    assert_eq!(text.matches("sin(t)").count(), 2, "{text}");
    // a scope of statements had the name before
    let text = shared(
        "fn f(y: &mut f64, a: f64) { let t: f64 = a { y += sin(t) + sin(t) }; y += { let t: f64 = a * a;sin(t) } }",
        &[&0.1, &0.7],
    );
    assert_eq!(text.matches("sin(t)").count(), 2, "{text}");
}

#[test]
fn a_value_that_changes_is_computed_again() {
    let text = shared(
        "fn f(y: &mut f64, z: &mut f64, w: f64) { z += exp(y); y += w; z += exp(y) }",
        &[&0.3, &0.2, &0.7],
    );
    assert_eq!(text.matches("exp(y)").count(), 2, "{text}");
    // and so is that of another iteration
    let text = shared(
        "fn f(y: &mut f64, x: [f64]) { for i in 0..len(x) { y += exp(x[i]) }; for i in 0..len(x) { y += exp(x[i]) } }",
        &[&0.3, &vec![0.2, 0.7]],
    );
    assert_eq!(text.matches("exp(x[").count(), 2, "{text}");
}

#[test]
fn an_element_is_read_once() {
    let source = "fn f(y: &mut f64, z: &mut [f64], x: [f64], at: [usize]) {
        for i in 0..len(x) { z[i] += x[at[i]] * x[at[i]]; y += x[at[i]] * z[i] }
    }";
    let (x, at) = (vec![0.3, 1.7], vec![1usize, 0]);
    let text = shared(source, &[&0.2, &vec![0.5, 0.25], &x, &at]);
    // not the index, which analyses of the loop look for
    assert_eq!((text.matches("x[at[i]]").count(), text.matches("at[i]").count()), (1, 1), "{text}");
    // what is written is read again
    assert_eq!(text.matches("* z[i]").count(), 1, "{text}");
    let source = "fn f(y: &mut f64, z: &mut [f64]) { y += z[0] * z[0]; z[0] += 1.0; y += z[0] }";
    let text = shared(source, &[&0.2, &vec![0.5]]);
    assert_eq!(text.matches("z[0]").count(), 4, "{text}");
    let source = "fn f(y: &mut f64, x: [f64], at: [(f64, usize)]) {
        for i in 0..len(at) { y += x[at[i].1] * at[i].0; y += x[at[i].1] * at[i].0 }
    }";
    let text = shared(source, &[&0.2, &x, &vec![(0.5, 1usize), (0.25, 0)]]);
    assert_eq!((text.matches("x[at[i].1]").count(), text.matches("at[i].0").count()), (1, 1), "{text}");
    // nor is one read that wasn't
    let source = "fn f(y: &mut f64, a: f64, x: [f64]) { if a > 1.0 { y += x[7] }; if a > 2.0 { y += x[7] } }";
    let text = shared(source, &[&0.2, &0.1, &vec![0.5]]);
    assert_eq!(text.matches("x[7]").count(), 2, "{text}");
}

#[test]
fn a_row_is_read_once() {
    let source = "fn f(y: &mut f64, z: &mut [f64], x: [[f64;3]], i: usize) {
        y += x[i][0] * x[i][2]; z[0] += x[i][1]; y += exp(x[i][0])
    }";
    let rows = vec![[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]];
    let text = shared(source, &[&0.5, &vec![1.0], &rows, &1usize]);
    assert_eq!((text.matches("x[i]").count(), text.matches("__x_read[").count()), (1, 4), "{text}");
    // of rows of rows the whole
    let source = "fn f(y: &mut f64, x: [[[f64;2];2]], i: usize) { y += x[i][0][1] * x[i][1][0] }";
    let text = shared(source, &[&0.5, &vec![[[0.1, 0.2], [0.3, 0.4]]], &0usize]);
    assert!(text.contains("let __x_read: [[f64; 2]; 2] = x[i]") && text.contains("__x_read[0][1]"), "{text}");
    // not of many numbers, of one that is read alone, or of rows that change
    for (n, read) in [(16, true), (17, false)] {
        let source = format!("fn f(y: &mut f64, x: [[f64;{n}]], i: usize) {{ y += x[i][0] * x[i][2] }}");
        let text = erase(&checked(&source), Wanted::All).shared().to_string();
        assert_eq!(text.contains("__x_read"), read, "{text}");
    }
    for source in [
        "fn f(y: &mut f64, x: [[f64;3]], i: usize) { y += x[i][0] + x[0][1] }",
        "fn f(y: &mut f64, x: &mut [[f64;3]], i: usize) { y += x[i][0] * x[i][2]; x[i][1] += 1.0 }",
    ] {
        let text = shared(source, &[&0.5, &rows, &1usize]);
        assert!(!text.contains("__x_read"), "{text}");
    }
}

#[test]
fn nothing_is_computed_that_was_not_before() {
    // in neither branch, in a loop without iterations, on the right of `&&`
    let text = shared(
        "fn f(y: &mut f64, a: f64, c: bool, n: usize) {
            if c { y += ln(a) } else { y += 2.0 * ln(a) }
            for i in 0..n { y += sqrt(a) }
            for i in 0..n { y += sqrt(a) }
            if c && exp(a) > 1.0 { y += 1.0 }
            if c && exp(a) > 2.0 { y += 1.0 }
        }",
        &[&0.3, &0.7, &true, &3usize],
    );
    assert_eq!([2; 3], ["ln(a)", "sqrt(a)", "exp(a)"].map(|f| text.matches(f).count()), "{text}");
    // but where it has surely been, loops and branches read it
    let text = shared(
        "fn f(y: &mut f64, a: f64, c: bool, n: usize) {
            if c { y += ln(a) }
            y += ln(a)
            for i in 0..n { if c { y += ln(a) } }
        }",
        &[&0.3, &0.7, &true, &3usize],
    );
    assert_eq!(text.matches("ln(a)").count(), 2, "{text}");
}
