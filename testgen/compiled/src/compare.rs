//! Emitted programs against the interpreter, on the same arguments: forward, inverse, adjoint.

use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::interp::{Interpreter, Machine};
use rev_core::ir::{Direction, Module};
use rev_core::value::Data;
use rev_cpu::prelude::Cpu;
use rev_testgen::reals::{cotangent, difference, replace};
use rev_testgen::suite::{ledger, COMPILED};
use rev_testgen::{Dice, Program};

/// One of the programs of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The function.
    Forward,
    /// Its inverse.
    Inverse,
    /// Its adjoint.
    Adjoint,
    /// The function with tangents in shadows.
    Tangents,
}

/// Runs an emitted program on arguments and, for the adjoint, their shadows: both are changed.
pub type Case = fn(&dyn Device, Run, &mut [Data], &mut [Data]) -> Result<(), Error>;

/// A program of which the functions are compiled.
pub struct Cases {
    /// Its seed.
    pub seed: u64,
    /// The function that it is about.
    pub function: Case,
    /// The tangent of it.
    pub tangent: Option<Case>,
}

/// How many sets of arguments each program is run on.
const ARGUMENTS: u64 = 3;

/// How far numbers may be apart: sums in another order, and contributions of cotangents that are
/// left out where they are zero.
const TOLERANCE: f64 = 1e-9;

/// Runs every program in every way that the CPU has, and on the interpreter.
///
/// # Errors
///
/// The programs that differ, each with its first run that does and the command that shows it again.
pub fn compare(cases: &[Cases]) -> Result<usize, String> {
    let (mut runs, mut report, mut failed) = (0, String::new(), 0);
    for case in cases {
        let seed = case.seed;
        let program = Program::compiled(seed, "program");
        if let Err(message) = every_way(case, &program, &mut runs) {
            failed += 1;
            report += &format!("\nREV_SEED={seed} REV_PROGRAMS=4 {}\n{message}\n", COMPILED.command);
        }
    }
    let seeds = cases.iter().map(|case| case.seed);
    let (first, end) = (seeds.clone().min().unwrap_or(0), seeds.max().map_or(0, |last| last + 1));
    println!("compiled: seeds {first}..{end}, {failed} failed, {runs} runs");
    ledger::record(COMPILED.name, first..end, failed)?;
    match failed {
        0 => Ok(runs),
        _ => Err(format!("{failed} programs differ:\n{report}")),
    }
}

/// What is wrong with a program's first run that differs.
fn every_way(cases: &Cases, program: &Program, runs: &mut usize) -> Result<(), String> {
    let module = program.checked_module().map_err(|e| e.to_string())?;
    for k in 0..ARGUMENTS {
        let before = program.arguments::<f64>(k);
        let mut found =
            on_arguments(cases.function, cases.tangent.is_some(), program, &module, (k, &before), runs)
                .map_err(|e| e.to_string())?;
        if let Some(tangent) = cases.tangent {
            let module = module.tangent().map_err(|e| e.to_string())?;
            let mut dice = Dice::new(program.seed + k);
            let mut tangent_of = |d: &Data| replace(d, &mut |_| dice.real(-1.0, 1.0));
            let both: Vec<Data> = before.iter().flat_map(|d| [d.clone(), tangent_of(d)]).collect();
            found.extend(
                on_arguments(tangent, false, program, &module, (k, &both), runs)
                    .map_err(|e| e.to_string())?,
            );
        }
        if let Some(first) = found.into_iter().next() {
            return Err(first);
        }
    }
    match program.fault() {
        Some(at) => fails_alike(cases.function, program, at, runs),
        None => Ok(()),
    }
}

/// The iterations in which a planted fault is tried: in groups of lanes, in what is left over, and where none is.
const FAULTS: [usize; 8] = [0, 1, 2, 5, 8, 15, 16, 19];

/// What is wrong with a program's first run that doesn't fail as on the interpreter: for the same cause, at the same
/// statement, in the same iterations.
fn fails_alike(case: Case, program: &Program, at: usize, runs: &mut usize) -> Result<(), String> {
    let checked = |threads| {
        let cpu = Cpu::with_threads(threads).parallel_from(0);
        [cpu.clone(), cpu.lanes(false)]
    };
    for fault in FAULTS {
        let mut start = program.arguments::<f64>(0);
        start[at] = Data::scalar(fault);
        for run in [Run::Forward, Run::Inverse] {
            let on = |device: &dyn Device| {
                let mut values = start.clone();
                case(device, run, &mut values, &mut []).map(|()| values)
            };
            let expected = on(&Interpreter::new());
            for device in [1, 2, 3, 7].into_iter().flat_map(checked) {
                let found = on(&device);
                *runs += 1;
                let same = match (&found, &expected) {
                    (Ok(found), Ok(expected)) => alike(found, expected),
                    (Err(found), Err(expected)) => one_error(found, expected),
                    (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
                };
                if !same {
                    return Err(format!(
                        "seed {}, fault {fault}, {run:?} on {device:?}\nfound    {found:?}\nexpected {expected:?}\n{}",
                        program.seed,
                        program.rust()
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Whether two errors say the same of the same place, but for the texts of expressions, which are the source's or the
/// IR's; for which of several iterations comes last to an element that they share; and for infinities, which are NaN where
/// the statements are run that bring an ancilla back.
fn one_error(a: &Error, b: &Error) -> bool {
    let text = |e: &Error| e.cause().to_string().replace("-inf", "NaN").replace("inf", "NaN");
    let words = |e: &Error| text(e).split('`').step_by(2).collect::<String>();
    let met = text(a).contains("an element that another iteration uses");
    let place = |e: &Error| {
        e.site().map(|s| {
            let known = s.iterations.len().saturating_sub(usize::from(met));
            (s.function.clone(), s.span.line, s.iterations[..known].to_vec())
        })
    };
    words(a) == words(b) && place(a) == place(b)
}

/// The devices: one thread and several, with tasks for the smallest loop, atomic sums and private
/// copies, checks on and off.
fn devices() -> Vec<Cpu> {
    let several = || Cpu::with_threads(3).parallel_from(0);
    vec![
        Cpu::with_threads(1),
        Cpu::with_threads(1).checks(false),
        several(),
        several().checks(false),
        several().deterministic(true),
    ]
}

fn on_arguments(
    case: Case,
    has_tangents: bool,
    program: &Program,
    module: &Module,
    (k, before): (u64, &[Data]),
    runs: &mut usize,
) -> Result<Vec<String>, Error> {
    let reference = |direction, args: Vec<Data>| {
        let mut machine = Machine::new(module, &module.entry, direction, args)?;
        machine.run()?;
        Ok::<_, Error>(machine.arguments())
    };
    let mut dice = Dice::new(program.seed ^ k);
    let after = reference(Direction::FORWARD, before.to_vec())?;
    let seeds: Vec<Data> = after.iter().map(|d| cotangent(d, &mut dice)).collect();
    let both = after.iter().zip(&seeds).flat_map(|(v, s)| [v.clone(), s.clone()]).collect();
    let pulled = reference(Direction::ADJOINT, both)?;
    let (values, shadows): (Vec<_>, Vec<_>) =
        pulled.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
    let back = reference(Direction::INVERSE, after.clone())?;
    let mut expected = vec![
        (Run::Forward, before.to_vec(), after.clone(), &seeds, None),
        (Run::Inverse, after.clone(), back, &seeds, None),
        (Run::Adjoint, after.clone(), values, &seeds, Some(shadows)),
    ];
    let towards: Vec<Data> = before.iter().map(|d| cotangent(d, &mut dice)).collect();
    if has_tangents {
        let both = before.iter().zip(&towards).flat_map(|(v, s)| [v.clone(), s.clone()]).collect();
        let pushed = reference(Direction::TANGENTS, both)?.into_iter().skip(1).step_by(2).collect();
        expected.push((Run::Tangents, before.to_vec(), after, &towards, Some(pushed)));
    }
    let mut failures = Vec::new();
    for device in devices() {
        for (run, start, end, given, shadows) in &expected {
            let (mut found, mut found_shadows) = (start.clone(), given.to_vec());
            let outcome = case(&device, *run, &mut found, &mut found_shadows);
            *runs += 1;
            let same = outcome.is_ok()
                && alike(&found, end)
                && shadows.as_ref().is_none_or(|shadows| difference(&found_shadows, shadows) < TOLERANCE);
            if !same {
                failures.push(format!(
                    "seed {}, arguments {k}, {}, {run:?} on {device:?}: {outcome:?}\nfrom {start:?}\nfound    {found:?}\n\
                     expected {end:?}\nshadows  {found_shadows:?}\nexpected {shadows:?}\n{}",
                    program.seed,
                    module.entry,
                    program.rust()
                ));
            }
        }
    }
    Ok(failures)
}

/// Whether two lists of values are the same: integers and truth values exactly, real numbers up to
/// the tolerance.
fn alike(a: &[Data], b: &[Data]) -> bool {
    let rounded = |d: &Data| {
        d.map(&|leaf| if rev_testgen::reals::reals(leaf).is_empty() { leaf.clone() } else { Data::None })
    };
    let exact = |list: &[Data]| list.iter().map(rounded).collect::<Vec<_>>();
    difference(a, b) < TOLERANCE && exact(a) == exact(b)
}
