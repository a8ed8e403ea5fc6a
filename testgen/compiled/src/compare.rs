//! Emitted programs against the interpreter, on the same arguments: forward, inverse, adjoint.

use rev_core::device::Device;
use rev_core::error::{Error, Iteration};
use rev_core::interp::{Interpreter, Machine};
use rev_core::ir::{Direction, Mode, Module};
use rev_core::value::Data;
use rev_cpu::prelude::{Cpu, DerivativeMatrix};
use rev_testgen::reals::{cotangent, difference, reals, replace};
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

/// The Jacobian of an emitted program on arguments, by columns or by rows.
pub type Jacobian = fn(&dyn Device, bool, &[Data]) -> Result<DerivativeMatrix, Error>;

/// What is run of a function that is compiled.
pub struct Runners {
    /// The function.
    pub function: Case,
    /// Its tangent.
    pub tangent: Option<Case>,
    /// Its Jacobian.
    pub jacobian: Option<Jacobian>,
}

/// A program of which the functions are compiled.
pub struct Cases {
    /// Its seed.
    pub seed: u64,
    /// The function that it is about.
    pub function: Runners,
    /// A call of its adjoint on numbers.
    pub adjoint: Option<Runners>,
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
    derivatives(cases, program, runs).map_err(|e| e.to_string())?;
    match program.fault() {
        Some(at) => fails_alike(cases.function.function, program, at, runs),
        None => Ok(()),
    }
}

/// The same of a function and of a call of its adjoint, each with its derivatives.
fn derivatives(cases: &Cases, program: &Program, runs: &mut usize) -> Result<(), Box<dyn std::error::Error>> {
    let module = program.checked_module()?;
    for k in 0..ARGUMENTS {
        let before = program.arguments::<f64>(k);
        let mut dice = Dice::new(program.seed + k);
        let given = (k, &*before);
        let mut found = of_function(&cases.function, program, &module, given, &mut dice, runs)?;
        if let Some(adjoint) = &cases.adjoint {
            // from the state after the function
            let after = reference(&module, Direction::FORWARD, before.clone())?;
            let both = beside(&after, &mut dice);
            let (caller, module) = (program.calling_adjoint()?, module.pullback()?);
            let of_adjoint = of_function(adjoint, &caller, &module, (k, &both), &mut dice, runs)?;
            found.extend(of_adjoint.into_iter().map(|text| text + &program.rust()));
        }
        if let Some(first) = found.into_iter().next() {
            return Err(first.into());
        }
    }
    Ok(())
}

/// What differs of a function, its tangent and its Jacobian.
fn of_function(
    runners: &Runners,
    program: &Program,
    module: &Module,
    (k, before): (u64, &[Data]),
    dice: &mut Dice,
    runs: &mut usize,
) -> Result<Vec<String>, Error> {
    let has_tangents = runners.tangent.is_some();
    let mut found = on_arguments(runners.function, has_tangents, program, module, (k, before), runs)?;
    if let Some(tangent) = runners.tangent {
        let tangent_module = module.tangent()?;
        let both = beside(before, dice);
        found.extend(on_arguments(tangent, false, program, &tangent_module, (k, &both), runs)?);
    }
    if let Some(jacobian) = runners.jacobian {
        found.extend(jacobians(jacobian, program, module, before, runs)?);
    }
    Ok(found)
}

/// Values, each followed by random numbers of its type and shape.
fn beside(values: &[Data], dice: &mut Dice) -> Vec<Data> {
    let mut random = |d: &Data| replace(d, &mut |_| dice.real(-1.0, 1.0));
    values.iter().flat_map(|d| [d.clone(), random(d)]).collect()
}

/// What the interpreter makes of arguments.
fn reference(module: &Module, direction: Direction, args: Vec<Data>) -> Result<Vec<Data>, Error> {
    let mut machine = Machine::new(module, &module.entry, direction, args)?;
    machine.run()?;
    Ok(machine.arguments())
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
                (case(device, run, &mut values, &mut []), values)
            };
            let expected = on(&Interpreter::new());
            for device in [1, 2, 3, 7].into_iter().flat_map(checked) {
                let found = on(&device);
                *runs += 1;
                let same = match (&found, &expected) {
                    ((Ok(()), found), (Ok(()), expected)) => alike(found, expected),
                    ((Err(found), values), (Err(expected), known)) => {
                        one_error(program, found, expected) && in_one_state(program, values, known)
                    }
                    ((Ok(()), _), (Err(_), _)) | ((Err(_), _), (Ok(()), _)) => false,
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

/// Whether after an error the arguments hold what they held at the failing statement, those aside that a parallel loop
/// around the fault writes: which of its iterations have run isn't said.
fn in_one_state(program: &Program, found: &[Data], expected: &[Data]) -> bool {
    let unsaid = program.written_around_fault();
    let said = |list: &[Data]| -> Vec<Data> {
        let each = list.iter().enumerate().filter(|(k, _)| !unsaid.contains(k));
        each.map(|(_, data)| replace(data, &mut |x| if x.is_finite() { x } else { f64::MAX })).collect()
    };
    alike(&said(found), &said(expected))
}

/// Whether a variable of a random program is a parallel loop's.
fn is_parallel(name: &str) -> bool {
    name.starts_with('p')
}

/// Whether two errors say the same of the same place, but for the texts of expressions, which are the source's or the
/// IR's; for which of several iterations comes last to an element that they share; for which iteration of a parallel loop fails
/// first, where all do; and for infinities, which are NaN where the statements are run that bring an ancilla back.
fn one_error(program: &Program, a: &Error, b: &Error) -> bool {
    let text = |e: &Error| e.cause().to_string().replace("-inf", "NaN").replace("inf", "NaN");
    let words = |e: &Error| text(e).split('`').step_by(2).collect::<String>();
    let met = text(a).contains("an element that another iteration uses");
    let place = |e: &Error| -> Vec<_> {
        let sites = e.trace().iter().map(|s| {
            let known = s.iterations.len().saturating_sub(usize::from(met));
            let told =
                |i: &&Iteration| !is_parallel(&i.variable) || program.fault_variable() == Some(&*i.variable);
            let iterations: Vec<_> = s.iterations[..known].iter().filter(told).cloned().collect();
            (s.function.clone(), s.span.line, iterations)
        });
        sites.collect()
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
    let reference = |direction, args| reference(module, direction, args);
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

/// The Jacobians that aren't what the interpreter's tangents are, column by column.
fn jacobians(
    jacobian: Jacobian,
    program: &Program,
    module: &Module,
    before: &[Data],
    runs: &mut usize,
) -> Result<Vec<String>, Error> {
    let f = program.entry();
    let is_active = |k: usize| {
        let var = f.params[k];
        !f.constants.contains(&var) && !f.var(var).ty.is_inactive(&f.generics)
    };
    let params = &program.signature().params;
    let is_row = |k: &usize| is_active(*k) && params[*k].mode == Mode::Write;
    let still: Vec<Data> = before.iter().map(Data::zero_shadow).collect();
    // by argument and number in it, what its unit direction adds to each written argument
    let mut columns = Vec::new();
    for by in (0..params.len()).filter(|k| is_active(*k)) {
        for number in 0..reals(&still[by]).len() {
            let (mut towards, mut at) = (still.clone(), 0..);
            towards[by] = replace(&still[by], &mut |_| if at.next() == Some(number) { 1.0 } else { 0.0 });
            let both = before.iter().zip(towards).flat_map(|(v, s)| [v.clone(), s]).collect();
            let pushed = reference(module, Direction::TANGENTS, both)?;
            columns.push((by, number, pushed));
        }
    }
    let mut failures = Vec::new();
    for device in devices() {
        for by_rows in [false, true] {
            let found = jacobian(&device, by_rows, before)?;
            *runs += 1;
            let mut counted = 0;
            for (by, number, pushed) in &columns {
                for of in (0..params.len()).filter(is_row) {
                    let expected = reals(&pushed[2 * of + 1]);
                    let block = found.block(&params[of].name, &params[*by].name);
                    let column = block.and_then(|b| b.columns().into_iter().nth(*number).map(|c| c.to_vec()));
                    counted += expected.len();
                    let same = column.as_ref().is_some_and(|found| near(found, &expected));
                    if !same {
                        failures.push(format!(
                            "seed {}, by rows: {by_rows}, on {device:?}: d{}/d{}[{number}]\nfound    {column:?}\n\
                             expected {expected:?}\nfrom {before:?}\n{}",
                            program.seed,
                            params[of].name,
                            params[*by].name,
                            program.rust()
                        ));
                    }
                }
            }
            if counted != found.matrix().len() {
                failures.push(format!(
                    "seed {}: a Jacobian of {} numbers, not {counted}\n{}",
                    program.seed,
                    found.matrix().len(),
                    program.rust()
                ));
            }
        }
    }
    Ok(failures)
}

/// Whether two lists of numbers are the same up to the tolerance.
fn near(a: &[f64], b: &[f64]) -> bool {
    let far = |(a, b): (&f64, &f64)| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()).max(1.0);
    a.len() == b.len() && a.iter().zip(b).all(far)
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
