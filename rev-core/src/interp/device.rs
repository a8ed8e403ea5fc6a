//! The interpreter as a device.

use super::Machine;
use crate::device::{Backend, Device, DynamicDevice};
use crate::error::Error;
use crate::ir::{Direction, Module};
use crate::tolerance::Options;
use crate::value::DynArg;

/// The reference interpreter as a device: slow, with every check, and the meaning of the language.
#[derive(Clone, Debug, Default)]
pub struct Interpreter {
    /// The options of its runs.
    pub options: Options,
}

impl Interpreter {
    /// An interpreter with default options.
    pub fn new() -> Interpreter {
        Interpreter::default()
    }

    /// An interpreter with other options.
    pub fn with_options(options: Options) -> Interpreter {
        Interpreter { options }
    }
}

impl Device for Interpreter {
    fn name(&self) -> &str {
        "interpreter"
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl DynamicDevice for Interpreter {
    fn options(&self) -> &Options {
        &self.options
    }

    /// The arguments are written back also where the run fails: they hold the state that the failing
    /// statement found.
    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let data = args.iter().map(|a| a.load()).collect();
        let mut machine = Machine::new(module, &module.entry, direction, data)?
            .with_options(self.options.clone())
            .forgetting();
        let result = machine.run();
        for (arg, data) in args.iter_mut().zip(machine.arguments()) {
            arg.store(&data)?;
        }
        result
    }
}
