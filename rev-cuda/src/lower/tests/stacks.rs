//! Stacks: of a thread, of the program, and as arguments.

use rev_core::error::Cause;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::value::Data;

use super::{agrees, module, reals, simulate, ADJOINT};
use crate::lower::LowerOptions;

fn stack(values: impl IntoIterator<Item = f64>) -> Data {
    Data::Stack(values.into_iter().map(Data::scalar).collect())
}

/// What the interpreter says to a run that fails.
fn failure(m: &Module, direction: Direction, args: &[Data]) -> rev_core::error::Error {
    Machine::new(m, &m.entry, direction, args.to_vec()).unwrap().run().unwrap_err()
}

#[test]
fn stacks_and_their_capacity() {
    let m = module(
        "module pile
         fn pile<T: Real>(y: &mut [T], n: usize) {
             par for i in 0..len(y) {
                 anc s: Stack<T> = stack() {
                     for k in 0..n { anc t: T = 0 { t += 1 push(s, t) } }
                     for k in 0..n { anc t: T = 0 { pop(s, t) y[i] += t t -= 1 } }
                 }
             }
         }",
    );
    let ones = reals([1.0; 40]);
    agrees(&m, &[ones.clone(), Data::scalar(7usize)], &[ones.clone(), Data::None]);
    let options = LowerOptions { stack_capacity: 6, ..LowerOptions::default() };
    let args = [ones, Data::scalar(7usize)];
    let error = simulate(&m, Direction::FORWARD, &args, &options).unwrap_err();
    assert!(error.to_string().contains("the stack `s` is full: it has room for 6 values"), "{error}");
    assert!(error.to_string().contains("push(s, t)"), "{error}");
}

/// Every element goes to the stack with its number; what is below stays.
const KEEP: &str = "module keep
    fn keep<T: Real>(s: &mut Stack<T>, at: &mut Stack<i64>, y: &mut [T], x: &mut [T]) {
        for i in 0..len(x) {
            anc t: T = 0 { t += x[i] * x[i] push(s, t) }
            anc k: i64 = 0 { k += (i as i64) push(at, k) }
        }
        par for i in 0..len(y) { y[i] += 2 * x[i] }
    }";

#[test]
fn stacks_are_arguments() {
    let m = module(KEEP);
    let (x, y) = (reals([1.5, -2.0, 0.25, 7.0]), reals([0.5; 4]));
    let numbers = Data::Stack([4i64, 5].map(Data::scalar).to_vec());
    // a cotangent for each value that the forward run leaves on the stack
    let seeds =
        [stack((0..6).map(f64::from)), Data::Stack(vec![Data::None; 6]), reals([1.0; 4]), reals([0.0; 4])];
    agrees(&m, &[stack([3.0, 4.0]), numbers.clone(), y.clone(), x.clone()], &seeds);
    let reading = module("module read fn read<T: Real>(s: &mut Stack<T>, y: &mut T) { pop(s, y) }");
    agrees(&reading, &[stack([3.0, 4.0]), Data::scalar(0.0)], &[stack([1.0]), Data::scalar(2.0)]);
    // an empty one, whose type another argument says
    agrees(
        &m,
        &[stack([]), Data::Stack(vec![]), y, x],
        &[stack([1.0; 4]), Data::Stack(vec![Data::None; 4]), reals([1.0; 4]), reals([0.0; 4])],
    );
}

#[test]
fn a_full_stack_is_an_error_of_the_push() {
    let m = module(KEEP);
    // the tests' arguments have room for eight values
    let x = reals((0..12).map(f64::from));
    let args = [stack([3.0]), Data::Stack(vec![Data::scalar(1i64)]), x.clone(), x];
    let error = simulate(&m, Direction::FORWARD, &args, &LowerOptions::default()).unwrap_err();
    assert_eq!(*error.cause(), Cause::StackOverflow { stack: "s".into(), capacity: 8 });
    let site = error.site().unwrap();
    assert_eq!((&*site.statement, site.iterations[0].value), ("push(s, t)", 7));
}

#[test]
fn an_empty_stack_is_the_interpreters_error() {
    let m = module(KEEP);
    let x = reals([1.5, -2.0, 0.25]);
    let number = || Data::Stack([1i64, 2].map(Data::scalar).to_vec());
    // the topmost two are what the loop has pushed
    let args = [stack([4.0, 0.0625]), number(), x.clone(), x.clone()];
    let expected = failure(&m, Direction::INVERSE, &args);
    assert!(matches!(expected.cause(), Cause::StackUnderflow { .. }), "{expected}");
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    for options in [LowerOptions::default(), checked] {
        let found = simulate(&m, Direction::INVERSE, &args, &options).unwrap_err();
        assert_eq!(expected, found);
    }
    let both: Vec<Data> = args.iter().flat_map(|a| [a.clone(), a.zero_shadow()]).collect();
    let expected = failure(&m, ADJOINT, &both);
    let found = simulate(&m, ADJOINT, &both, &LowerOptions::default()).unwrap_err();
    assert_eq!(expected.cause(), found.cause());
}

#[test]
fn a_stack_is_released_empty() {
    let m = module(
        "module left
         fn left<T: Real>(y: &mut T) {
             anc s: Stack<T> = stack() { anc t: T = 0 { t += 1 push(s, t) } y += 1 }
         }",
    );
    let checked = LowerOptions { checks: true, ..LowerOptions::default() };
    let error = simulate(&m, Direction::FORWARD, &[Data::scalar(1.0)], &checked).unwrap_err();
    let expected = failure(&m, Direction::FORWARD, &[Data::scalar(1.0)]);
    assert_eq!(error.trace(), expected.trace());
    let text = error.to_string();
    assert!(text.starts_with("`s` must be released as stack[] and holds a stack of 1"), "{text}");
}
