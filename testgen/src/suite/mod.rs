//! Runs of a suite: many seeds on several threads, past those that fail, each of which is made smaller.
//!
//! The environment says what is run, the same for every suite:
//!
//! - `REV_PROGRAMS`: how many seeds.
//! - `REV_SEED`: the first one; `next`: the one after those that the [ledger] has.
//! - `REV_THREADS`: on how many threads; as many as the machine has without it.
//! - `REV_SHRINK`: how many smaller programs are tried for each that fails; 0 to see it as it is.
//! - `REV_RECORD=1`: a line in the ledger about the run.

pub mod interpreter;
pub mod ledger;
pub mod slopes;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use crate::{shrink, Program};

/// How many failures are made smaller; more of them are only counted.
const SHRUNK: usize = 2;

/// How many smaller programs are tried for each that fails.
const TRIES: u64 = 1000;

/// A property that every program has to have, and that one hasn't.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The property, in a few words that don't depend on the program.
    pub property: &'static str,
    /// In which way, where there are several: a rule's code, the kind of an error.
    pub kind: String,
    /// What was found.
    pub message: String,
}

impl Failure {
    /// A failure.
    pub fn new(property: &'static str, message: impl Into<String>) -> Failure {
        Failure { property, kind: String::new(), message: message.into() }
    }

    /// The same of a kind.
    pub fn of_kind(self, kind: impl std::fmt::Debug) -> Failure {
        // the first word: what follows depends on the program
        let kind = format!("{kind:?}").chars().take_while(|c| c.is_alphanumeric()).collect();
        Failure { kind, ..self }
    }
}

/// How often something occurred in a run, by what it is.
pub type Tally = BTreeMap<&'static str, u64>;

/// What is asked of each program; it counts what it did.
pub type Check<'a> = &'a (dyn Fn(&Program, &mut Tally) -> Result<(), Failure> + Sync);

/// A suite of a name, with the command that runs it.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// Its name in the ledger.
    pub name: &'static str,
    /// The command, without the environment.
    pub command: &'static str,
    /// How many programs are run where the environment doesn't say.
    pub programs: u64,
}

impl Suite {
    /// The seeds that the environment asks for.
    ///
    /// # Errors
    ///
    /// A variable that isn't a number, or a ledger that can't be read.
    pub fn seeds(&self) -> Result<std::ops::Range<u64>, String> {
        let first = match std::env::var("REV_SEED") {
            Ok(text) if text == "next" => ledger::next(self.name)?,
            _ => setting("REV_SEED", 0)?,
        };
        Ok(first..first + setting("REV_PROGRAMS", self.programs)?)
    }

    /// Checks the programs that `generate` makes of the seeds that the environment asks for.
    ///
    /// # Errors
    ///
    /// The failures, made smaller, each with the command that shows it again.
    pub fn run(&self, generate: fn(u64) -> Program, check: Check<'_>) -> Result<Tally, String> {
        let seeds = self.seeds()?;
        let (tally, failures) = all(seeds.clone(), generate, check)?;
        println!("{}: seeds {seeds:?}, {} failed, {tally:?}", self.name, failures.len());
        ledger::record(self.name, seeds, failures.len())?;
        match failures.is_empty() {
            true => Ok(tally),
            false => Err(self.report(&failures, generate, check)),
        }
    }

    fn report(&self, failures: &[(u64, Failure)], generate: fn(u64) -> Program, check: Check<'_>) -> String {
        let mut out = format!("{} programs of the suite `{}` fail:\n", failures.len(), self.name);
        let mut seen = BTreeMap::<&str, usize>::new();
        for (seed, failure) in failures {
            let count = seen.entry(failure.property).or_default();
            *count += 1;
            let _ = writeln!(out, "\nseed {seed}: {}", failure.property);
            let _ = writeln!(out, "    REV_SEED={seed} REV_PROGRAMS=1 {}", self.command);
            if *count > SHRUNK {
                continue;
            }
            let tries = setting("REV_SHRINK", TRIES).unwrap_or(TRIES);
            let (program, failure) = smaller(&generate(*seed), failure, check, tries);
            let _ = writeln!(out, "{}\n{}", program.text(), failure.message);
        }
        out
    }
}

/// The suite of programs that the macro compiles (`testgen/compiled`), when it is built and when it is run.
pub const COMPILED: Suite =
    Suite { name: "compiled", command: "cargo test -p rev-testgen-compiled", programs: 40 };

/// The suite of programs of source forms, in the same place.
pub const FORMS: Suite =
    Suite { name: "forms", command: "cargo test -p rev-testgen-compiled --test forms", programs: 8 };

/// A number from the environment.
///
/// # Errors
///
/// A text that isn't one.
pub fn setting(name: &str, default: u64) -> Result<u64, String> {
    match std::env::var(name) {
        Ok(text) => text.parse().map_err(|e| format!("{name}={text}: {e}")),
        Err(_) => Ok(default),
    }
}

/// What is wrong with a program, a panic on the way included.
fn examine(program: &Program, check: Check<'_>, tally: &mut Tally) -> Result<(), Failure> {
    let caught = catch_unwind(AssertUnwindSafe(|| check(program, tally)));
    caught.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()));
        Err(Failure::new("nothing panics", text.unwrap_or_default()))
    })
}

type Found = (Tally, Vec<(u64, Failure)>);

fn all(seeds: std::ops::Range<u64>, generate: fn(u64) -> Program, check: Check<'_>) -> Result<Found, String> {
    let available = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let threads = setting("REV_THREADS", available)?.max(1);
    let next = AtomicU64::new(seeds.start);
    let found = Mutex::new((Tally::new(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (mut tally, mut failures) = (Tally::new(), Vec::new());
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    let outcome = catch_unwind(|| generate(seed))
                        .map_err(|_| Failure::new("every seed gives a program", ""))
                        .and_then(|program| examine(&program, check, &mut tally));
                    *tally.entry("programs").or_default() += 1;
                    if let Err(failure) = outcome {
                        eprintln!("seed {seed}: {}", failure.property);
                        failures.push((seed, failure));
                    }
                }
                if let Ok(mut all) = found.lock() {
                    tally.into_iter().for_each(|(what, n)| *all.0.entry(what).or_default() += n);
                    all.1.extend(failures);
                }
            });
        }
    });
    let (tally, mut failures) = found.into_inner().map_err(|e| e.to_string())?;
    failures.sort_by_key(|(seed, _)| *seed);
    Ok((tally, failures))
}

/// A smaller program that fails in the same way, and what is wrong with it.
pub(crate) fn smaller(
    program: &Program,
    failure: &Failure,
    check: Check<'_>,
    tries: u64,
) -> (Program, Failure) {
    let fails = |p: &Program| {
        let found = examine(p, check, &mut Tally::new()).err();
        found.filter(|found| (found.property, &found.kind) == (failure.property, &failure.kind))
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let small = shrink(program, tries, &|p| fails(p).is_some());
    std::panic::set_hook(hook);
    let failure = fails(&small).unwrap_or_else(|| failure.clone());
    (small, failure)
}
