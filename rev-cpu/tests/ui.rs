//! Rejected programs: for each diagnostic the message as the compiler shows it, and those of `docs/mistakes.md`.
//! `legal_neighbours.rs` has the programs that are close to a rejected one and right.
//!
//! `TRYBUILD=overwrite cargo test -p rev-cpu --test ui` writes the messages anew, to be read before they are
//! committed; `REV_SNAPSHOT=write cargo test -p rev-cpu --test ui page` then puts them into the page.

use std::path::Path;

#[test]
fn rejected_programs() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.compile_fail("tests/ui/mistakes/*.rs");
}

/// Every code of the table that Rust source can run into has a case that is named after it.
#[test]
fn every_code_has_a_case() {
    let cases: Vec<String> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui/fail"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().to_uppercase())
        .collect();
    // a parameter of mode `acc` exists in the text form only; a defect of rev has no program; programs that are too deep are
    // made by the tests of `rev-macros` (`growth`) and of the interpreter
    let elsewhere = ["R0108", "R0801", "R0802", "R0803"];
    for code in rev_core::diag::Code::ALL {
        let id = code.id();
        let case = cases.iter().find(|name| name.starts_with(id) && name.ends_with(".RS"));
        assert!(case.is_some() || elsewhere.contains(&id), "no case for {id}");
        let message = cases.iter().find(|name| name.starts_with(id) && name.ends_with(".STDERR"));
        if let (Some(case), Some(message)) = (case, message) {
            let text = std::fs::read_to_string(format!(
                "{}/tests/ui/fail/{}",
                env!("CARGO_MANIFEST_DIR"),
                message.to_lowercase()
            ))
            .unwrap();
            assert!(text.contains(&format!("[{id}]")), "{case} shows no {id}");
        }
    }
}

/// A message as the page shows it: where there are more errors than three they follow from the first one, which is shown.
fn first(message: String) -> String {
    match message.split_once("\n\nerror") {
        Some((error, others)) if others.matches("\n\nerror").count() > 1 => format!("{error}\n"),
        Some(_) | None => message,
    }
}

/// A block of the page of mistakes: the program as a user of `rev` writes it, and what the compiler says.
fn shown(name: &str, program: &str, message: String) -> (String, String) {
    let program = program.replace("use rev_cpu::", "use rev::");
    let message = first(message).replace(&format!("tests/ui/mistakes/{name}"), "src/main.rs");
    let message = message.replace("rev_cpu::", "rev::").replace("and $N others", "and others");
    (format!("```rust,compile_fail\n{program}```\n"), format!("```text\n{message}```\n"))
}

#[test]
fn the_page_of_mistakes_shows_the_programs_and_messages_of_its_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = crates.join("../docs/mistakes.md");
    let write = std::env::var_os("REV_SNAPSHOT").is_some_and(|v| v == "write");
    let mut page = std::fs::read_to_string(&file).unwrap();
    let cases =
        std::fs::read_dir(crates.join("tests/ui/mistakes")).unwrap().map(|entry| entry.unwrap().path());
    let cases: Vec<_> = cases.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    for case in &cases {
        let (program, message) = shown(
            &case.file_name().unwrap().to_string_lossy(),
            &std::fs::read_to_string(case).unwrap(),
            std::fs::read_to_string(case.with_extension("stderr")).unwrap(),
        );
        let place = page.find(&program).unwrap_or_else(|| panic!("not in docs/mistakes.md:\n{program}"));
        let start = place + page[place..].find("```text\n").unwrap();
        let end = start + page[start..].find("\n```\n").unwrap() + "\n```\n".len();
        if write {
            page.replace_range(start..end, &message);
        }
        assert_eq!(
            page.get(start..start + message.len()),
            Some(message.as_str()),
            "docs/mistakes.md for {}",
            case.display()
        );
    }
    assert_eq!(page.matches("```rust,compile_fail").count(), cases.len());
    if write {
        std::fs::write(file, page).unwrap();
    }
}
