//! A GPU as a device of rev: the same entry points as the CPU.

use super::cache::{Cache, Compiled, Given, Key, Surveys};
use super::marshal::Packed;
use super::order::{Content, Indices};
use super::prepared::Prepared;
use super::room::Room;
use super::survey::{Known, Survey};
use super::transfer::{stage, stage_shape, unstage, Sample};
use crate::driver::Driver;
use crate::lower::{lower, ArgumentType, LowerOptions};
use crate::measure::Measured;
use crate::plan::{Accumulation, Program, Strategy};
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
    surveys: Surveys,
    /// The index arrays whose orders are known.
    pub(super) indices: Arc<Indices<D>>,
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
        let shared = Shared {
            driver: Arc::new(driver),
            generator,
            programs: Cache::default(),
            surveys: Surveys::default(),
            indices: Arc::default(),
        };
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

    /// How every sum is added up that iterations of a parallel loop share, instead of what its access
    /// pattern, its size and its index array suggest. A sum that can't be added up so is an error that
    /// says why; [`Gpu::sums_into`] says how for one variable.
    ///
    /// ```
    /// use rev_cuda::plan::Strategy;
    /// # use rev_core::ir::Direction;
    /// # use rev_core::device::DynamicDevice;
    /// let module = rev_core::text::parse_module(
    ///     "module count fn count(bins: &mut [u32], of: [usize]) {
    ///          par for i in 0..len(of) { bins[of[i]] += 1u32 }
    ///      }",
    /// )?;
    /// let (mut bins, mut of) = (vec![0u32; 3], vec![2usize, 0, 2, 2]);
    /// let gpu = rev_cuda::Emulator::new().sums(Strategy::Segmented);
    /// gpu.execute(&module, Direction::FORWARD, &mut [&mut bins, &mut of])?;
    /// assert_eq!(bins, [1, 0, 3]);
    ///
    /// let uniform = gpu.sums(Strategy::Uniform);
    /// let error = uniform.execute(&module, Direction::FORWARD, &mut [&mut bins, &mut of]).unwrap_err();
    /// assert!(error.to_string().contains("`bins` can't be added up by uniform: iterations add to"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sums(mut self, how: Strategy) -> Gpu<D> {
        self.kernels.force = Some(how);
        self
    }

    /// The same for the sums into variables of a name (`x`; in gradients and adjoints `x_bar`), before what
    /// [`Gpu::sums`] says.
    pub fn sums_into(mut self, name: &str, how: Strategy) -> Gpu<D> {
        self.kernels.force_places.push((name.into(), how));
        self
    }

    /// How a call of entry points would add up what iterations share, and why so: printed, a line for
    /// each sum of each kernel. Nothing is run on the device, so that what `call` sees of its results is
    /// what it passed in.
    ///
    /// # Errors
    ///
    /// A program that a GPU can't run, or what `call` returns.
    pub fn sums_of(
        &self,
        call: impl FnOnce(&dyn Device) -> Result<(), Error>,
    ) -> Result<Vec<Accumulation>, Error> {
        let programs = self.programs_of(call)?;
        Ok(programs.into_iter().flat_map(|p| p.accumulations).collect())
    }

    /// How many programs are compiled so far.
    pub fn compiled(&self) -> usize {
        self.shared.programs.len()
    }

    /// Forgets compiled programs and gives their memory back. Prepared programs keep theirs.
    pub fn forget(&self) {
        self.shared.programs.clear();
        self.shared.surveys.clear();
        self.shared.indices.clear();
    }

    /// The PTX text of the program that `direction` names of the module's entry function, for
    /// arguments like these (of an adjoint each followed by its shadow). Nothing is run or loaded.
    ///
    /// # Errors
    ///
    /// A program that a GPU can't run.
    pub fn ptx(&self, module: &Module, direction: Direction, args: &[&dyn DynArg]) -> Result<String, Error> {
        Ok(self.print(&self.program(module, direction, args, &[])?))
    }

    /// The plan for arguments like these.
    fn program(
        &self,
        module: &Module,
        direction: Direction,
        args: &[&dyn DynArg],
        zeros: &[usize],
    ) -> Result<Program, Error> {
        let samples: Vec<Sample> = args.iter().map(|a| Sample::of(*a)).collect();
        let mut key = self.key(module, direction, &samples)?;
        key.options.zeros = zeros.to_vec();
        let survey = self.shared.survey(module, &key)?;
        let known = survey.known(&key, args.iter().copied(), &samples)?;
        key.options.measured = self.shared.measured(&survey, &known);
        (self.shared.generator)(module, key.direction, &key.types, &key.options)
    }

    fn print(&self, program: &Program) -> String {
        ptx::print(program, self.shared.driver.target())
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
        Ok(self.programs_of(call)?.iter().map(|p| self.print(p)).collect())
    }

    /// The plans of what a call would run.
    fn programs_of(
        &self,
        call: impl FnOnce(&dyn Device) -> Result<(), Error>,
    ) -> Result<Vec<Program>, Error> {
        let planner = Planner { gpu: self, programs: Mutex::default() };
        call(&planner)?;
        Ok(planner.programs.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// How kernels are made for the options of the device's runs.
    fn lower_options(&self) -> LowerOptions {
        let Options { checks, tolerances, threads: _, deterministic, parallel_from: _, lanes: _, depth: _ } =
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
        self.prepare_on_zeros(module, direction, args, &[])
    }

    /// The same where the arguments at the positions `zeros` hold zeros whenever the program is run: an
    /// element that one iteration adds to is then written without being read.
    ///
    /// # Errors
    ///
    /// As [`Gpu::prepare`].
    pub fn prepare_on_zeros(
        &self,
        module: &Module,
        direction: Direction,
        args: &[&dyn DynArg],
        zeros: &[usize],
    ) -> Result<Prepared<D>, Error> {
        let samples: Vec<Sample> = args.iter().map(|a| Sample::of(*a)).collect();
        let mut key = self.key(module, direction, &samples)?;
        key.options.zeros = zeros.to_vec();
        let survey = self.shared.survey(module, &key)?;
        let known = survey.known(&key, args.iter().copied(), &samples)?;
        let compiled = self.shared.compile(module, key, &survey, &known)?;
        Ok(Prepared::new(self.shared.clone(), survey, compiled))
    }

    fn key(&self, module: &Module, direction: Direction, samples: &[Sample]) -> Result<Key, Error> {
        let types = types_of(module, direction, samples.iter().map(|s| s.data.clone()))?;
        Ok(Key { direction, types, options: self.lower_options() })
    }
}

impl<D: Driver> Shared<D> {
    /// What has to be known of the arguments to choose how sums are added up.
    fn survey(&self, module: &Module, key: &Key) -> Result<Arc<Survey>, Error> {
        self.surveys.get(module, key, || {
            let options = LowerOptions { measured: Measured::Asking, ..key.options.clone() };
            Ok(Survey::new((self.generator)(module, key.direction, &key.types, &options)?))
        })
    }

    /// What is known of them.
    pub(super) fn measured(&self, survey: &Survey, args: &[Known]) -> Measured {
        match survey.is_empty() {
            true => Measured::Nothing,
            false => Measured::Answers(survey.answers(args, &self.indices)),
        }
    }

    /// The program for arguments like these.
    pub(super) fn compile(
        &self,
        module: &Module,
        mut key: Key,
        survey: &Survey,
        args: &[Known],
    ) -> Result<Arc<Compiled<D>>, Error> {
        key.options.measured = self.measured(survey, args);
        self.programs.get(module, key, &self.indices, |key| {
            let program = (self.generator)(module, key.direction, &key.types, &key.options)?;
            let text = ptx::print(&program, self.driver.target());
            Ok((self.driver.clone(), program, text))
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

    fn is_gpu(&self) -> bool {
        true
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
        self.execute_on_zeros(module, direction, args, &[])
    }

    fn execute_on_zeros(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
        zeros: &[usize],
    ) -> Result<(), Error> {
        let samples: Vec<Sample> = args.iter().map(|a| Sample::of(*a)).collect();
        let mut key = self.key(module, direction, &samples)?;
        key.options.zeros = zeros.to_vec();
        let survey = self.shared.survey(module, &key)?;
        let known = survey.known(&key, args.iter().map(|a| &**a as &dyn DynArg), &samples)?;
        let compiled = self.shared.compile(module, key, &survey, &known)?;
        let contents: Vec<Option<Content>> = known.into_iter().map(|k| k.content).collect();
        run_on_host_values(&self.shared.driver, &compiled, &samples, args, zeros, &contents)
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

/// A device that makes the plans of what it is asked to run.
struct Planner<'a, D: Driver> {
    gpu: &'a Gpu<D>,
    programs: Mutex<Vec<Program>>,
}

impl<D: Driver> Device for Planner<'_, D> {
    fn name(&self) -> &str {
        self.gpu.name()
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }

    fn is_gpu(&self) -> bool {
        true
    }
}

impl<D: Driver> DynamicDevice for Planner<'_, D> {
    fn options(&self) -> &Options {
        &self.gpu.options
    }

    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        self.execute_on_zeros(module, direction, args, &[])
    }

    fn execute_on_zeros(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
        zeros: &[usize],
    ) -> Result<(), Error> {
        let args: Vec<&dyn DynArg> = args.iter().map(|a| &**a as &dyn DynArg).collect();
        let program = self.gpu.program(module, direction, &args, zeros)?;
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).push(program);
        Ok(())
    }
}

/// Runs a program on values of the host. They change when all has gone well. Zeros aren't copied, nor what no
/// kernel is given; and what no kernel stores to isn't copied back.
fn run_on_host_values<D: Driver>(
    driver: &Arc<D>,
    compiled: &Compiled<D>,
    samples: &[Sample],
    args: &mut [&mut dyn DynArg],
    zeros: &[usize],
    contents: &[Option<Content>],
) -> Result<(), Error> {
    let mut state = compiled.lock();
    let state = &mut *state;
    let types = &compiled.key.types;
    state.staged.resize_with(args.len(), Packed::default);
    for (k, (((arg, sample), ty), staged)) in
        args.iter().zip(samples).zip(types).zip(&mut state.staged).enumerate()
    {
        let room = compiled.key.options.stack_capacity;
        if zeros.contains(&k) {
            stage_shape(*arg, sample, ty, room, staged)?;
        } else {
            stage(*arg, sample, ty, room, staged)?;
        }
    }
    let names: Vec<String> = (0..args.len()).map(|k| compiled.name(k)).collect();
    let shapes: Vec<&[usize]> = state.staged.iter().map(|p| p.shape.as_slice()).collect();
    check_shapes(&compiled.key, &names, &shapes)?;
    state.rooms.resize_with(args.len(), || None);
    let mut given = Vec::with_capacity(args.len());
    for (k, (((staged, ty), room), name)) in
        state.staged.iter().zip(types).zip(&mut state.rooms).zip(&names).enumerate()
    {
        let used = state.loaded.argument_use(k);
        let mut address = 0;
        if used.touched {
            address = Room::ensure(room, driver, name, staged.bytes.len())?.address();
            if zeros.contains(&k) {
                driver.clear(address, staged.bytes.len())?;
            } else {
                driver.upload(address, &staged.bytes)?;
            }
        }
        given.push(Given { address, shape: staged.shape.clone(), integer: staged.integer(ty) });
    }
    let buffers = &state.loaded.program().buffers;
    let written = |k: usize| buffers.get(k).is_some_and(|b| b.written) && state.loaded.argument_use(k).stored;
    let changed: Vec<bool> = (0..args.len()).map(written).collect();
    let staged = state.staged.iter_mut().zip(&given).zip(&changed).filter(|(_, changed)| **changed);
    let results: Vec<_> =
        staged.map(|((packed, given), _)| (given.address, packed.bytes.as_mut_slice())).collect();
    state.loaded.run_knowing(given, contents, results)?;
    let results = (0..args.len()).filter(|k| changed[*k]);
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
