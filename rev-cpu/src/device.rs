//! The CPU as a device: programs run as the Rust that the macro emitted.

use rev_core::device::{Backend, Device};
use rev_core::error::{Cause, Error};
use rev_core::lanes::Level;
use rev_core::tolerance::{Lanes, Options, Tolerances};

use crate::lanes::runs;

/// The CPU. A handle with the options of its runs; it can be shared and used again.
///
/// ```
/// use rev_cpu::prelude::*;
///
/// let all_threads = Cpu::new();
/// let reproducible = Cpu::with_threads(4).deterministic(true);
/// let fast = Cpu::new().checks(false);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cpu {
    options: Options,
}

impl Cpu {
    /// All processors, checks on, the default tolerances.
    pub fn new() -> Cpu {
        Cpu::default()
    }

    /// The same with `threads` threads for parallel loops.
    pub fn with_threads(threads: usize) -> Cpu {
        Cpu::new().threads(threads)
    }

    /// With these options.
    pub fn with_options(options: Options) -> Cpu {
        Cpu { options }
    }

    /// How many threads parallel loops use, the calling one included.
    pub fn threads(mut self, threads: usize) -> Cpu {
        self.options.threads = Some(threads);
        self
    }

    /// Whether reversibility is checked. Indices out of range are always errors.
    pub fn checks(mut self, on: bool) -> Cpu {
        self.options.checks = on;
        self
    }

    /// How far a released ancilla may be from its first value.
    pub fn tolerances(mut self, tolerances: Tolerances) -> Cpu {
        self.options.tolerances = tolerances;
        self
    }

    /// Whether the sums of parallel loops have one order ([`rev_core::tree`]), so that a result has
    /// the same bits on any number of threads.
    pub fn deterministic(mut self, on: bool) -> Cpu {
        self.options.deterministic = on;
        self
    }

    /// From how much work on, in operations, a parallel loop is worth several threads. A loop with
    /// less runs on the calling thread, and so does one whose first iterations show that other threads
    /// aren't worth their while. With 0 every loop runs on all threads.
    pub fn parallel_from(mut self, operations: usize) -> Cpu {
        self.options.parallel_from = operations;
        self
    }

    /// How many calls of recursive functions may be inside each other, 100,000 if nothing is said. One more is an
    /// error, [`Cause::Depth`]. The stack grows with the recursion, so the limit is what bounds its memory. Those
    /// functions count whose calls lead to one that calls itself, by way of others too, or calls what it is given.
    pub fn depth(mut self, calls: usize) -> Cpu {
        self.options.depth = calls;
        self
    }

    /// Whether several iterations of a parallel loop run at once on the processor's vectors. They
    /// do by default, on the best instruction set that the processor has (without optimisation, AVX2 at best).
    pub fn lanes(mut self, on: bool) -> Cpu {
        self.options.lanes = if on { Lanes::Best } else { Lanes::Off };
        self
    }

    /// The instruction set that parallel loops run in lanes on, for tests and measurements.
    ///
    /// # Errors
    ///
    /// One that this processor lacks, or that has no code on its architecture.
    ///
    /// ```
    /// use rev_core::lanes::Level;
    /// use rev_cpu::prelude::*;
    ///
    /// match Cpu::new().isa(Level::Avx512) {
    ///     Ok(cpu) => println!("runs on AVX-512: {cpu:?}"),
    ///     Err(lacking) => println!("{lacking}"),
    /// }
    /// ```
    pub fn isa(mut self, level: Level) -> Result<Cpu, Error> {
        if !runs(level) {
            let reason = match level.available() {
                true => format!(
                    "this program has no {level} code: without optimisation there is none for AVX-512, and for a target that has AVX-512 none for AVX2"
                ),
                false => format!("this processor doesn't run {level} code"),
            };
            return Err(Error::new(Cause::Device { device: "cpu".into(), reason }));
        }
        self.options.lanes = Lanes::Only(level);
        Ok(self)
    }

    /// The options of its runs.
    pub fn options(&self) -> &Options {
        &self.options
    }
}

impl Device for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Native(&self.options)
    }
}
