//! Runs a plan: what the host does between the kernels.

use super::marshal::{count, extend, read};
use super::order::{Content, Indices, Visits};
use super::report;
use super::room::Room;
use crate::driver::{Driver, ModuleHandle, Plane, Product};
use crate::kernel::{Ty, ERROR_RECORD_BYTES};
use crate::layout::{buffer_bytes, plane_offset, STACK_HEADER};
use crate::plan::{BufferId, KernelArg, Matrix, MatrixProduct, Order, Program, Step, Word};
use crate::uses::{uses, Use};
use rev_core::error::{Cause, Error};
use std::sync::Arc;

/// An argument in device memory.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Where it starts.
    pub address: u64,
    /// The length along each axis.
    pub shape: Vec<usize>,
    /// Its value, where it is an integer without axes.
    pub integer: Option<i64>,
}

/// A program that is loaded, with the memory of its own buffers, which it keeps from run to run.
pub struct Loaded<D: Driver> {
    driver: Arc<D>,
    program: Program,
    uses: Vec<Use>,
    module: ModuleHandle,
    /// The rooms of the buffers that aren't arguments.
    scratch: Vec<Option<Room<D>>>,
    record: Option<Room<D>>,
    indices: Arc<Indices<D>>,
}

impl<D: Driver> Loaded<D> {
    /// A program, with its kernels loaded from their text.
    ///
    /// # Errors
    ///
    /// What the driver said about the text.
    pub fn new(driver: Arc<D>, program: Program, text: &str) -> Result<Loaded<D>, Error> {
        Loaded::sharing(driver, program, text, Arc::default())
    }

    /// The same, with index arrays that it shares with other programs.
    pub(super) fn sharing(
        driver: Arc<D>,
        program: Program,
        text: &str,
        indices: Arc<Indices<D>>,
    ) -> Result<Loaded<D>, Error> {
        // A program without parallel loops over no statements at all has no kernels.
        let module = if program.kernels.is_empty() { ModuleHandle(0) } else { driver.load(text)? };
        let own = program.buffers.len().saturating_sub(program.arguments);
        let scratch = (0..own).map(|_| None).collect();
        let uses = uses(&program);
        Ok(Loaded { driver, program, uses, module, scratch, record: None, indices })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What it does with the memory of an argument.
    pub(super) fn argument_use(&self, k: usize) -> Use {
        self.uses.get(k).copied().unwrap_or_default()
    }

    /// Runs it on arguments. Waits for the device only where the program reads a word back, and at
    /// the end if it has failures to report.
    ///
    /// # Errors
    ///
    /// A wrong number of arguments, what a kernel or the host found wrong, or a device that is lost or
    /// out of memory.
    pub fn run(&mut self, arguments: Vec<Given>) -> Result<(), Error> {
        self.run_knowing(arguments, &[], Vec::new())
    }

    /// The same where the content of some arguments is known; the orders of others that are index
    /// arrays have to be read back. In the end `results` are copied from the device, which is waited for
    /// once.
    pub(super) fn run_knowing(
        &mut self,
        arguments: Vec<Given>,
        contents: &[Option<Content>],
        results: Vec<(u64, &mut [u8])>,
    ) -> Result<(), Error> {
        if arguments.len() != self.program.arguments {
            return Err(Cause::Arguments {
                function: self.program.name.clone(),
                expected: self.program.arguments,
                found: arguments.len(),
            }
            .into());
        }
        let record =
            Room::ensure(&mut self.record, &self.driver, "the error record", ERROR_RECORD_BYTES)?.address();
        let mut buffers = arguments;
        buffers.resize(self.program.buffers.len(), Given::default());
        let mut run = Run {
            driver: &self.driver,
            program: &self.program,
            module: self.module,
            scratch: &mut self.scratch,
            record,
            buffers,
            words: vec![0; self.program.words],
            indices: &self.indices,
            contents,
        };
        if !self.program.failures.is_empty() {
            self.driver.clear(record, ERROR_RECORD_BYTES)?;
        }
        match run.steps(&self.program.steps) {
            Ok(()) => run.fetch(results),
            // What goes wrong after a kernel has failed follows from that.
            Err(late) => Err(run.check().err().unwrap_or(late)),
        }
    }
}

/// A run.
struct Run<'a, D: Driver> {
    driver: &'a Arc<D>,
    program: &'a Program,
    module: ModuleHandle,
    scratch: &'a mut [Option<Room<D>>],
    record: u64,
    buffers: Vec<Given>,
    words: Vec<i64>,
    indices: &'a Indices<D>,
    /// What the arguments hold, where that is known.
    contents: &'a [Option<Content>],
}

impl<D: Driver> Run<'_, D> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Error> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), Error> {
        match step {
            Step::Allocate { buffer, shape } => self.allocate(*buffer, shape),
            Step::Clear { buffer } => self.clear(*buffer),
            Step::Launch { kernel, args, threads, max_blocks } => {
                self.launch(*kernel, args, threads, max_blocks.as_ref())
            }
            Step::Products { products, otherwise, forced } => match self.driver.has_products() {
                Ok(()) => products.iter().try_for_each(|p| self.product(p)),
                Err(absent) if *forced => Err(absent),
                Err(_) => self.steps(otherwise),
            },
            Step::Read { word, buffer } => {
                let value = self.read(*buffer)?;
                self.words[word.0 as usize] = value;
                Ok(())
            }
            Step::Set { word, value } => {
                self.words[word.0 as usize] = self.word(value);
                Ok(())
            }
            Step::If { cond, then, otherwise } => {
                if self.word(cond) != 0 {
                    self.steps(then)
                } else {
                    self.steps(otherwise)
                }
            }
            Step::Loop { before, cond, body } => loop {
                self.steps(before)?;
                if self.word(cond) == 0 {
                    return Ok(());
                }
                self.steps(body)?;
            },
            Step::Order(order) => self.order(order),
            Step::Fail { failure, values } => {
                self.check()?;
                let values: Vec<u64> = values.iter().map(|w| self.word(w) as u64).collect();
                Err(match self.program.failures.get(*failure as usize) {
                    Some(failure) => report::error(failure, &values),
                    None => self.wrong(format!("the plan has no failure {failure}")),
                })
            }
        }
    }

    /// A plan that can't be run.
    fn wrong(&self, reason: String) -> Error {
        let reason = format!("`{}`: {reason}", self.program.name);
        Cause::Device { device: self.driver.name().to_string().into(), reason }.into()
    }

    fn bytes(&self, buffer: BufferId, shape: &[usize]) -> Result<usize, Error> {
        let decl = &self.program.buffers[buffer.0 as usize];
        let widest = decl.leaves.len().max(1).saturating_mul(8);
        match count(shape).filter(|n| n.checked_mul(widest).is_some_and(|b| b < isize::MAX as usize)) {
            Some(count) => Ok(buffer_bytes(count, &decl.leaves) + if decl.stack { STACK_HEADER } else { 0 }),
            None => Err(self.wrong(format!("`{}` of shape {shape:?} is larger than any memory", decl.name))),
        }
    }

    fn allocate(&mut self, buffer: BufferId, shape: &[Word]) -> Result<(), Error> {
        let decl = &self.program.buffers[buffer.0 as usize];
        let lengths: Vec<i64> = shape.iter().map(|w| self.word(w)).collect();
        let Ok(shape) = lengths.iter().map(|n| usize::try_from(*n)).collect::<Result<Vec<_>, _>>() else {
            return Err(Cause::Shape {
                place: decl.name.clone().into(),
                expected: "lengths that aren't negative".into(),
                found: format!("{lengths:?}"),
            }
            .into());
        };
        let bytes = self.bytes(buffer, &shape)?;
        let own = (buffer.0 as usize).checked_sub(self.program.arguments);
        let Some(slot) = own.and_then(|k| self.scratch.get_mut(k)) else {
            return Err(self.wrong(format!("`{}` isn't a buffer of its own", decl.name)));
        };
        let address = Room::ensure(slot, self.driver, &decl.name, bytes)?.address();
        self.buffers[buffer.0 as usize] = Given { address, shape, integer: None };
        self.driver.clear(address, bytes)
    }

    fn clear(&mut self, buffer: BufferId) -> Result<(), Error> {
        let given = &self.buffers[buffer.0 as usize];
        self.driver.clear(given.address, self.bytes(buffer, &given.shape)?)
    }

    fn launch(
        &mut self,
        kernel: usize,
        args: &[KernelArg],
        threads: &Word,
        max_blocks: Option<&Word>,
    ) -> Result<(), Error> {
        let kernel = &self.program.kernels[kernel];
        let threads = self.word(threads);
        let Ok(threads @ 1..) = u64::try_from(threads) else { return Ok(()) };
        let blocks = threads.div_ceil(kernel.block.max(1).into());
        let most = max_blocks.map_or(u64::MAX, |w| self.word(w).max(1) as u64);
        // The largest x extent of a grid.
        let Some(grid) = u32::try_from(blocks.min(most)).ok().filter(|g| *g <= i32::MAX as u32) else {
            return Err(self.wrong(format!("`{}` needs {blocks} blocks", kernel.name)));
        };
        let params: Vec<Vec<u8>> = args.iter().map(|arg| self.param(arg).to_le_bytes().to_vec()).collect();
        self.driver.launch(self.module, &kernel.name, grid, kernel.block, &params)
    }

    fn product(&self, product: &MatrixProduct) -> Result<(), Error> {
        let size = product.size.each_ref().map(|w| usize::try_from(self.word(w)).unwrap_or(0));
        let matrix = |m: &Matrix| {
            let (given, decl) =
                (&self.buffers[m.buffer.0 as usize], &self.program.buffers[m.buffer.0 as usize]);
            let offset = plane_offset(count(&given.shape).unwrap_or(0), &decl.leaves, m.leaf);
            let rows = given.shape.first().copied().unwrap_or(0);
            Plane { address: given.address + offset as u64, rows, transposed: m.transposed }
        };
        let ([a, b], c) = (product.factors.each_ref().map(matrix), matrix(&product.target));
        self.driver.product(&Product { ty: product.ty, size, a, b, c, scale: product.scale })
    }

    fn param(&self, arg: &KernelArg) -> u64 {
        match arg {
            KernelArg::Buffer(buffer) => self.buffers[buffer.0 as usize].address,
            KernelArg::Word(word) => self.word(word) as u64,
            KernelArg::ErrorRecord => self.record,
        }
    }

    /// Makes the order of an index array, or finds the one that was made before.
    fn order(&mut self, made: &Order) -> Result<(), Error> {
        let k = made.index.0 as usize;
        let ty = self.program.buffers[k].leaves.first().copied().unwrap_or(Ty::U64);
        let content = match self.contents.get(k).cloned().flatten() {
            Some(content) => content,
            None => {
                let given = &self.buffers[k];
                let mut bytes = vec![0; self.bytes(made.index, &given.shape)?];
                self.driver.download(given.address, &mut bytes)?;
                Arc::new(bytes)
            }
        };
        let [terms, elements] =
            [&made.terms, &made.elements].map(|w| usize::try_from(self.word(w)).unwrap_or(0));
        let index = self.indices.of(&content, ty);
        let visits = Visits { first: self.word(&made.first), step: made.step, terms };
        let order = index.order(self.driver, &made.place, visits, elements)?;
        let buffers = [made.order, made.starts, made.blocks, made.groups_of, made.places];
        for (buffer, (room, length)) in buffers.into_iter().zip(&order.arrays) {
            let (address, shape) = (room.address(), vec![*length]);
            self.buffers[buffer.0 as usize] = Given { address, shape, integer: None };
        }
        self.words[made.groups.0 as usize] = order.groups as i64;
        self.words[made.touched.0 as usize] = order.touched as i64;
        Ok(())
    }

    /// The host's control flow depends on it: what a failed kernel left is no base for that, and might
    /// keep a loop going forever.
    fn read(&mut self, buffer: BufferId) -> Result<i64, Error> {
        self.check()?;
        let ty = self.program.buffers[buffer.0 as usize].leaves.first().copied().unwrap_or(Ty::U64);
        let mut bytes = [0; 8];
        self.driver.download(self.buffers[buffer.0 as usize].address, &mut bytes[..ty.size()])?;
        Ok(extend(read(&bytes, ty), ty))
    }

    /// Whether a kernel has failed so far.
    fn check(&self) -> Result<(), Error> {
        self.fetch(Vec::new())
    }

    /// The same, and what else is wanted from the device.
    fn fetch(&self, results: Vec<(u64, &mut [u8])>) -> Result<(), Error> {
        let mut record = [0; ERROR_RECORD_BYTES];
        let mut all: Vec<(u64, &mut [u8])> = results;
        if !self.program.failures.is_empty() {
            all.push((self.record, &mut record));
        }
        if !all.is_empty() {
            self.driver.download_all(&mut all)?;
        }
        report::read_record(&record, &self.program.failures).map_or(Ok(()), Err)
    }

    fn word(&self, word: &Word) -> i64 {
        match word {
            Word::Const(n) => *n,
            Word::Var(id) => self.words[id.0 as usize],
            Word::Length(buffer, axis) => {
                self.buffers[buffer.0 as usize].shape.get(*axis).map_or(0, |n| *n as i64)
            }
            Word::Argument(buffer) => self.buffers[buffer.0 as usize].integer.unwrap_or(0),
            Word::Binary(op, a, b) => op.apply(self.word(a), self.word(b)),
        }
    }
}
