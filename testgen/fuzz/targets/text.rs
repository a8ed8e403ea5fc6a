//! Texts of programs: the reader, the static rules, every pass, a short run.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    rev_testgen::through_all(text, None);
});
