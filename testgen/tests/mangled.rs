//! Damaged programs: the text form with words left out, repeated, exchanged or replaced. Each is refused with a
//! message, or is a program, through which all passes go. Nothing panics.
//!
//! `REV_MANGLED=1000000 REV_SEED=7 cargo test --release -p rev-testgen --test mangled` makes a longer run.

#![allow(clippy::panic)] // tests

use std::panic::{catch_unwind, AssertUnwindSafe};

use rev_core::check::{check, check_module};
use rev_core::interp::{Machine, Progress};
use rev_core::ir::{Direction, Module};
use rev_core::pass::{adjoint, erase, inverse, Adjoint, Wanted};
use rev_core::text;
use rev_core::value::Data;
use rev_testgen::suite::setting;
use rev_testgen::{mangle, Dice, Program};

/// Words that stand where others do.
const WORDS: &[&str] = &[
    "let",
    "anc",
    "managed",
    "par",
    "for",
    "while",
    "if",
    "else",
    "post",
    "call",
    "uncall",
    "compute",
    "do",
    "push",
    "pop",
    "release",
    "inverse",
    "unchecked",
    "external",
    "rev",
    "step_by",
    "0",
    "1",
    "-1",
    "340282366920938463463374607431768211455",
    "1e308",
    "nan",
    "inf",
    "0_T",
    "true",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    ".",
    "..",
    "..=",
    "+=",
    "-=",
    "^=",
    "*=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "&mut",
    "&acc",
    "as",
    "usize",
    "u8",
    "i64",
    "f64",
    "T",
    "N",
    "Stack<T>",
    "Shadow<T>",
    "Complex<T>",
    "fill",
    "stack",
    "len",
    "dim",
    "sin",
    "swap",
    "rot",
    "inv",
    "mul_int",
    "contract",
    "\"ij,j->i\"",
    "\"\"",
    "injective",
    "disjoint",
    "constant",
    "links",
    "fn",
    "pure",
    "struct",
    "const",
    "named",
    "partials",
    "zero_shadow",
    "y0",
    "x1",
];

/// How far a damaged text comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    Text,
    Program,
    Checked,
    Ran,
}

fn through_all(source: &str, args: &[Data]) -> Reached {
    let Ok(mut module) = text::parse_module(source) else { return Reached::Text };
    assert_eq!(text::parse_module(&text::encode_module(&module)).as_ref(), Ok(&module), "the text form");
    module.entry = "f".into();
    let Ok(module) = check_module(module) else { return Reached::Program };
    for f in module.functions.values() {
        let Ok(f) = check(f.clone()) else { continue };
        assert!(inverse(&inverse(&f)) == f, "the inverse of the inverse");
        let back = adjoint(&f, Adjoint::REVERSIBLE);
        let _ = (adjoint(&back, Adjoint::LEAN), inverse(&back));
        let _ = (erase(&f, Wanted::All).shared(), erase(&back, Wanted::Shadows).shared());
    }
    let _ = module.fused();
    let _ = module.adjoint();
    match run(&module, args) {
        true => Reached::Ran,
        false => Reached::Checked,
    }
}

/// Runs the module for a while.
fn run(module: &Module, args: &[Data]) -> bool {
    let Ok(mut machine) = Machine::new(module, "f", Direction::FORWARD, args.to_vec()) else { return false };
    for _ in 0..2000 {
        match machine.step() {
            Ok(Progress::Stepped) => {}
            Ok(Progress::AtEnd) => return true,
            Err(_) => return false,
        }
    }
    false
}

#[test]
fn damaged_programs_are_refused_or_run() {
    let read = |name, default| setting(name, default).unwrap_or_else(|e| panic!("{e}"));
    let (first, count) = (read("REV_SEED", 0), read("REV_MANGLED", 600));
    let mut reached = std::collections::BTreeMap::<Reached, u64>::new();
    for seed in first..first + count {
        // many texts of each program
        let program = Program::generate(seed / 20, "f");
        let Ok(module) = program.module() else { continue };
        let mut dice = Dice::new(seed);
        let source = mangle(&module.to_string(), WORDS, &mut dice);
        let args = program.arguments::<f64>(1);
        let how_far = catch_unwind(AssertUnwindSafe(|| through_all(&source, &args)));
        *reached.entry(how_far.unwrap_or_else(|_| panic!("seed {seed} panics\n{source}"))).or_default() += 1;
    }
    println!("{reached:?}");
    assert!(reached.len() > 2 || count < 100, "{reached:?}");
}
