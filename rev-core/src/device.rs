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

    /// Whether it is a GPU, or stands for one: its kernels want many thousands of threads.
    fn is_gpu(&self) -> bool {
        false
    }
}

impl<D: Device + ?Sized> Device for &D {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn backend(&self) -> Backend<'_> {
        (**self).backend()
    }

    fn is_gpu(&self) -> bool {
        (**self).is_gpu()
    }
}

impl<D: Device + ?Sized> Device for Box<D> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn backend(&self) -> Backend<'_> {
        (**self).backend()
    }

    fn is_gpu(&self) -> bool {
        (**self).is_gpu()
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

    /// The same where the arguments at the positions `zeros` hold zeros, as the cotangents of what is only
    /// read do before a sweep: what is added to them needn't be read first.
    ///
    /// # Errors
    ///
    /// As [`DynamicDevice::execute`].
    fn execute_on_zeros(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
        zeros: &[usize],
    ) -> Result<(), Error> {
        let _ = zeros;
        self.execute(module, direction, args)
    }
}

/// What writes programs down as text for another processor, without running them: a GPU, or what only
/// knows what kind of GPU it is about.
pub trait Generator {
    /// The text of the program that `direction` names of the module's entry function, for arguments of
    /// the types of these: the parameters of that program in order, each argument of an adjoint followed
    /// by its shadow.
    ///
    /// # Errors
    ///
    /// A program that can't be written down.
    fn text(&self, module: &Module, direction: Direction, args: &[&dyn DynArg]) -> Result<String, Error>;
}

/// What `f::ptx` gives: the texts of a function's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The function.
    pub forward: String,
    /// Its inverse.
    pub inverse: String,
    /// Its adjoint, with one cotangent for each number.
    pub adjoint: String,
}

impl Texts {
    /// The texts of the function and its inverse.
    ///
    /// # Errors
    ///
    /// As [`Generator::text`].
    pub fn of_values(
        generator: &(impl Generator + ?Sized),
        module: &Module,
        args: &mut [&mut dyn DynArg],
    ) -> Result<[String; 2], Error> {
        let args: Vec<&dyn DynArg> = args.iter().map(|a| &**a as &dyn DynArg).collect();
        let text = |direction| generator.text(module, direction, &args);
        Ok([text(Direction::FORWARD)?, text(Direction::INVERSE)?])
    }

    /// The text of the adjoint, for arguments with their shadows.
    ///
    /// # Errors
    ///
    /// As [`Generator::text`].
    pub fn of_adjoint(
        generator: &(impl Generator + ?Sized),
        module: &Module,
        args: &mut [&mut dyn DynArg],
    ) -> Result<String, Error> {
        let args: Vec<&dyn DynArg> = args.iter().map(|a| &**a as &dyn DynArg).collect();
        generator.text(module, Direction::ADJOINT, &args)
    }
}
