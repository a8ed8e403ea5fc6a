//! Damaged programs: the text form with words left out, repeated, exchanged or replaced. Each is refused with a
//! message, or is a program, through which all passes go. Nothing panics.
//!
//! `REV_MANGLED=1000000 REV_SEED=7 cargo test --release -p rev-testgen --test mangled` makes a longer run.

#![allow(clippy::panic)] // tests

use std::panic::{catch_unwind, AssertUnwindSafe};

use rev_testgen::corpus;
use rev_testgen::suite::setting;
use rev_testgen::{mangle, through_all, Dice, Program, Reached};

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
        let how_far = catch_unwind(AssertUnwindSafe(|| through_all(&source, Some(&args))));
        let how_far = how_far.unwrap_or_else(|_| {
            let command = format!("REV_SEED={seed} REV_MANGLED=1 cargo test -p rev-testgen --test mangled");
            panic!("seed {seed} panics: {command}\n{source}")
        });
        *reached.entry(how_far).or_default() += 1;
    }
    println!("{reached:?}");
    assert!(reached.len() > 2 || count < 100, "{reached:?}");
}

/// The texts that the fuzzer has found worth keeping (`testgen/fuzz`).
#[test]
fn the_fuzzers_programs_are_refused_or_run() {
    let mut reached = std::collections::BTreeMap::<Reached, u64>::new();
    for (name, text) in corpus("text") {
        let text = String::from_utf8_lossy(&text).into_owned();
        let how_far = catch_unwind(|| through_all(&text, None)).unwrap_or_else(|_| panic!("{name} panics"));
        *reached.entry(how_far).or_default() += 1;
    }
    println!("{reached:?}");
    assert!(reached.len() > 2, "{reached:?}");
}
