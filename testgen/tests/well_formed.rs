//! Generated programs satisfy the static rules, and their text form is as good as they are.

use rev_core::check::check;
use rev_core::text;
use rev_testgen::{Program, Size};

const COUNT: u64 = 500;

#[test]
fn generated_programs_satisfy_the_static_rules() {
    let mut rejected = std::collections::BTreeMap::<_, Vec<String>>::new();
    for seed in 0..COUNT {
        let program = Program::generate(seed, &format!("program_{seed}"));
        for f in &program.functions {
            let source = text::print_function(f);
            let located =
                text::parse_located(&source).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{source}"));
            if let Err(diagnostics) = check(located) {
                for d in diagnostics.iter() {
                    rejected.entry(d.code).or_default().push(format!("seed {seed}"));
                }
                println!("seed {seed}\n{}\n{}", diagnostics.render("program", &source), source);
            }
        }
    }
    assert!(rejected.is_empty(), "{rejected:?}");
}

#[test]
fn the_text_form_gives_the_program_back() {
    for seed in 0..COUNT {
        for f in &Program::generate(seed, "f").functions {
            let clean = text::print_function(f);
            assert_eq!(text::print_function(&text::parse_function(&clean).unwrap()), clean);
            assert_eq!(text::parse_function(&clean).unwrap(), *f, "seed {seed}\n{clean}");
            assert_eq!(text::parse_function(&text::encode_function(f)).unwrap(), *f);
        }
        let module = Program::generate(seed, "f").module().unwrap();
        assert_eq!(text::parse_module(&text::encode_module(&module)).unwrap(), module);
        assert_eq!(text::parse_module(&module.to_string()).unwrap(), module);
    }
}

/// The programs of a few hundred seeds use everything: a generator that stops making something
/// would otherwise go unnoticed.
#[test]
fn every_form_is_generated() {
    assert_generated(COUNT, Size::Full);
    // those that are compiled
    assert_generated(200, Size::Small);
}

fn assert_generated(count: u64, size: Size) {
    use std::collections::BTreeSet;
    let mut words = BTreeSet::new();
    for seed in 0..count {
        for f in &Program::sized(seed, "f", size).functions {
            for line in text::print_function(f).lines() {
                let mut word = String::new();
                for c in line.chars().chain([' ']) {
                    match c.is_alphanumeric() || c == '_' {
                        true => word.push(c),
                        false => drop(words.insert(std::mem::take(&mut word))),
                    }
                }
            }
        }
    }
    let statements = [
        "swap",
        "neg",
        "inc",
        "dec",
        "flip",
        "conj",
        "rot",
        "irot",
        "hadamard",
        "mul_int",
        "div_int",
        "let",
        "anc",
        "managed",
        "if",
        "else",
        "post",
        "while",
        "for",
        "par",
        "injective",
        "disjoint",
        "call",
        "uncall",
        "compute",
        "do",
        "push",
        "pop",
        "release",
        "external",
        "unchecked",
        "inverse",
        "rev",
        "step_by",
    ];
    // operators are in almost every line; these are the functions that a program names
    let functions = [
        "mul_add",
        "select",
        "min",
        "max",
        "abs",
        "floor",
        "ceil",
        "round",
        "trunc",
        "copysign",
        "sqrt",
        "recip",
        "powi",
        "powf",
        "hypot",
        "exp",
        "expm1",
        "ln",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "atan2",
        "ln_gamma",
        "polygamma",
        "re",
        "im",
        "complex",
        "abs2",
        "norm",
        "arg",
        "quot",
        "given",
        "bend",
        "polar",
        "HALF",
        "len",
        "dim",
        "fill",
        "stack",
        "as",
    ];
    let missing: Vec<_> = statements.iter().chain(&functions).filter(|w| !words.contains(**w)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
