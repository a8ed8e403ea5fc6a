//! Random programs on the reference interpreter, and what they are made of.
//!
//! `REV_SEED=next REV_PROGRAMS=20000 cargo test --release -p rev-testgen --test programs` makes a longer
//! run of other programs (docs/extending.md, "Random programs").

#![allow(clippy::panic)] // tests

use rev_core::ir::{Block, Expr, ExprKind, VarKind};
use rev_core::ops::Func;
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

fn each_expr(block: &Block, f: &mut dyn FnMut(&Expr)) {
    fn within(e: &Expr, f: &mut dyn FnMut(&Expr)) {
        f(e);
        e.each_child(&mut |e| within(e, f));
    }
    for stmt in block {
        stmt.each_expr(&mut |e| within(e, f));
        stmt.blocks().into_iter().for_each(|b| each_expr(b, f));
    }
}

/// An ancilla that starts at zero comes back up to rounding, perhaps with the other sign.
#[test]
fn signs_are_not_taken_of_ancillas_themselves() {
    let mut beside = 0;
    for seed in 0..400 {
        for function in Program::generate(seed, "f").functions {
            each_expr(&function.body, &mut |e| {
                let ExprKind::Func(Func::CopySign, args) = &e.kind else { return };
                let own = |v| matches!(function.var(v).kind, VarKind::Ancilla | VarKind::Binding);
                if args[1].reads().iter().any(|p| own(p.var)) {
                    assert!(!matches!(args[1].kind, ExprKind::Read(_)), "seed {seed}");
                    beside += 1;
                }
            });
        }
    }
    assert!(beside > 0, "no sign is computed from what a function declares");
}
