//! Rejected programs: for each diagnostic the message as the compiler shows it. `legal_neighbours.rs`
//! has the programs that are close to a rejected one and right.
//!
//! `TRYBUILD=overwrite cargo test -p rev-cpu --test ui` writes the messages anew, to be read before they are
//! committed.

#[test]
fn rejected_programs() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
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
