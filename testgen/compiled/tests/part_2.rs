//! A quarter of the random programs: what the macro emits against the interpreter.

#![allow(clippy::panic)] // tests

use rev_testgen_compiled::{compare, Cases};

include!(concat!(env!("OUT_DIR"), "/part_2.rs"));

#[test]
fn emitted_programs_do_what_the_interpreter_does() {
    compare(CASES).unwrap_or_else(|report| panic!("{report}"));
}
