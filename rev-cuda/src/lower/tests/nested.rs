//! Parallel loops right inside of parallel loops.

use ndarray::Array2;
use rev_testgen::Dice;

use super::*;
use crate::plan::{Step, Word};
use crate::Emulator;

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
    // a binding that a thread would compute after another one has written what it reads
    assert_eq!(threads_of("let t: T = y[i, 0] { par for j in 1..dim(a, 1) { y[i, j] += t } }", &free), 30);
    // the adjoint too, with cotangents of numbers in it
    let named = "par for j in 0..dim(a, 1) { let t: T = sin(a[i, j]) { y[i, j] += t * t } }";
    assert_eq!(threads(&plan(&text(named), ADJOINT, &both, &free), [30, 20]), 600);
    // three loops, of which the innermost has no array
    let three = "let t: T = a[i, 0] { par for j in 0..dim(a, 1) { par for k in 0..2 { s += t * a[i, j] } } }";
    assert_eq!(threads_of(three, &free), 1200);
}

/// One of some texts.
fn any<'a>(dice: &mut Dice, texts: &[&'a str]) -> &'a str {
    dice.pick(texts).unwrap()
}

/// A loop in a loop, with bindings between, that reads and writes what its rules allow, and maybe what they don't.
fn random(dice: &mut Dice) -> String {
    let ranges = |axis: &str| ["0..", "1.."].map(|from| format!("{from}dim(a, {axis})"));
    let range = |dice: &mut Dice, axis: &str| {
        let range = ranges(axis)[dice.below(2)].clone();
        if dice.chance(30) {
            format!("({range}).rev()")
        } else {
            range
        }
    };
    let (outer, inner) = (range(dice, "0"), range(dice, "1"));
    let (mut lets, mut known) = (String::new(), vec!["1.5"]);
    let lets_made = dice.below(3);
    for name in ["c", "d"].into_iter().take(lets_made) {
        let mut reads = vec!["a[i, 0]", "b[i]", "y[i, 0]", "z[i, 0]", "r[i]"];
        reads.extend(&known);
        lets += &format!("let {name}: T = sin({}) * {} {{ ", any(dice, &reads), any(dice, &reads));
        known.push(name);
    }
    known.extend(["a[i, j]", "b[j]", "b[i]", "y[i, j]", "z[i, j]", "a[j, i]"]);
    let updates: Vec<String> = (0..1 + dice.below(3))
        .map(|_| {
            let to =
                any(dice, &["y[i, j]", "z[i, j]", "y[j, i]", "z[i, 0]", "r[i]", "r[j]", "s", "r[i / 2 + j]"]);
            let op = any(dice, &["+=", "-="]);
            format!("{to} {op} {} * cos({})", any(dice, &known), any(dice, &known))
        })
        .collect();
    let closed = "} ".repeat(lets_made);
    format!(
        "module nested
         fn nested<T: Real>(y: &mut Array2<T>, z: &mut Array2<T>, r: &mut [T], s: &mut T, a: Array2<T>, b: [T]) {{
             par for i in {outer} {{ {lets} par for j in {inner} {{ {} }} {closed} }}
         }}",
        updates.join(" ")
    )
}

/// Forward, inverse and adjoint on the emulator, which finds threads that meet, up to rounding as the interpreter.
fn emulated_in_any_order(module: &Module, args: &[Data], seeds: &[Data]) {
    let compare = |direction: Direction, args: &[Data]| {
        let expected = interpret(module, direction, args, false);
        let mut found = args.to_vec();
        let mut given: Vec<&mut dyn DynArg> = found.iter_mut().map(|a| a as &mut dyn DynArg).collect();
        let done = Emulator::new().execute(module, direction, &mut given);
        done.unwrap_or_else(|e| panic!("{direction:?}: {e}\n{module}"));
        let off = rev_testgen::reals::difference(&expected, &found);
        assert!(off < 1e-9, "{direction:?}, off by {off}\n{module}");
        expected
    };
    let after = compare(Direction::FORWARD, args);
    compare(Direction::INVERSE, &after);
    let both: Vec<Data> = after.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
    compare(ADJOINT, &both);
}

#[test]
fn random_loops_in_loops() {
    const N: usize = 6;
    let vector = |k: f64| reals((0..2 * N).map(|i| (k + 0.7 * i as f64).sin()));
    let args = [matrix(N, N), matrix(N, N), vector(0.3), Data::scalar(0.5), matrix(N, N), vector(1.1)];
    let seeds = [
        matrix(N, N),
        matrix(N, N),
        vector(0.9),
        Data::scalar(0.7),
        matrix(N, N).zero_like(),
        vector(0.0).zero_like(),
    ];
    let (mut legal, mut together) = (0, 0);
    for seed in 0..1500 {
        let text = random(&mut Dice::new(seed));
        let module = rev_core::text::parse_module(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        let Ok(module) = rev_core::check::check_module(module) else { continue };
        legal += 1;
        let types = ArgumentType::of_arguments(&module, Direction::FORWARD, &args).unwrap();
        let program = lower(&module, Direction::FORWARD, &types, &LowerOptions::default()).unwrap();
        together += u32::from(threads(&program, [N as i64; 2]) > N as i64);
        emulated_in_any_order(&module, &args, &seeds);
    }
    assert!(legal > 200 && together > 100, "{legal}, {together} with a thread for each pair");
}
