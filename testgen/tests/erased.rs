//! Erasing on generated programs: without its dead code a program gives what it gave, run without
//! checks on the interpreter.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::check::{check, Checked};
use rev_core::interp::Machine;
use rev_core::ir::{Block, Direction, Function, Module};
use rev_core::pass::{adjoint, erase, inverse, Adjoint, Wanted};
use rev_core::tolerance::Options;
use rev_core::value::Data;
use rev_testgen::reals::{cotangent, difference};
use rev_testgen::{Dice, Program};

const COUNT: u64 = 250;

/// The module about one function more, which calls what the entry calls.
fn about(module: &Module, function: Function) -> Module {
    let mut module = module.clone();
    let links = module.links.get(&module.entry).cloned().unwrap_or_default();
    module.entry = function.name.clone();
    module.links.insert(function.name.clone(), links);
    module.functions.insert(function.name.clone(), function);
    module
}

fn run(module: &Module, args: &[Data]) -> Vec<Data> {
    let options = Options { checks: false, ..Options::default() };
    let machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec());
    let mut machine = machine.unwrap().with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    machine.arguments()
}

fn statements(block: &Block) -> usize {
    block.iter().map(|s| 1 + s.blocks().into_iter().map(statements).sum::<usize>()).sum()
}

/// Runs a program and what erasing leaves of it; how many statements each has.
fn same(seed: u64, module: &Module, program: &Checked, args: &[Data], wanted: Wanted) -> (usize, usize) {
    let erased = erase(program, wanted).into_inner();
    let sizes = (statements(&program.body), statements(&erased.body));
    let text = erased.to_string();
    let mut expected = run(&about(module, program.clone().into_inner()), args);
    let mut found = run(&about(module, erased), args);
    if wanted == Wanted::Shadows {
        // each value is followed by its shadow
        let shadows = |all: Vec<Data>| all.into_iter().skip(1).step_by(2).collect();
        (expected, found) = (shadows(expected), shadows(found));
    }
    assert!(
        difference(&expected, &found) == 0.0,
        "seed {seed}, {wanted:?}: {expected:?}, erased {found:?}\n{}\n{text}",
        **program
    );
    sizes
}

#[test]
fn nothing_that_is_wanted_changes() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..COUNT {
        let program = Program::generate(seed, "program");
        let module = program.checked_module().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let forward = check(program.entry().clone()).unwrap_or_else(|_| panic!("seed {seed}"));
        let args = program.arguments::<f64>(1);
        let (b, a) = same(seed, &module, &forward, &args, Wanted::All);
        (before, after) = (before + b, after + a);
        let end = run(&about(&module, forward.clone().into_inner()), &args);
        same(seed, &module, &inverse(&forward), &end, Wanted::All);

        let mut dice = Dice::new(seed);
        let seeds = end.iter().map(|d| cotangent(d, &mut dice)).collect::<Vec<_>>();
        let both: Vec<Data> = end.into_iter().zip(seeds).flat_map(|(v, s)| [v, s]).collect();
        let back = adjoint(&forward, Adjoint::LEAN);
        same(seed, &module, &back, &both, Wanted::All);
        let (b, a) = same(seed, &module, &back, &both, Wanted::Shadows);
        (before, after) = (before + b, after + a);
    }
    // most generated programs have ancillas, whose uncomputation goes
    assert!(after * 10 < before * 9, "{after} of {before} statements are left");
}
