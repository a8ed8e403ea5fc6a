//! Programs over random indices: those that the compiler accepts do what it promises. Parallel loops
//! give the same result in both orders of their iterations; managed ancillas are restored. Small
//! ranges and a small grammar of indices, so that accesses meet often.
//!
//! `REV_LOOPS=1000000 cargo test --release -p rev-testgen --test indices` makes a longer run.

#![allow(clippy::unwrap_used)]

use rev_core::check::check;
use rev_core::error::Cause;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Function, Module, StmtKind};
use rev_core::text::parse_function;
use rev_core::value::Data;
use rev_testgen::Dice;

const LENGTH: usize = 40;

fn pick(dice: &mut Dice, items: &[&str]) -> String {
    dice.pick(items).map_or_else(String::new, |s| s.to_string())
}

fn index(dice: &mut Dice, inner: bool) -> String {
    let c = dice.below(5).to_string();
    let plain = [
        "i",
        "i + C",
        "i - C",
        "2 * i",
        "2 * i + C",
        "3 * i + C",
        "C",
        "9 - i",
        "i / 2",
        "k[i]",
        "k[i] + C",
        "m",
        "m + C",
        "i + l",
        "k[C]",
    ];
    let nested = [
        "j",
        "i + j",
        "2 * i + j",
        "3 * i + j",
        "3 * i + 2 * j",
        "9 - i + j",
        "i * i + j",
        "l * i + j",
        "4 * i - j",
        "k[i] + j",
        "k[j]",
    ];
    let form = if inner && dice.chance(70) { pick(dice, &nested) } else { pick(dice, &plain) };
    form.replace('C', &c)
}

fn statement(dice: &mut Dice, inner: bool) -> String {
    let forms = [
        "A[P] += B[Q]",
        "A[P] += B[Q]",
        "A[P] -= 3i64",
        "swap(A[P], B[Q])",
        "neg(A[P])",
        "A[P] ^= B[Q]",
        "s += A[P]",
        "A[P] += s",
        "A[P] += A[Q]",
        "let t: i64 = A[P] { B[Q] += t }",
        "A[P] += B[Q] * A[R]",
    ];
    let mut out = pick(dice, &forms);
    for (name, arrays) in [('A', ["x", "y"]), ('B', ["x", "y"])] {
        out = out.replace(name, &pick(dice, &arrays));
    }
    for place in ['P', 'Q', 'R'] {
        out = out.replace(place, &index(dice, inner));
    }
    out
}

fn program(dice: &mut Dice) -> String {
    let range =
        pick(dice, &["2..6", "2..=5", "(2..8).step_by(2)", "(2..6).rev()", "(1..9).step_by(3)", "1..l"]);
    let declared = if dice.chance(40) { " injective(k)" } else { "" };
    let mut body = String::new();
    for _ in 0..1 + dice.below(2) {
        match dice.below(3) {
            0 => {
                let inner = pick(dice, &["0..2", "0..3", "0..l", "0..i", "(0..4).step_by(2)"]);
                body += &format!("for j in {inner} {{ {} }}\n", statement(dice, true));
            }
            _ => body += &format!("{}\n", statement(dice, false)),
        }
    }
    format!(
        "fn f(x: &mut [i64], y: &mut [i64], s: &mut i64, k: [usize], l: usize) {{
            par for i in {range}{declared} {{ let m: usize = 2 * i {{ {body} }} }}
        }}"
    )
}

fn count() -> u64 {
    std::env::var("REV_LOOPS").ok().and_then(|s| s.parse().ok()).unwrap_or(10_000)
}

fn module(f: Function) -> Module {
    let mut module = Module { entry: "f".into(), ..Module::default() };
    module.functions.insert("f".into(), f);
    module
}

fn arguments(dice: &mut Dice) -> Vec<Data> {
    let mut numbers = |n| Data::vector((0..n).map(|_| Data::scalar(dice.below(1000) as i64)).collect());
    let arrays = [numbers(LENGTH), numbers(LENGTH), Data::scalar(7i64)];
    let k = Data::vector(dice.permutation(16).into_iter().map(Data::scalar).collect());
    arrays.into_iter().chain([k, Data::scalar(2 + dice.below(3))]).collect()
}

fn run(module: &Module, arguments: Vec<Data>) -> Option<Vec<Data>> {
    let mut machine = Machine::new(module, "f", Direction::FORWARD, arguments).unwrap();
    machine.run().ok()?;
    Some(machine.arguments())
}

#[test]
fn accepted_loops_run_in_any_order() {
    let count = count();
    let (mut accepted, mut compared) = (0u64, 0u64);
    for seed in 0..count {
        let mut dice = Dice::new(seed);
        let source = program(&mut dice);
        let Ok(function) = check(parse_function(&source).unwrap()) else { continue };
        accepted += 1;
        let function = function.into_inner();
        let mut other = function.clone();
        if let StmtKind::For { range, .. } = &mut other.body[0].kind {
            range.reversed = !range.reversed;
        }
        let [up, down] = [function, other].map(module);
        let arguments = arguments(&mut dice);
        let Some(expected) = run(&up, arguments.clone()) else { continue };
        compared += 1;
        assert!(run(&down, arguments) == Some(expected), "seed {seed}: the order matters\n{source}");
    }
    println!("{count} loops, {accepted} accepted, {compared} compared");
    assert!(compared > count / 20, "{count} loops, {accepted} accepted, {compared} compared");
}

/// A statement in the scope of a managed ancilla `a`.
fn managed_statement(dice: &mut Dice, inner: bool) -> String {
    let forms = [
        "a += A[P]",
        "a += A[P] * B[Q]",
        "a -= A[P]",
        "B[Q] += a",
        "neg(B[Q])",
        "B[Q] += a * A[P]",
        "inc(l)",
        "a += l as i64",
    ];
    let mut out = pick(dice, &forms);
    for (name, arrays) in [('A', ["x", "y"]), ('B', ["x", "y"])] {
        out = out.replace(name, &pick(dice, &arrays));
    }
    for place in ['P', 'Q'] {
        out = out.replace(place, &index(dice, inner));
    }
    out
}

fn managed_program(dice: &mut Dice) -> String {
    let mut body = String::new();
    for _ in 0..1 + dice.below(2) {
        let range =
            pick(dice, &["2..6", "2..=5", "(2..8).step_by(2)", "(2..6).rev()", "(1..9).step_by(3).rev()"]);
        let mut inner = String::new();
        for _ in 0..1 + dice.below(2) {
            let statement = match dice.below(4) {
                0 => format!(
                    "for j in {} {{ {} }}",
                    pick(dice, &["0..2", "0..i"]),
                    managed_statement(dice, true)
                ),
                1 => format!("if x[i] > 500i64 {{ {} }}", managed_statement(dice, false)),
                2 => format!("let t: i64 = {}[i] {{ a += t }}", pick(dice, &["x", "y"])),
                _ => managed_statement(dice, false),
            };
            inner += &format!("{statement}\n");
        }
        inner += &format!("{}\n", managed_statement(dice, false));
        body += &format!("for i in {range} {{ let m: usize = 2 * i {{ {inner} }} }}\n");
    }
    format!(
        "fn f(x: &mut [i64], y: &mut [i64], s: &mut i64, k: [usize], l: &mut usize) {{
            managed anc a: i64 = 0i64 {{ {body} }}
        }}"
    )
}

#[test]
fn accepted_ancillas_are_restored() {
    let count = count();
    let (mut accepted, mut finished) = (0u64, 0u64);
    for seed in 0..count {
        let mut dice = Dice::new(seed);
        let source = managed_program(&mut dice);
        let Ok(function) = check(parse_function(&source).unwrap()) else { continue };
        accepted += 1;
        let module = module(function.into_inner());
        let arguments = arguments(&mut dice);
        let mut machine = Machine::new(&module, "f", Direction::FORWARD, arguments.clone()).unwrap();
        match machine.run() {
            Ok(()) => finished += 1,
            Err(e) if matches!(e.cause(), Cause::Release { .. }) => panic!("seed {seed}: {e}\n{source}"),
            Err(_) => continue,
        }
        machine.run_back().unwrap_or_else(|e| panic!("seed {seed}, back: {e}\n{source}"));
        assert!(machine.arguments() == arguments, "seed {seed}, not restored\n{source}");
    }
    println!("{count} programs, {accepted} accepted, {finished} ran to the end");
    assert!(finished > count / 20, "{count} programs, {accepted} accepted, {finished} ran to the end");
}
