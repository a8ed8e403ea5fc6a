//! A GPU as a device of rev: the same entry points as the CPU.

use super::cache::{Cache, Compiled, Given, Key};
use super::marshal::Packed;
use super::prepared::Prepared;
use super::room::Room;
use super::transfer::{stage, unstage, Sample};
use crate::driver::Driver;
use crate::lower::{lower, ArgumentType, LowerOptions};
use crate::plan::Program;
use crate::ptx;
use rev_core::device::{Backend, Device, DynamicDevice};
use rev_core::error::{Cause, Error};
use rev_core::ir::{Direction, Module};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Makes a plan of a program for arguments of some types.
pub type Generator = fn(&Module, Direction, &[ArgumentType], &LowerOptions) -> Result<Program, Error>;

/// A GPU. A handle: its clones share the driver, the compiled programs and their memory.
///
/// Each call of an entry point copies its arguments to the device, runs, and copies back what the
/// program may write; [`Gpu::prepare`] keeps arrays on the device. Programs are compiled once for each
/// function, direction, argument types and options; they keep their memory, so that a second call
/// with arguments of the same sizes allocates nothing. On an error the arguments on the host are as
/// they were.
pub struct Gpu<D: Driver> {
    shared: Arc<Shared<D>>,
    options: Options,
    kernels: LowerOptions,
}

/// What the clones of a handle share.
pub struct Shared<D: Driver> {
    pub(super) driver: Arc<D>,
    generator: Generator,
    programs: Cache<D>,
}

impl<D: Driver> Clone for Gpu<D> {
    fn clone(&self) -> Self {
        let (shared, options) = (self.shared.clone(), self.options.clone());
        Gpu { shared, options, kernels: self.kernels.clone() }
    }
}

impl<D: Driver> Gpu<D> {
    /// A device over a driver. Reversibility and bounds aren't checked unless [`Gpu::checks`] asks
    /// for it.
    pub fn over(driver: D) -> Gpu<D> {
        Gpu::with_generator(driver, lower)
    }

    /// The same with another generator of plans.
    pub fn with_generator(driver: D, generator: Generator) -> Gpu<D> {
        let shared = Shared { driver: Arc::new(driver), generator, programs: Cache::default() };
        let options = Options { checks: false, ..Options::default() };
        Gpu { shared: Arc::new(shared), options, kernels: LowerOptions::default() }
    }

    /// The driver.
    pub fn driver(&self) -> &D {
        &self.shared.driver
    }

    /// The same device with other options.
    pub fn with_options(mut self, options: Options) -> Gpu<D> {
        self.options = options;
        self
    }

    /// How kernels are made: the size of blocks, the room of stacks, how shared sums are added up.
    /// Checks, tolerances and the order of sums are those of the device's options all the same.
    pub fn kernels(mut self, kernels: LowerOptions) -> Gpu<D> {
        self.kernels = kernels;
        self
    }

    /// Whether kernels check reversibility and bounds.
    pub fn checks(mut self, on: bool) -> Gpu<D> {
        self.options.checks = on;
        self
    }

    /// Whether shared sums have one order ([`rev_core::tree`]), so that a result has the same bits on
    /// every device.
    pub fn deterministic(mut self, on: bool) -> Gpu<D> {
        self.options.deterministic = on;
        self
    }

    /// How many programs are compiled so far.
    pub fn compiled(&self) -> usize {
        self.shared.programs.len()
    }

    /// Forgets compiled programs and gives their memory back. Prepared programs keep theirs.
    pub fn forget(&self) {
        self.shared.programs.clear();
    }

    /// The PTX text of the program that `direction` names of the module's entry function, for
    /// arguments like these (of an adjoint each followed by its shadow). Nothing is run or loaded.
    ///
    /// # Errors
    ///
    /// A program that a GPU can't run.
    pub fn ptx(&self, module: &Module, direction: Direction, args: &[&dyn DynArg]) -> Result<String, Error> {
        let types = types_of(module, direction, args.iter().map(|a| Sample::of(*a).data))?;
        self.text(module, direction, &types)
    }

    fn text(&self, module: &Module, direction: Direction, types: &[ArgumentType]) -> Result<String, Error> {
        let program = (self.shared.generator)(module, direction, types, &self.lower_options())?;
        Ok(ptx::print(&program, self.shared.driver.target()))
    }

    /// The PTX texts of the programs that a call of entry points would run, in order. Nothing is run
    /// on the device, so that what `call` sees of its results is what it passed in.
    ///
    /// ```
    /// use rev_core::ir::Direction;
    /// use rev_core::device::Backend;
    ///
    /// let gpu = rev_cuda::Emulator::new();
    /// let module = rev_core::text::parse_module("module double fn double(x: &mut f64) { neg(x) }")?;
    /// let texts = gpu.ptx_of(|device| match device.backend() {
    ///     Backend::Dynamic(device) => device.execute(&module, Direction::FORWARD, &mut [&mut 1.5]),
    ///     Backend::Native(_) => Ok(()),
    /// })?;
    /// assert!(texts[0].contains("neg.f64"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A program that a GPU can't run, or what `call` returns.
    pub fn ptx_of(&self, call: impl FnOnce(&dyn Device) -> Result<(), Error>) -> Result<Vec<String>, Error> {
        let printer = Printer { gpu: self, texts: Mutex::default() };
        call(&printer)?;
        Ok(printer.texts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// How kernels are made for the options of the device's runs.
    fn lower_options(&self) -> LowerOptions {
        let Options { checks, tolerances, threads: _, deterministic, parallel_from: _, lanes: _ } =
            self.options;
        LowerOptions { checks, deterministic, tolerances, ..self.kernels.clone() }
    }

    /// A program whose arguments stay on the device between runs, for arguments of the types of
    /// these. See [`Prepared`].
    ///
    /// # Errors
    ///
    /// A program that a GPU can't run.
    pub fn prepare(
        &self,
        module: &Module,
        direction: Direction,
        args: &[&dyn DynArg],
    ) -> Result<Prepared<D>, Error> {
        let types = types_of(module, direction, args.iter().map(|a| Sample::of(*a).data))?;
        let compiled = self.compile(module, direction, types)?;
        Ok(Prepared::new(self.shared.clone(), compiled))
    }

    fn compile(
        &self,
        module: &Module,
        direction: Direction,
        types: Vec<ArgumentType>,
    ) -> Result<Arc<Compiled<D>>, Error> {
        let key = Key { direction, types, options: self.lower_options() };
        self.shared.programs.get(module, key, |key| {
            let program = (self.shared.generator)(module, key.direction, &key.types, &key.options)?;
            let text = ptx::print(&program, self.shared.driver.target());
            Ok((self.shared.driver.clone(), program, text))
        })
    }
}

impl<D: Driver> Device for Gpu<D> {
    fn name(&self) -> &str {
        self.shared.driver.name()
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl<D: Driver> DynamicDevice for Gpu<D> {
    fn options(&self) -> &Options {
        &self.options
    }

    /// On an error the arguments are as they were.
    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let samples: Vec<Sample> = args.iter().map(|a| Sample::of(*a)).collect();
        let types = types_of(module, direction, samples.iter().map(|s| s.data.clone()))?;
        let compiled = self.compile(module, direction, types)?;
        run_on_host_values(&self.shared.driver, &compiled, &samples, args)
    }
}

/// The types of arguments, from values that show them.
fn types_of(
    module: &Module,
    direction: Direction,
    samples: impl Iterator<Item = Data>,
) -> Result<Vec<ArgumentType>, Error> {
    ArgumentType::of_arguments(module, direction, &samples.collect::<Vec<Data>>())
}

/// A device that prints what it is asked to run.
struct Printer<'a, D: Driver> {
    gpu: &'a Gpu<D>,
    texts: Mutex<Vec<String>>,
}

impl<D: Driver> Device for Printer<'_, D> {
    fn name(&self) -> &str {
        self.gpu.name()
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl<D: Driver> DynamicDevice for Printer<'_, D> {
    fn options(&self) -> &Options {
        &self.gpu.options
    }

    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let types = types_of(module, direction, args.iter().map(|a| Sample::of(*a).data))?;
        let text = self.gpu.text(module, direction, &types)?;
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        Ok(())
    }
}

/// Runs a program on values of the host. They change when all has gone well.
fn run_on_host_values<D: Driver>(
    driver: &Arc<D>,
    compiled: &Compiled<D>,
    samples: &[Sample],
    args: &mut [&mut dyn DynArg],
) -> Result<(), Error> {
    let mut state = compiled.lock();
    let state = &mut *state;
    let types = &compiled.key.types;
    state.staged.resize_with(args.len(), Packed::default);
    for (((arg, sample), ty), staged) in args.iter().zip(samples).zip(types).zip(&mut state.staged) {
        stage(*arg, sample, ty, compiled.key.options.stack_capacity, staged)?;
    }
    let names: Vec<String> = (0..args.len()).map(|k| compiled.name(k)).collect();
    let shapes: Vec<&[usize]> = state.staged.iter().map(|p| p.shape.as_slice()).collect();
    check_shapes(&compiled.key, &names, &shapes)?;
    state.rooms.resize_with(args.len(), || None);
    let mut given = Vec::with_capacity(args.len());
    for (((staged, ty), room), name) in state.staged.iter().zip(types).zip(&mut state.rooms).zip(&names) {
        let address = Room::ensure(room, driver, name, staged.bytes.len())?.address();
        driver.upload(address, &staged.bytes)?;
        given.push(Given { address, shape: staged.shape.clone(), integer: staged.integer(ty) });
    }
    let written: Vec<bool> = state.loaded.program().buffers.iter().map(|b| b.written).collect();
    let addresses: Vec<u64> = given.iter().map(|g| g.address).collect();
    state.loaded.run(given)?;
    let results = || (0..args.len()).filter(|k| written.get(*k) == Some(&true));
    for k in results() {
        driver.download(addresses[k], &mut state.staged[k].bytes)?;
    }
    let results: Vec<usize> = results().collect();
    results.into_iter().try_for_each(|k| unstage(&state.staged[k], &types[k], args[k]))
}

/// Whether every shadow has the shape of what it is the shadow of.
pub(super) fn check_shapes(key: &Key, names: &[String], shapes: &[&[usize]]) -> Result<(), Error> {
    if key.direction.adjoint == 0 {
        return Ok(());
    }
    for ((types, names), shapes) in key.types.chunks(2).zip(names.chunks(2)).zip(shapes.chunks(2)) {
        let ([of, shadow], [_, name], [expected, found]) = (types, names, shapes) else { continue };
        // the shadow of a stack may have other room than the stack
        let shaped = !matches!(of, ArgumentType::Stack(_)) && of.rank() == shadow.rank();
        if shaped && expected != found {
            return Err(Cause::Shape {
                place: name.clone().into(),
                expected: format!("{expected:?}"),
                found: format!("{found:?}"),
            }
            .into());
        }
    }
    Ok(())
}

impl<D: Driver> std::fmt::Debug for Gpu<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gpu").field("name", &self.name()).field("options", &self.options).finish()
    }
}

impl<D: Driver> Compiled<D> {
    /// The program's state, for one run at a time.
    pub(super) fn lock(&self) -> MutexGuard<'_, super::cache::State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
