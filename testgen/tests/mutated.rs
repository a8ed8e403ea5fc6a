//! What the static analyses accept is right: random programs, with statements moved, repeated and
//! loops declared parallel at random, are either rejected or do what the analyses promise.
//!
//! Generated programs are legal by construction and would not find an analysis that accepts too
//! much. Of the mutated ones many are wrong; those that pass are run on exact numbers.
//!
//! `REV_MUTANTS=100000 cargo test --release -p rev-testgen --test mutated` makes a longer run.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use rev_core::check::check;
use rev_core::error::{Cause, Error};
use rev_core::interp::{Machine, Progress};
use rev_core::ir::*;
use rev_core::scalar::Fixed43;
use rev_core::text;
use rev_core::value::Data;
use rev_testgen::{Dice, Program};

fn mutants() -> u64 {
    std::env::var("REV_MUTANTS").ok().and_then(|s| s.parse().ok()).unwrap_or(3000)
}

/// The blocks of a function, by number.
fn each_block(block: &mut Block, f: &mut dyn FnMut(&mut Block)) {
    f(block);
    block.iter_mut().flat_map(|s| s.blocks_mut()).for_each(|b| each_block(b, f));
}

fn pick_block(function: &mut Function, dice: &mut Dice, change: impl FnOnce(&mut Block, &mut Dice)) {
    let mut count = 0;
    each_block(&mut function.body, &mut |_| count += 1);
    let chosen = dice.below(count);
    let (mut number, mut change) = (0, Some(change));
    each_block(&mut function.body, &mut |block| {
        if number == chosen {
            if let Some(change) = change.take() {
                change(block, dice);
            }
        }
        number += 1;
    });
}

fn leaves(block: &[Stmt], out: &mut Vec<Stmt>) {
    for stmt in block {
        match &stmt.kind {
            StmtKind::Update { .. } | StmtKind::Instr { .. } => out.push(stmt.clone()),
            _ => stmt.blocks().into_iter().for_each(|b| leaves(b, out)),
        }
    }
}

/// Moves a statement, or writes one down once more somewhere else.
fn disorder(function: &mut Function, dice: &mut Dice) {
    let mut all = Vec::new();
    leaves(&function.body, &mut all);
    let copied = dice.pick(&all).cloned();
    let moves = dice.chance(40);
    pick_block(function, dice, |block, dice| match copied {
        Some(stmt) if !moves => block.insert(dice.below(block.len() + 1), stmt),
        _ if block.len() > 1 => {
            let k = dice.below(block.len() - 1);
            block.swap(k, k + 1);
        }
        _ => {}
    });
}

/// Leaves the restoring of explicit ancillas to the compiler: the last statements go.
fn manage(function: &mut Function, dice: &mut Dice) {
    each_block(&mut function.body, &mut |block| {
        for stmt in block {
            if let StmtKind::Ancilla { release: release @ Release::Checked, body, .. } = &mut stmt.kind {
                if dice.chance(50) && !matches!(body.last().map(|s| &s.kind), Some(StmtKind::Release { .. }))
                {
                    *release = Release::Managed;
                    body.pop();
                }
            }
        }
    });
}

/// The module with every function checked, or nothing where one is wrong.
fn checked(mut module: Module) -> Option<Module> {
    for function in module.functions.values_mut() {
        *function = check(function.clone()).ok()?.into_inner();
    }
    Some(module)
}

/// The ancillas that the compiler uncomputes, each with its function.
fn managed(module: &Module) -> BTreeSet<(String, String)> {
    fn add(function: &Function, block: &[Stmt], out: &mut BTreeSet<(String, String)>) {
        for stmt in block {
            if let StmtKind::Ancilla { var, release: Release::Managed, .. } = &stmt.kind {
                out.insert((function.name.clone(), function.var(*var).name.clone()));
            }
            stmt.blocks().into_iter().for_each(|b| add(function, b, out));
        }
    }
    let mut out = BTreeSet::new();
    module.functions.values().for_each(|f| add(f, &f.body, &mut out));
    out
}

/// Runs a machine to the end; a mutated loop may not have one, then it isn't reached (`false`).
fn finish(machine: &mut Machine) -> Result<bool, Error> {
    for _ in 0..100_000 {
        if machine.step()? == Progress::AtEnd {
            return Ok(true);
        }
    }
    Ok(false)
}

fn with_entry(program: &Program, entry: Function) -> Option<Module> {
    let mut module = program.module().ok()?;
    module.functions.insert(entry.name.clone(), entry);
    Some(module)
}

#[test]
fn what_can_be_uncomputed_is_restored() {
    let (mut accepted, mut finished) = (0, 0);
    for seed in 0..mutants() {
        let program = Program::generate(2 * seed, "f");
        let mut entry = program.entry().clone();
        let mut dice = Dice::new(seed ^ 0xfeed);
        manage(&mut entry, &mut dice);
        (0..1 + dice.below(3)).for_each(|_| disorder(&mut entry, &mut dice));
        let source = text::print_function(&entry);
        // a wrong postcondition where nothing is checked leads anywhere
        if source.contains("unchecked") {
            continue;
        }
        let Some(module) = with_entry(&program, entry) else { continue };
        let ancillas = managed(&module);
        let Some(module) = checked(module) else { continue };
        accepted += 1;
        let arguments = program.arguments::<Fixed43>(seed);
        let mut machine = Machine::new(&module, "f", Direction::FORWARD, arguments.clone()).unwrap();
        match finish(&mut machine) {
            Ok(true) => finished += 1,
            Ok(false) => continue,
            Err(e) => {
                if let Cause::Release { place, .. } = e.cause() {
                    let name = place.split(['[', '.']).next().unwrap_or(place);
                    let after = text::print_function(&module.functions["f"]);
                    let function = e.trace().first().map_or("f", |site| &site.function);
                    let ancilla = (function.to_string(), name.to_string());
                    assert!(!ancillas.contains(&ancilla), "seed {seed}: {e}\n{source}\nuncomputed:\n{after}");
                }
                continue;
            }
        }
        machine.run_back().unwrap_or_else(|e| panic!("seed {seed}, back: {e}\n{source}"));
        assert_eq!(machine.arguments(), arguments, "seed {seed}\n{source}");
    }
    println!("{accepted} accepted, {finished} ran to the end");
    assert!(finished > mutants() / 10, "{accepted} accepted, {finished} ran to the end");
}

/// Declares loops parallel, and says which it were.
fn parallelize(function: &mut Function, dice: &mut Dice) -> usize {
    let mut count = 0;
    each_block(&mut function.body, &mut |block| {
        for stmt in block {
            if let StmtKind::For { parallel: parallel @ None, .. } = &mut stmt.kind {
                if dice.chance(60) {
                    *parallel = Some(Parallel::default());
                    count += 1;
                }
            }
        }
    });
    count
}

/// Runs parallel loops in the opposite order.
fn reverse_parallel_loops(module: &mut Module) {
    for function in module.functions.values_mut() {
        each_block(&mut function.body, &mut |block| {
            for stmt in block {
                if let StmtKind::For { range, parallel: Some(_), .. } = &mut stmt.kind {
                    range.reversed = !range.reversed;
                }
            }
        });
    }
}

fn result(module: &Module, arguments: Vec<Data>) -> Option<Vec<Data>> {
    let mut machine = Machine::new(module, "f", Direction::FORWARD, arguments).unwrap();
    finish(&mut machine).ok()?.then(|| machine.arguments())
}

#[test]
fn independent_iterations_run_in_any_order() {
    let (mut accepted, mut compared) = (0, 0);
    for seed in 0..mutants() {
        let program = Program::generate(2 * seed, "f");
        let mut entry = program.entry().clone();
        let mut dice = Dice::new(seed ^ 0xbeef);
        (0..dice.below(3)).for_each(|_| disorder(&mut entry, &mut dice));
        if parallelize(&mut entry, &mut dice) == 0 {
            continue;
        }
        let source = text::print_function(&entry);
        // a promise that isn't kept where nothing is checked leads anywhere
        if source.contains("unchecked") && source.contains("disjoint") {
            continue;
        }
        let Some(module) = with_entry(&program, entry).and_then(checked) else { continue };
        accepted += 1;
        let mut reversed = module.clone();
        reverse_parallel_loops(&mut reversed);
        let arguments = program.arguments::<Fixed43>(seed);
        let Some(up) = result(&module, arguments.clone()) else { continue };
        let down = result(&reversed, arguments);
        assert_eq!(Some(up), down, "seed {seed}\n{source}");
        compared += 1;
    }
    println!("{accepted} accepted, {compared} compared");
    assert!(compared > mutants() / 20, "{accepted} accepted, {compared} compared");
}
