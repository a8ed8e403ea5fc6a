//! Parallel loops right inside of parallel loops.

use ndarray::Array2;

use super::*;
use crate::plan::{Step, Word};

fn matrix(n: usize, m: usize) -> Data {
    Array2::from_shape_fn((n, m), |(i, j)| ((7 * i + 3 * j) as f64 * 0.3).sin()).load()
}

/// The largest number of threads that a launch asks for, of arrays of `n` rows and `m` columns.
fn threads(program: &Program, [n, m]: [i64; 2]) -> i64 {
    fn value(word: &Word, of: [i64; 2]) -> i64 {
        match word {
            Word::Const(n) => *n,
            Word::Length(_, axis) => of[*axis],
            Word::Binary(op, a, b) => op.apply(value(a, of), value(b, of)),
            other => panic!("{other:?}"),
        }
    }
    let launched = program.steps.iter().filter_map(|step| match step {
        Step::Launch { threads, .. } => Some(value(threads, [n, m])),
        _ => None,
    });
    launched.max().unwrap()
}

fn plan(text: &str, direction: Direction, args: &[Data], options: &LowerOptions) -> Program {
    let m = module(text);
    let types = ArgumentType::of_arguments(&m, direction, args).unwrap();
    lower(&m, direction, &types, options).unwrap()
}

const SUMS: &str = "module sums
     fn sums<T: Real>(y: &mut Array2<T>, z: &mut Array2<T>, rows: &mut [T], s: &mut T, a: Array2<T>, b: [T]) {
         par for i in (0..dim(a, 0)).rev() {
             let c: T = sin(b[i]) {
                 par for j in 1..dim(a, 1) {
                     y[i, j] += a[i, j] * c
                     y[i, 0] -= a[i, j - 1] * b[j - 1]
                     s += a[i, j] * a[i, j - 1]
                 }
             }
             rows[i] += b[i]
         }
         par for i in (0..dim(a, 0)).rev() {
             let c: T = sin(b[i]) {
                 par for j in 1..dim(a, 1) {
                     y[i, j] += a[i, j] * c * b[j]
                     z[i, j] += a[i, j] z[i, j - 1] -= a[i, j] * b[i]
                     rows[j] += a[i, j - 1] * b[j - 1]
                     s += a[i, j] * a[i, j - 1]
                 }
             }
         }
     }";

#[test]
fn each_pair_of_iterations_has_a_thread() {
    for [n, m] in [[9, 7], [1, 40], [40, 1], [33, 9]] {
        let (y, a) = (matrix(n, m), matrix(n, m));
        let vector = |k: usize| reals((0..k).map(|i| i as f64 * 0.25 - 1.0));
        let long = n.max(m);
        let args = [y.clone(), y.clone(), vector(long), Data::scalar(0.5), a.clone(), vector(long)];
        let seeds =
            [y.clone(), y, vector(long), Data::scalar(-0.75), a.zero_like(), vector(long).zero_like()];
        agrees(&module(SUMS), &args, &seeds);
        agrees_in_any_order(&module(SUMS), &args, &seeds);
    }
}

#[test]
fn which_loops_are_one_kernel() {
    let text = |body: &str| {
        format!(
            "module nested
             fn nested<T: Real>(y: &mut Array2<T>, r: &mut [T], s: &mut T, a: Array2<T>) {{ par for i in 0..dim(a, 0) {{ {body} }} }}"
        )
    };
    let args = [matrix(30, 20), reals([0.5; 30]), Data::scalar(0.5), matrix(30, 20)];
    let both: Vec<Data> = args.iter().flat_map(|a| [a.clone(), a.zero_like()]).collect();
    let threads_of = |body: &str, options: &LowerOptions| {
        threads(&plan(&text(body), Direction::FORWARD, &args, options), [30, 20])
    };
    let (free, ordered, checked) = (
        LowerOptions::default(),
        LowerOptions { deterministic: true, ..LowerOptions::default() },
        LowerOptions { checks: true, ..LowerOptions::default() },
    );
    let apart = "par for j in 0..dim(a, 1) { y[i, j] += a[i, j] }";
    assert_eq!([&free, &ordered, &checked].map(|o| threads_of(apart, o)), [600, 30, 30]);
    let shared = "par for j in 0..dim(a, 1) { s += a[i, j] }";
    assert_eq!(threads_of(shared, &free), 600);
    let neighbours = "par for j in 1..dim(a, 1) { y[i, j] += a[i, j] y[i, j - 1] -= a[i, j] }";
    assert_eq!(threads_of(neighbours, &free), 30 * 19);
    // what an outer iteration adds up itself
    assert_eq!(threads_of("par for j in 0..dim(a, 1) { r[i] += a[i, j] }", &free), 30);
    // more than the loop, another loop, loops of different lengths, declared, or not parallel
    assert_eq!(threads_of(&format!("r[i] += 1 {apart}"), &free), 30);
    assert_eq!(threads_of("par for j in 0..i { y[i, j] += a[i, j] }", &free), 30);
    assert_eq!(threads_of("par for j in 0..dim(a, 1) disjoint(y) { y[i, j] += a[i, j] }", &free), 30);
    assert_eq!(threads_of("for j in 0..dim(a, 1) { y[i, j] += a[i, j] }", &free), 30);
    // the adjoint too, with cotangents of numbers in it
    let named = "par for j in 0..dim(a, 1) { let t: T = sin(a[i, j]) { y[i, j] += t * t } }";
    assert_eq!(threads(&plan(&text(named), ADJOINT, &both, &free), [30, 20]), 600);
    // three loops, of which the innermost has no array
    let three = "let t: T = a[i, 0] { par for j in 0..dim(a, 1) { par for k in 0..2 { s += t * a[i, j] } } }";
    assert_eq!(threads_of(three, &free), 1200);
}
