//! Uncomputing levels: the logarithm, to base 2, of how many operations the reversible program runs
//! for one of the program that is left when nothing is uncomputed that nobody reads.
//!
//! Both are counted by the interpreter, on the arguments of the lists that every device runs. Without checks the second program is
//! what is run: level 0.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rev::device::{Backend, Device, DynamicDevice};
use rev::interp::{Interpreter, Machine, Progress};
use rev::ir::{Direction, Module};
use rev::tolerance::Options;
use rev::value::{Data, DynArg};
use rev::Error;

use rev_examples::support::Failure;

/// A program's operations, reversible and erased.
pub struct Level {
    /// The program.
    pub name: String,
    /// The operations of the reversible program.
    pub reversible: u64,
    /// Those of the program that is left.
    pub erased: u64,
}

impl Level {
    /// The level.
    pub fn value(&self) -> f64 {
        (self.reversible as f64 / self.erased as f64).log2()
    }
}

/// The levels of all programs.
pub fn levels() -> Result<Vec<Level>, Failure> {
    let counter = Counter { interpreter: Interpreter::new(), found: Mutex::default() };
    for sample in rev_samples::all() {
        (sample.run)(&counter)?;
    }
    let found = counter.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(found.into_iter().map(|(name, [reversible, erased])| Level { name, reversible, erased }).collect())
}

/// Runs programs on the interpreter, and counts the operations of each where it first runs forward, or its adjoint alone, which needs no
/// forward run where nothing that is written is read.
struct Counter {
    interpreter: Interpreter,
    found: Mutex<BTreeMap<String, [u64; 2]>>,
}

impl Device for Counter {
    fn name(&self) -> &str {
        "counter"
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl DynamicDevice for Counter {
    fn options(&self) -> &Options {
        DynamicDevice::options(&self.interpreter)
    }

    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        // in an adjoint each argument is followed by its shadow
        let shadows = [Direction::FORWARD, Direction::ADJOINT].iter().position(|d| *d == direction);
        if let (Some(shadows), false) = (shadows, found.contains_key(&module.entry)) {
            let args: Vec<Data> = args.iter().step_by(shadows + 1).map(|a| a.load()).collect();
            let counts = [operations(module, &args)?, operations(&module.erased()?, &args)?];
            found.insert(module.entry.clone(), counts);
        }
        drop(found);
        self.interpreter.execute(module, direction, args)
    }
}

fn operations(module: &Module, args: &[Data]) -> Result<u64, Error> {
    let mut machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec())?.forgetting();
    let mut count = 0;
    while machine.step()? == Progress::Stepped {
        count += 1;
    }
    Ok(count)
}
