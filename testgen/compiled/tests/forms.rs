//! Random programs of source forms: what the macro emits against plain Rust, difference quotients and every device.

#![allow(clippy::panic)] // tests

use rev_testgen_compiled::forms::{compare, Case};

include!(concat!(env!("OUT_DIR"), "/forms.rs"));

#[test]
fn forms_do_what_plain_rust_does() {
    compare(FORMS).unwrap_or_else(|report| panic!("{report}"));
}
