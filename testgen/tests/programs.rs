//! Random programs on the reference interpreter, and what they are made of.
//!
//! `REV_SEED=next REV_PROGRAMS=20000 cargo test --release -p rev-testgen --test programs` makes a longer
//! run of other programs (docs/extending.md, "Random programs").

#![allow(clippy::panic)] // tests

use rev_testgen::census::Census;
use rev_testgen::suite::interpreter::{check, generate, SUITE};
use rev_testgen::{Program, Size};

#[test]
fn programs_do_what_they_have_to() {
    let tally = SUITE.run(generate, &check).unwrap_or_else(|report| panic!("{report}"));
    let count = |what: &str| tally.get(what).copied().unwrap_or_default();
    let rough = (count("rough"), count("derivatives"));
    assert!(count("rounding") * 100 <= count("programs") + 100, "too many can't be told: {tally:?}");
    assert!(rough.0 * 20 <= rough.1 + 100, "too few derivatives can be told: {tally:?}");
}

/// A generator that stops making something would otherwise go unnoticed.
#[test]
fn every_form_is_generated() {
    for (size, count) in [(Size::Full, 1000), (Size::Small, 6000)] {
        let mut census = Census::expected();
        (0..count).for_each(|seed| census.add(&Program::sized(seed, "f", size)));
        assert!(census.missing().is_empty(), "{size:?}: {:?}", census.missing());
    }
}
