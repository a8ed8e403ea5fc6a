//! The static rules: programs that break each of them with the message on file, and programs that
//! are close to breaking one and are right.

#![allow(clippy::unwrap_used)]

#[path = "check/cases.rs"]
mod cases;

use std::fs;
use std::path::{Path, PathBuf};

use rev_core::diag::Code;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rev"));
    files.sort();
    assert!(!files.is_empty());
    files
}

fn name(file: &Path) -> String {
    file.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn wrong_programs_get_the_messages_on_file() {
    let mut failures = Vec::new();
    for file in files("wrong") {
        let text = fs::read_to_string(&file).unwrap();
        let found = cases::verdicts(&name(&file), &text);
        let on_file = fs::read_to_string(file.with_extension("txt")).unwrap_or_default();
        if found != on_file {
            failures.push(format!("{}:\n--- on file\n{on_file}\n--- found\n{found}", name(&file)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_wrong_program_breaks_the_rule_of_its_file() {
    for file in files("wrong") {
        let text = fs::read_to_string(&file).unwrap();
        let code = name(&file).trim_end_matches(".rev").to_string();
        for (title, program) in cases::programs(&text) {
            let verdict = cases::verdicts(&name(&file), &format!("// case: {title}\n{program}"));
            assert!(verdict.contains(&format!("error[{code}]")), "{}: {title}:\n{verdict}", name(&file));
        }
    }
}

#[test]
fn right_programs_pass() {
    let mut failures = Vec::new();
    for file in files("legal") {
        let text = fs::read_to_string(&file).unwrap();
        for (title, program) in cases::programs(&text) {
            let verdict = cases::verdicts(&name(&file), &format!("// case: {title}\n{program}"));
            if !verdict.ends_with("nothing is wrong\n") {
                failures.push(format!("{}: {verdict}", name(&file)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rules about the source text, which the front end tests.
const OF_THE_FRONT_END: &[Code] = &[
    Code::TupleReadsTarget,
    Code::ShadowedAncilla,
    Code::MissingPostcondition,
    Code::LossNotFound,
    Code::LossType,
    Code::GradientOfInteger,
    Code::ArrayFormula,
    Code::MultiplyUpdate,
    Code::LossyConversion,
];

#[test]
fn every_rule_has_a_wrong_program() {
    let tested: Vec<String> =
        files("wrong").iter().map(|f| name(f).trim_end_matches(".rev").to_string()).collect();
    for code in Code::ALL {
        let family = code.entry().family;
        let front = OF_THE_FRONT_END.contains(code) || (family == "Syntax" && *code != Code::UnknownName);
        // no program is known that shows a defect of rev; those that are too large for a file are in
        // `interp::tests::limits`
        let elsewhere = *code == Code::Defect || family == "Limits";
        if !front && !elsewhere && family != "Pure functions" {
            assert!(tested.contains(&code.id().to_string()), "{code} has no test");
        }
    }
}

/// The legal programs as checked functions, with the files and titles that they come from.
fn legal() -> Vec<(String, rev_core::check::Checked)> {
    rev_core::validate::switch_on();
    let mut out = Vec::new();
    for file in files("legal") {
        let text = fs::read_to_string(&file).unwrap();
        for (title, program) in cases::programs(&text).into_iter().filter(|(_, p)| !cases::is_module(p)) {
            let function = rev_core::text::parse_located(&program).unwrap();
            let checked = rev_core::check::check(function).unwrap();
            out.push((format!("{}: {title}", name(&file)), checked));
        }
    }
    out
}

/// The passes keep the rules: what they make passes the checks again.
#[test]
fn what_passes_make_of_right_programs_is_right() {
    use rev_core::check::check;
    use rev_core::pass::{adjoint, inverse, Adjoint};
    let mut failures = Vec::new();
    // Run backwards, a release comes before the uses, which the rule about releases is against.
    for (title, function) in legal().into_iter().filter(|(title, _)| !title.starts_with("releases")) {
        let back = adjoint(&function, Adjoint::REVERSIBLE);
        let again = [function.clone(), inverse(&function), back.clone(), inverse(&back)];
        for program in again {
            let text = rev_core::text::print_function(&program);
            if let Err(e) = check(program.into_inner()) {
                failures.push(format!("{title}\n{text}{e}\n"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Who didn't ask for the check is told when the adjoint is asked for; values may still be computed.
#[test]
fn an_adjoint_that_would_lose_a_derivative_is_not_made() {
    use rev_core::interp::Machine;
    use rev_core::ir::Direction;
    use rev_core::value::Data;
    let text = "module fit
        fn loss<T: Real>(y: &mut T, w: T, x: T) constant(x) { y += w * x }
        fn fit<T: Real>(y: &mut T, w: T, x: T) { call loss(&mut y, w, x) }";
    let run = |text: &str, adjoint: u8| {
        let module = rev_core::text::parse_module(text).unwrap();
        let args = (0..3 << adjoint).map(|k| Data::scalar(1.0 + f64::from(k)));
        let mut machine =
            Machine::new(&module, "fit", Direction { adjoint, ..Direction::FORWARD }, args.collect())?;
        machine.run()?;
        Ok::<_, rev_core::error::Error>(machine.arguments())
    };
    assert_eq!(run(text, 0).unwrap()[0], Data::scalar(1.0 + 2.0 * 3.0));
    for adjoint in [1, 2] {
        let error = run(text, adjoint).unwrap_err();
        let message = "`x` carries a derivative, but `loss` declares `x` constant";
        assert!(error.to_string().contains(message), "{error}");
    }
    let right = text.replace("x: T) { call", "x: T) constant(x) { call");
    // w, w_bar: 3, 4; x, x_bar: 5, 6; the seed is 2
    let expected = [4.0 + 2.0 * 5.0, 5.0, 6.0].map(Data::scalar);
    assert_eq!(run(&right, 1).unwrap()[3..], expected);
    // what a callee finds for a constant of its caller's is dropped
    let finding = right.replacen("x: T) constant(x)", "x: T)", 1);
    assert_eq!(run(&finding, 1).unwrap()[3..], expected);
}
