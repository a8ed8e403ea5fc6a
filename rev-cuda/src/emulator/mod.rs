//! A device that isn't there: it reads PTX text and runs it.
//!
//! [`Emulator`] is a [`Driver`], so whatever runs on CUDA runs here, slowly, and is watched: every
//! access is checked for bounds, alignment, use after freeing and reading what was never written;
//! two threads that touch one place without order are an error that names both; so are barriers that
//! never fill and lanes that aren't where an exchange wants them. Its table of instructions
//! (`decode`) is written from NVIDIA's manual, "Parallel Thread Execution ISA", and knows nothing of
//! the generator.
//!
//! ```text
//! text ── parse ──► syntax ── decode ──► code ── machine, warp, execute, exchange ──► memory
//!                                                           └── race
//! ```
//!
//! Where the manual leaves a value open, the emulator refuses (approximations, a float operation
//! without a rounding, registers read before they are written), except for integer division by zero,
//! which gives all ones. Memory is sequentially consistent; blocks run one after another.

mod code;
mod decode;
mod exchange;
mod execute;
mod library;
mod machine;
mod memory;
mod parse;
mod race;
mod soft;
mod syntax;
#[cfg(test)]
mod tests;
mod text;
mod traffic;
mod warp;

use crate::driver::{Driver, ModuleHandle, Product, Target};
use code::Code;
use machine::{describe, Failed, Launch};
use memory::Memory;
use rev_core::error::{Cause, Error};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
pub use traffic::Traffic;

/// Bytes of shared memory that a kernel may declare.
const SHARED_LIMIT: usize = 48 * 1024;

/// Bytes of local memory that a thread may have.
const LOCAL_LIMIT: usize = 512 * 1024;

/// Threads of a block.
const BLOCK_LIMIT: u32 = 1024;

/// A GPU in software.
#[derive(Debug)]
pub struct Emulator {
    target: Target,
    races: bool,
    library: bool,
    steps: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    memory: Memory,
    modules: Vec<Loaded>,
    launches: u32,
    executed: u64,
    traffic: Traffic,
}

struct Loaded {
    kernels: HashMap<String, Code>,
    /// The text, for messages.
    lines: Vec<String>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("kernels", &self.kernels.keys()).finish()
    }
}

impl Default for Emulator {
    fn default() -> Emulator {
        Emulator::new()
    }
}

impl Emulator {
    /// An emulator of compute capability 7.0 with 16 GiB of memory and all checks.
    pub fn new() -> Emulator {
        Emulator {
            target: Target(70),
            races: true,
            library: false,
            steps: 1 << 34,
            state: Mutex::new(State {
                memory: Memory::new(16 << 30),
                modules: Vec::new(),
                launches: 0,
                executed: 0,
                traffic: Traffic::default(),
            }),
        }
    }

    /// Another compute capability. Text for a later one isn't loaded.
    pub fn with_target(mut self, target: Target) -> Emulator {
        self.target = target;
        self
    }

    /// Another amount of memory, in bytes.
    pub fn with_memory(self, bytes: usize) -> Emulator {
        self.state().memory.limit = bytes;
        self
    }

    /// Without the search for races, which costs most of the time where memory is used much.
    pub fn without_race_checks(mut self) -> Emulator {
        self.races = false;
        self
    }

    /// With a library of matrix products. At first there is none, and generated kernels run.
    pub fn with_library(mut self) -> Emulator {
        self.library = true;
        self
    }

    /// How many instructions the warps of one launch may execute together before it is taken for
    /// endless. At first 2^34.
    pub fn with_step_limit(mut self, steps: u64) -> Emulator {
        self.steps = steps;
        self
    }

    /// How many instructions warps have executed so far.
    pub fn executed(&self) -> u64 {
        self.state().executed
    }

    /// How many kernels were launched so far.
    pub fn launches(&self) -> u32 {
        self.state().launches
    }

    /// What their warps read and wrote.
    pub fn traffic(&self) -> Traffic {
        self.state().traffic
    }

    /// The bytes of each parameter of a kernel: what a driver finds in the text, where callers pass only
    /// addresses.
    pub fn parameters(&self, module: ModuleHandle, kernel: &str) -> Option<Vec<usize>> {
        let state = self.state();
        let code = state.modules.get(module.0 as usize)?.kernels.get(kernel)?;
        Some(code.params.iter().map(|(_, size, _)| *size).collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn error(reason: impl Into<String>) -> Error {
    Cause::Device { device: "emulator".into(), reason: reason.into() }.into()
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {message}")]
struct SyntaxError {
    line: u32,
    message: String,
}

impl SyntaxError {
    fn new(line: u32, message: String) -> SyntaxError {
        SyntaxError { line, message }
    }
}

impl Loaded {
    fn new(text: &str, target: Target) -> Result<Loaded, SyntaxError> {
        let module = parse::module(text)?;
        if module.target > target.0 {
            let (a, b) = (module.target, target.0);
            return Err(SyntaxError::new(1, format!("the text is for sm_{a}, the device is sm_{b}")));
        }
        let mut kernels = HashMap::new();
        for entry in &module.entries {
            let code = decode::kernel(&module, entry)?;
            if code.shared_bytes > SHARED_LIMIT {
                let bytes = code.shared_bytes;
                return Err(SyntaxError::new(
                    entry.line,
                    format!("{bytes} bytes of shared memory; at most {SHARED_LIMIT} are allowed"),
                ));
            }
            if code.local_bytes > LOCAL_LIMIT {
                let bytes = code.local_bytes;
                return Err(SyntaxError::new(
                    entry.line,
                    format!("{bytes} bytes of local memory; at most {LOCAL_LIMIT} are allowed"),
                ));
            }
            kernels.insert(entry.name.clone(), code);
        }
        Ok(Loaded { kernels, lines: text.lines().map(str::to_string).collect() })
    }

    /// The line of an instruction, and its text.
    fn shown(&self, code: &Code, pc: u32) -> String {
        let Some(inst) = code.insts.get(pc as usize) else { return "the end".into() };
        let text = self.lines.get(inst.line as usize - 1).map_or("", |l| l.trim());
        format!("line {} `{text}`", inst.line)
    }

    fn failed(&self, code: &Code, block: u32, failed: &Failed) -> Error {
        error(format!(
            "kernel `{}`, {}, thread {}: {}",
            code.name,
            self.shown(code, failed.pc),
            describe(failed.thread, block),
            failed.message
        ))
    }
}

/// The parameters laid out as the kernel declares them.
fn packed(code: &Code, params: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    let (found, wanted) = (params.len(), code.params.len());
    if found != wanted {
        return Err(error(format!("kernel `{}` takes {wanted} parameters, not {found}", code.name)));
    }
    let mut bytes = vec![0; code.param_bytes];
    for ((at, size, name), value) in code.params.iter().zip(params) {
        if value.len() != *size {
            let found = value.len();
            return Err(error(format!(
                "kernel `{}`: the parameter `{name}` has {size} bytes and is given {found}",
                code.name
            )));
        }
        bytes[*at..at + size].copy_from_slice(value);
    }
    Ok(bytes)
}

/// That a kernel may be started like this.
fn launchable(code: &Code, grid: u32, block: u32) -> Result<(), Error> {
    let wrong = |why: String| Err(error(format!("kernel `{}`: {why}", code.name)));
    if grid == 0 || grid > i32::MAX as u32 || block == 0 || block > BLOCK_LIMIT {
        return wrong(format!("{grid} blocks of {block} threads can't be launched"));
    }
    if u64::from(grid) * u64::from(block) >= u64::from(u32::MAX) {
        return wrong(format!("{grid} blocks of {block} threads are more than the emulator can count"));
    }
    if let Some(max) = code.max_threads.filter(|max| block > *max) {
        return wrong(format!("a block has {block} threads, and `.maxntid` allows {max}"));
    }
    if let Some([x, y, z]) = code.required.filter(|r| *r != [block, 1, 1]) {
        return wrong(format!("a block has {block} threads, and `.reqntid` wants {x}, {y}, {z}"));
    }
    Ok(())
}

impl Driver for Emulator {
    fn name(&self) -> &str {
        "emulator"
    }

    fn target(&self) -> Target {
        self.target
    }

    fn load(&self, ptx: &str) -> Result<ModuleHandle, Error> {
        let loaded = Loaded::new(ptx, self.target).map_err(|e| {
            let line = ptx.lines().nth((e.line as usize).saturating_sub(1)).unwrap_or("").trim();
            error(format!("{e}\n  `{line}`"))
        })?;
        let mut state = self.state();
        state.modules.push(loaded);
        Ok(ModuleHandle(state.modules.len() as u64 - 1))
    }

    fn allocate(&self, name: &str, bytes: usize) -> Result<u64, Error> {
        self.state().memory.allocate(name, bytes).map_err(error)
    }

    fn free(&self, address: u64) {
        self.state().memory.free(address);
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        self.state().memory.upload(to, bytes).map_err(error)
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.state().memory.download(from, bytes).map_err(error)
    }

    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error> {
        self.state().memory.clear(at, bytes).map_err(error)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.state().memory.copy(to, from, bytes).map_err(error)
    }

    fn launch(
        &self,
        module: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error> {
        let state = &mut *self.state();
        let loaded = state
            .modules
            .get(module.0 as usize)
            .ok_or_else(|| error(format!("there is no module {}", module.0)))?;
        let code =
            loaded.kernels.get(kernel).ok_or_else(|| error(format!("there is no kernel `{kernel}`")))?;
        launchable(code, grid, block)?;
        state.launches += 1;
        let launch = Launch {
            code,
            params: packed(code, params)?,
            grid,
            block,
            number: state.launches,
            races: self.races,
            together: self.target < Target(70),
            steps: self.steps,
        };
        let (steps, traffic) =
            machine::run(&launch, &mut state.memory).map_err(|failed| loaded.failed(code, block, &failed))?;
        state.executed += steps;
        state.traffic += traffic;
        Ok(())
    }

    fn has_products(&self) -> Result<(), Error> {
        if self.library {
            return Ok(());
        }
        Err(error("it has no library of matrix products".to_string()))
    }

    fn product(&self, product: &Product) -> Result<(), Error> {
        self.has_products()?;
        self.library_product(product)
    }

    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
}
