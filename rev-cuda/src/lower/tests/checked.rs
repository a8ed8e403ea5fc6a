//! Checked kernels: the same error value as the interpreter's, with the failing statement, the calls
//! around it, iterations and values.

use rev_core::error::{Cause, Error};
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::value::{Data, DynArg};

use super::{module, simulate};
use crate::lower::LowerOptions;

/// A module whose static rules nobody has looked at.
fn raw(text: &str) -> Module {
    rev_core::text::parse_module(text).unwrap()
}

fn both(m: &Module, args: &[&dyn DynArg]) -> (Result<(), Error>, Result<(), Error>) {
    let args: Vec<Data> = args.iter().map(|a| a.load()).collect();
    let expected = Machine::new(m, &m.entry, Direction::FORWARD, args.clone()).unwrap().run();
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    (expected, simulate(m, Direction::FORWARD, &args, &checked).map(drop))
}

fn passes(m: &Module, args: &[&dyn DynArg]) {
    assert_eq!(both(m, args), (Ok(()), Ok(())));
}

/// Both fail alike; the error.
fn fails(m: &Module, args: &[&dyn DynArg]) -> Cause {
    let (expected, found) = both(m, args);
    let (expected, found) = (expected.expect_err("the interpreter"), found.expect_err("the kernels"));
    assert_eq!(expected, found, "\n{expected}\n{found}");
    found.cause().clone()
}

/// Three numbers for each of a hundred iterations, and two indices into them that are equal for one.
fn triples() -> (Vec<[f64; 3]>, Vec<usize>, Vec<usize>, Vec<usize>) {
    let y = (0..100).map(|i| [f64::from(i), 1.5, -0.5]).collect();
    let a: Vec<usize> = (0..100).map(|i| i % 3).collect();
    let apart: Vec<usize> = (0..100).map(|i| (i + 1) % 3).collect();
    let mut once = apart.clone();
    once[71] = a[71];
    (y, a, apart, once)
}

/// The host tries to run what is unchecked in the kernel of one thread, and can't, since the length has to be
/// read back first: what follows is checked all the same.
#[test]
fn a_try_that_is_given_up_leaves_checks_on() {
    let m = module(
        "module tried
         fn tried(y: &mut [f64], n: [usize], k: usize) {
             unchecked { anc t: [f64] = fill(0, n[0]) { t[0] += 1 y[0] += t[0] t[0] -= 1 } }
             y[k] += 1
         }",
    );
    let cause = fails(&m, &[&vec![0.5; 3], &vec![2usize], &7usize]);
    assert!(matches!(cause, Cause::IndexOutOfRange { .. }), "{cause}");
    passes(&m, &[&vec![0.5; 3], &vec![2usize], &2usize]);
}

#[test]
fn places_of_one_statement_are_apart() {
    let callees =
        "fn g<T: Real>(a: &mut T, b: T) { a += b } fn h<T: Real>(a: &mut T, b: &mut T) { swap(a, b) }";
    for statement in [
        "y[i][a[i]] += y[i][b[i]] * 2",
        "y[i][b[i]] -= sin(y[i][a[i]])",
        "rot(y[i][a[i]], y[i][b[i]], 0.5)",
        "call g(&mut y[i][a[i]], &y[i][b[i]])",
        "call g(&mut y[i][a[i]], y[i][b[i]] + 1)",
        "call h(&mut y[i][a[i]], &mut y[i][b[i]])",
    ] {
        let m = module(&format!(
            "module apart {callees}
             fn apart<T: Real>(y: &mut [[T; 3]], a: [usize], b: [usize]) {{
                 par for i in 0..len(y) {{ {statement} }}
             }}"
        ));
        let (y, a, apart, once) = triples();
        passes(&m, &[&y, &a, &apart]);
        let cause = fails(&m, &[&y, &a, &once]);
        assert!(matches!(cause, Cause::Alias { .. }), "{statement}: {cause}");
    }
}

#[test]
fn an_element_exchanged_with_itself_stays() {
    let m = module(
        "module apart
         fn apart<T: Real>(y: &mut [[T; 3]], a: [usize], b: [usize]) {
             par for i in 0..len(y) { swap(y[i][a[i]], y[i][b[i]]) }
         }",
    );
    let (y, a, _, once) = triples();
    passes(&m, &[&y, &a, &once]);
    passes(&m, &[&y, &a, &a]);
}

#[test]
fn places_around_parallel_loops_are_apart() {
    let m = module(
        "module around
         fn add<T: Real>(y: &mut [T], x: [T]) { par for i in 0..len(y) { y[i] += x[i] } }
         fn around<T: Real>(x: &mut [T], i: usize, j: usize, n: usize) {
             x[i] += x[j]
             call add(&mut x[i..i + n], &x[j..j + n])
         }",
    );
    let x = vec![1.0; 9];
    passes(&m, &[&x, &0usize, &4usize, &4usize]);
    assert!(matches!(fails(&m, &[&x, &3usize, &3usize, &1usize]), Cause::Alias { .. }));
    let cause = fails(&m, &[&x, &0usize, &3usize, &4usize]);
    assert_eq!(cause, Cause::Alias { first: "x[i..i + n]".into(), second: "x[j..j + n]".into() });
}

#[test]
fn an_injective_array_holds_no_value_twice() {
    let m = module(
        "module scatter
         fn scatter<T: Real>(y: &mut [T], x: [T], at: [usize]) {
             par for i in 0..len(x) injective(at) { y[at[i]] += x[i] }
         }",
    );
    let x = vec![0.5; 300];
    // values that share rows of the table of positions, which has 1201
    let at: Vec<usize> = (0..300).map(|i| (i % 100) * 1201 + i / 100 * 7).collect();
    let y = vec![0.0; 1201 * 100];
    passes(&m, &[&y, &x, &at]);
    for (first, second) in [(0, 1), (3, 298), (17, 218)] {
        let mut twice = at.clone();
        twice[second] = twice[first];
        let value = twice[first].to_string();
        let cause = fails(&m, &[&y, &x, &twice]);
        assert_eq!(cause, Cause::NotInjective { place: "at".into(), value, first, second });
    }
}

#[test]
fn an_injective_array_of_an_inner_loop() {
    let m = module(
        "module inner
         fn inner<T: Real>(y: &mut [[T; 3]], x: [T], at: [usize]) {
             par for i in 0..len(y) {
                 anc t: [T] = fill(0, len(x)) {
                     par for j in 0..len(x) injective(at) { t[at[j]] += x[j] }
                     y[i][0] += t[0]
                     par for j in 0..len(x) injective(at) { t[at[j]] -= x[j] }
                     release t = fill(0, len(x))
                 }
             }
         }",
    );
    passes(&m, &[&vec![[0.0; 3]], &vec![1.0; 4], &vec![2usize, 0, 3, 1]]);
    let cause = fails(&m, &[&vec![[0.0; 3]], &vec![1.0; 4], &vec![2usize, 0, 3, 0]]);
    assert!(matches!(cause, Cause::NotInjective { first: 1, second: 3, .. }), "{cause}");
}

#[test]
fn accesses_that_are_declared_disjoint_are() {
    let m = module(
        "module part
         fn part<T: Real>(y: &mut [T], from: [usize], to: [usize]) {
             par for i in 0..len(from) disjoint(y) {
                 for k in from[i]..to[i] { y[k] += (i as T) }
                 y[from[i]] += y[to[i] - 1]
             }
         }",
    );
    let y = vec![1.0; 100];
    let from: Vec<usize> = (0..20).map(|i| 5 * i).collect();
    let to: Vec<usize> = (0..20).map(|i| 5 * i + 5).collect();
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    let run =
        |to: &Vec<usize>| simulate(&m, Direction::FORWARD, &[y.load(), from.load(), to.load()], &checked);
    assert!(run(&to).is_ok());
    let mut far = to.clone();
    far[11] += 1;
    let error = run(&far).unwrap_err();
    let second = "an element that another iteration uses";
    assert!(matches!(error.cause(), Cause::Alias { second: s, .. } if s == second), "{error}");
    assert!([11, 12].contains(&error.site().unwrap().iterations[0].value), "{error}");
}

#[test]
fn ranges_stay_what_they_were() {
    for loops in [
        "for j in 0..k[i] { k[i] += 1 }",
        "for j in (2..k[i]).rev() { k[i] += 3 }",
        "for j in (0..=k[i]).step_by(2) { k[i] += 2 }",
    ] {
        let inside = raw(&format!(
            "module f fn f(k: &mut [usize], n: &mut usize) {{ par for i in 0..len(k) {{ {loops} }} }}"
        ));
        let k = [vec![0usize; 40], vec![4], vec![0; 9]].concat();
        let cause = fails(&inside, &[&k, &0usize]);
        assert!(matches!(cause, Cause::RangeChanged { .. }), "{cause}");
    }
    // on the host: around a parallel loop, and of one
    let around = raw("module f fn f(k: &mut usize, y: &mut [f64]) {
             for j in 0..k { par for i in 0..len(y) { y[i] += 1 } k += 2 }
         }");
    let cause = fails(&around, &[&3usize, &vec![0.0; 5]]);
    assert_eq!(cause, Cause::RangeChanged { expected: "0, 1, … 2".into(), found: "0, 1, … 8".into() });
    passes(&around, &[&0usize, &vec![0.0; 5]]);
}

#[test]
fn what_is_released_popped_into_or_bound() {
    let of = |body: &str| {
        module(&format!(
            "module f fn f<T: Real>(y: &mut [[T; 3]], a: [usize], b: [usize], x: [T]) {{
                 par for i in 0..len(y) {{ {body} }}
             }}"
        ))
    };
    let (y, a, apart, once) = triples();
    let x: Vec<f64> = (0..100).map(|i| if i == 71 { 0.125 } else { 0.0 }).collect();
    let still = vec![0.0; 100];
    for body in [
        "anc s: T = 2 { s += x[i] y[i][0] += s release s = 2 }",
        "anc s: [T] = fill(1, len(x)) { s[a[i]] += x[i] y[i][0] += s[0] release s = fill(1, len(x)) }",
        "anc s: [T; 3] = [0, 1, 0] { s[a[i]] += x[i] y[i][0] += s[0] release s = [0, 1, 0] }",
        "anc s: T = 1000 { s += x[i] * 0.001 y[i][0] += s release s = 1000 }",
        "anc s: T = 0 { s += 100000 s -= 100000 s += x[i] y[i][0] += s release s = 0 }",
        "if x[i] > 0 { y[i][0] += x[i] } else { y[i][0] -= 200 } post y[i][0] > 100",
        "anc k: i64 = 0 { while k < 3 post k > 0 { k += 1 + ((8 * x[i]) as i64) } k -= 3 release k = 0 }",
    ] {
        let m = of(body);
        passes(&m, &[&y, &a, &apart, &still]);
        let cause = fails(&m, &[&y, &a, &apart, &x]);
        assert!(matches!(cause, Cause::Release { .. } | Cause::Condition { .. }), "{body}: {cause}");
    }
    let bound = raw("module f fn f<T: Real>(y: &mut [[T; 3]], a: [usize], b: [usize], x: [T]) {
        par for i in 0..len(y) { let t: T = y[i][a[i]] { y[i][b[i]] += x[i] + 1 } }
    }");
    passes(&bound, &[&y, &a, &apart, &x]);
    assert!(matches!(fails(&bound, &[&y, &a, &once, &x]), Cause::BindingChanged { .. }));
}

#[test]
fn instructions_that_cannot_be_undone() {
    let m = module(
        "module f fn f(n: &mut [i32], k: [i64]) {
             par for i in 0..len(n) { mul_int(n[i], k[i]) div_int(n[i], 2) }
         }",
    );
    let n = vec![6i32; 50];
    let mut k = vec![3i64; 50];
    passes(&m, &[&n, &k]);
    for wrong in [0, i64::from(i32::MAX)] {
        k[31] = wrong;
        let cause = fails(&m, &[&n, &k]);
        assert!(matches!(&cause, Cause::Instruction { place, .. } if place == "n[i]"), "{cause}");
    }
}
