//! Devices: what runs a program. A function's entry points take any [`Device`], so that the
//! interpreter, the CPU and a GPU are one call.
//!
//! There are two kinds. A *native* device runs the Rust that the macro emitted; the entry point
//! needs only its options. A *dynamic* device is given the program as IR and the arguments as
//! dynamic values.

use crate::error::Error;
use crate::ir::{Direction, Module};
use crate::tolerance::Options;
use crate::value::DynArg;

/// What runs a program.
pub trait Device: Send + Sync {
    /// A name for tables and messages: `cpu`, `interpreter`, ….
    fn name(&self) -> &str;

    /// How an entry point runs a program on this device.
    fn backend(&self) -> Backend<'_>;
}

impl<D: Device + ?Sized> Device for &D {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn backend(&self) -> Backend<'_> {
        (**self).backend()
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn backend(&self) -> Backend<'_> {
        (**self).backend()
    }
}

/// The two ways to run a program.
pub enum Backend<'a> {
    /// By the Rust code that the macro emitted.
    Native(&'a Options),
    /// From the IR.
    Dynamic(&'a dyn DynamicDevice),
}

impl<'a> Backend<'a> {
    /// The options of the device's runs.
    pub fn options(&self) -> &'a Options {
        match self {
            Backend::Native(options) => options,
            Backend::Dynamic(device) => device.options(),
        }
    }
}

/// A device that runs programs from their IR.
pub trait DynamicDevice: Send + Sync {
    /// The options of its runs.
    fn options(&self) -> &Options;

    /// Runs the program that `direction` names of the module's entry function on the arguments, in
    /// place: the parameters of that program in order, each argument of an adjoint followed by its
    /// shadow.
    ///
    /// # Errors
    ///
    /// A check that failed, or a device that can't run the program. The arguments then hold what
    /// [`crate::error`] says.
    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error>;
}
