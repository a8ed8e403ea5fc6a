//! The passes on generated programs: inverses and adjoints are programs again.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::check::{check, Checked};
use rev_core::ir::Function;
use rev_core::pass::{adjoint, inverse, Adjoint};
use rev_core::text;
use rev_testgen::Program;

const COUNT: u64 = 300;

fn checked(f: &Function) -> Checked {
    check(f.clone()).unwrap_or_else(|d| panic!("{}\n{f}", d.render("program", "")))
}

/// A pass's result is accepted by the static rules, which it satisfies by construction.
fn still_right(what: &str, seed: u64, f: &Checked) {
    // run backwards, a release is where an ancilla's use begins
    let source: String = text::print_function(f)
        .lines()
        .filter(|l| !l.trim_start().starts_with("release "))
        .fold(String::new(), |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        });
    let located =
        text::parse_located(&source).unwrap_or_else(|e| panic!("{what}, seed {seed}: {e}\n{source}"));
    if let Err(diagnostics) = check(located) {
        panic!("{what}, seed {seed}\n{}\n{source}", diagnostics.render("program", &source));
    }
    assert_eq!(text::parse_function(&text::encode_function(f)).unwrap(), **f, "{what}, seed {seed}");
}

#[test]
fn the_inverse_is_an_involution() {
    for seed in 0..COUNT {
        for f in &Program::generate(seed, "f").functions {
            let f = checked(f);
            assert_eq!(inverse(&inverse(&f)), f, "seed {seed}\n{}", *f);
        }
    }
}

#[test]
fn inverses_and_adjoints_are_programs() {
    for seed in 0..COUNT {
        for f in &Program::generate(seed, "f").functions {
            let f = checked(f);
            still_right("the inverse", seed, &inverse(&f));
            let adjoint_of = |f: &Checked, elide_zero| adjoint(f, Adjoint { elide_zero });
            still_right("the adjoint", seed, &adjoint_of(&f, false));
            still_right("the emitted adjoint", seed, &adjoint_of(&f, true));
            still_right("the inverse of the adjoint", seed, &inverse(&adjoint_of(&f, false)));
        }
    }
}
