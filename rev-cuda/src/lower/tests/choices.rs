//! Choices between values: of literals, of what only a branch computes, one inside another.

use rev_core::value::Data;

use super::{agrees, module, reals};

/// The adjoint's coefficient is a choice of literals in a branch, and was the constant 0.
#[test]
fn a_choice_of_literals_inside_a_branch() {
    let m = module(
        "module f
         fn f<T: Real>(y: &mut [T], p: &mut T, q: &mut T, x: i32) {
             let n0 = q {
                 let n1: T = 0.41 {
                     y[1] -= select(n1 <= y[0], if x % 2 != 0 { p } else { n0 }, n0)
                 }
             }
         }",
    );
    for (first, x) in [(0.0, 1), (1.0, 1), (1.0, 2)] {
        let args = [reals([first, 2.0]), Data::scalar(3.0), Data::scalar(5.0), Data::scalar(x)];
        agrees(&m, &args, &[reals([0.5, 0.25]), Data::scalar(0.0), Data::scalar(0.0), Data::None]);
    }
}

#[test]
fn a_choice_between_tuples_of_literals() {
    let m = module(
        "module f
         fn f(y: &mut [f64], x: [f64], a: f64) {
             let t: (f64, f64) = if a > 0 { (1, a) } else { (2, a) } { y[0] += t.0 * t.1 }
             let u: (f64, f64) = if x[0] > 0 { (1, x[1]) } else { (2, a) } { y[1] += u.0 * u.1 }
         }",
    );
    for (x, a) in [(1.0, 3.0), (-1.0, 3.0), (1.0, -3.0), (-1.0, -3.0)] {
        let args = [reals([0.0; 2]), reals([x, 7.0]), Data::scalar(a)];
        agrees(&m, &args, &[reals([1.0, 2.0]), reals([0.0; 2]), Data::scalar(0.0)]);
    }
}

/// Conditions that a thread may evaluate anywhere and such that it may not, known and unknown ones.
const CONDITIONS: [&str; 3] = ["a > 0", "x[0] > 0", "x[0] < a * a"];
/// Literals, and values of either kind.
const VALUES: [&str; 4] = ["1", "2.5", "a", "x[1]"];

/// Every choice between two of some values.
fn choices(values: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for cond in CONDITIONS {
        for a in values {
            out.extend(values.iter().map(|b| format!("if {cond} {{ {a} }} else {{ {b} }}")));
        }
    }
    out
}

#[test]
fn every_choice_of_choices() {
    let mut values: Vec<String> = VALUES.iter().map(ToString::to_string).collect();
    // each condition inside each other, between a literal and each kind of value, in either arm
    let inner = choices(&values).into_iter().filter(|c| c.contains("{ 1 }"));
    values.extend(inner);
    let all = choices(&values);
    for some in all.chunks(97) {
        let lines: Vec<String> =
            some.iter().enumerate().map(|(k, e)| format!("y[{k}] += ({e}) * x[2]")).collect();
        let m =
            module(&format!("module f\n fn f(y: &mut [f64], x: [f64], a: f64) {{ {} }}", lines.join("\n")));
        for (x, a) in [(1.0, 3.0), (-1.0, 3.0), (1.0, -0.5), (-1.0, -0.5)] {
            let seed = reals((0..97).map(|k| f64::from(k) + 0.5));
            let args = [reals([0.0; 97]), reals([x, 7.0, 11.0]), Data::scalar(a)];
            agrees(&m, &args, &[seed, reals([0.0; 3]), Data::scalar(0.0)]);
        }
    }
}
