//! The one GPU: its primary context, what is allocated and loaded there, and its work, which is put off
//! until somebody waits for it, as late as a driver may do it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rev_cuda::driver::{Driver, ModuleHandle, Product, Target};
use rev_cuda::emulator::Emulator;

use crate::faults::Calls;

/// A result of the driver, by its number in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Code(pub u32);

impl Code {
    pub const SUCCESS: Code = Code(0);
    pub const INVALID_VALUE: Code = Code(1);
    pub const OUT_OF_MEMORY: Code = Code(2);
    pub const NOT_INITIALIZED: Code = Code(3);
    pub const INVALID_DEVICE: Code = Code(101);
    pub const INVALID_CONTEXT: Code = Code(201);
    pub const INVALID_PTX: Code = Code(218);
    pub const INVALID_HANDLE: Code = Code(400);
    pub const NOT_FOUND: Code = Code(500);
    pub const ILLEGAL_ADDRESS: Code = Code(700);

    /// The names of those that occur.
    pub fn name(self) -> Option<&'static std::ffi::CStr> {
        Some(match self.0 {
            0 => c"CUDA_SUCCESS",
            1 => c"CUDA_ERROR_INVALID_VALUE",
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            3 => c"CUDA_ERROR_NOT_INITIALIZED",
            100 => c"CUDA_ERROR_NO_DEVICE",
            101 => c"CUDA_ERROR_INVALID_DEVICE",
            201 => c"CUDA_ERROR_INVALID_CONTEXT",
            214 => c"CUDA_ERROR_ECC_UNCORRECTABLE",
            218 => c"CUDA_ERROR_INVALID_PTX",
            222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            400 => c"CUDA_ERROR_INVALID_HANDLE",
            500 => c"CUDA_ERROR_NOT_FOUND",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            701 => c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
            719 => c"CUDA_ERROR_LAUNCH_FAILED",
            999 => c"CUDA_ERROR_UNKNOWN",
            _ => return None,
        })
    }

    /// Whether a context is lost with it: every later call says the same until it is released.
    pub fn is_sticky(self) -> bool {
        matches!(self.0, 214 | 700 | 702 | 714..=719)
    }
}

/// Memory of the host, by its address: it is only touched while the work is done.
type HostAddress = usize;

/// Work that is put off.
enum Work {
    /// With the bytes that were there when it was asked for.
    Upload {
        to: u64,
        from: HostAddress,
        asked: Vec<u8>,
    },
    Download {
        from: u64,
        to: HostAddress,
        bytes: usize,
    },
    Copy {
        to: u64,
        from: u64,
        bytes: usize,
    },
    Clear {
        at: u64,
        bytes: usize,
    },
    Launch {
        function: Function,
        grid: u32,
        block: u32,
        params: Vec<Vec<u8>>,
    },
    Product(Product),
}

/// A kernel of a module.
#[derive(Clone)]
pub struct Function {
    module: usize,
    handle: ModuleHandle,
    name: String,
    /// The bytes of each parameter.
    pub parameters: Vec<usize>,
}

/// The primary context while it is held.
pub struct Context {
    pub handle: usize,
    emulator: Emulator,
    streams: BTreeSet<usize>,
    allocations: BTreeMap<u64, usize>,
    modules: Vec<Option<ModuleHandle>>,
    functions: Vec<Function>,
    work: VecDeque<Work>,
    lost: Option<Code>,
}

/// All of the GPU's memory.
pub const MEMORY: usize = 16 << 30;

/// Handles count up from here, so that none is taken for another.
const CONTEXTS: usize = 0xc000_0000;
const STREAMS: usize = 0x5000_0000;
const MODULES: usize = 0x3000_0000;
const FUNCTIONS: usize = 0xf000_0000;

/// The GPU.
#[derive(Default)]
pub struct Gpu {
    pub calls: Calls,
    pub started: bool,
    holders: u32,
    made: usize,
    context: Option<Context>,
    /// Page-locked memory of the host.
    locked: BTreeMap<HostAddress, Box<[u8]>>,
}

/// The compute capability, times ten.
pub fn target() -> u32 {
    std::env::var("REV_STAND_IN_TARGET").ok().and_then(|t| t.parse().ok()).unwrap_or(80)
}

/// The GPU of this process.
pub fn gpu() -> MutexGuard<'static, Gpu> {
    static GPU: OnceLock<Mutex<Gpu>> = OnceLock::new();
    GPU.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// Holds the primary context; the first holder makes it.
    pub fn retain(&mut self) -> usize {
        self.holders += 1;
        let made = &mut self.made;
        let context = self.context.get_or_insert_with(|| {
            *made += 1;
            Context {
                handle: CONTEXTS + *made,
                emulator: Emulator::new().with_target(Target(target())).with_memory(MEMORY).with_library(),
                streams: BTreeSet::new(),
                allocations: BTreeMap::new(),
                modules: Vec::new(),
                functions: Vec::new(),
                work: VecDeque::new(),
                lost: None,
            }
        });
        context.handle
    }

    /// Lets go of it; with the last holder all that is in it is gone.
    pub fn release(&mut self) -> Result<(), Code> {
        let Some(holders) = self.holders.checked_sub(1) else {
            self.calls.misuse("releasing a context that nobody holds");
            return Err(Code::INVALID_CONTEXT);
        };
        self.holders = holders;
        if holders > 0 {
            return Ok(());
        }
        let Some(context) = self.context.take() else { return Ok(()) };
        let locked = std::mem::take(&mut self.locked).len();
        // what is left of a context that was lost could not be given back
        if context.lost.is_none() {
            let (memory, streams) = (context.allocations.len(), context.streams.len());
            let modules = context.modules.iter().flatten().count();
            if memory + streams + modules + locked > 0 {
                let what = format!(
                    "released with {memory} allocations, {locked} of the host, {streams} streams, {modules} modules"
                );
                self.calls.misuse(&what);
            }
        }
        Ok(())
    }

    /// The context of a handle, if it is held.
    pub fn context(&mut self, handle: usize) -> Result<&mut Context, Code> {
        self.context.as_mut().filter(|c| c.handle == handle).ok_or(Code::INVALID_CONTEXT)
    }

    /// Page-locked memory of the host.
    pub fn lock_memory(&mut self, bytes: usize) -> HostAddress {
        let mut memory = vec![0xa5; bytes.max(1)].into_boxed_slice();
        let address = memory.as_mut_ptr() as usize;
        self.locked.insert(address, memory);
        address
    }

    pub fn unlock_memory(&mut self, address: HostAddress) -> Result<(), Code> {
        let uses = |w: &Work, end: usize| match w {
            Work::Upload { from: at, .. } | Work::Download { to: at, .. } => (address..end).contains(at),
            Work::Copy { .. } | Work::Clear { .. } | Work::Launch { .. } | Work::Product(_) => false,
        };
        let Some(memory) = self.locked.remove(&address) else {
            self.calls.misuse("freeing host memory that isn't page-locked");
            return Err(Code::INVALID_VALUE);
        };
        let end = address + memory.len();
        if self.context.as_ref().is_some_and(|c| c.lost.is_none() && c.work.iter().any(|w| uses(w, end))) {
            self.calls.misuse("freeing host memory that a copy still uses");
        }
        Ok(())
    }

    /// Whether host memory is page-locked.
    pub fn is_locked(&self, at: HostAddress, bytes: usize) -> bool {
        let before = self.locked.range(..=at).next_back();
        before.is_some_and(|(start, memory)| at + bytes <= start + memory.len())
    }

    /// Does the work that is put off.
    pub fn finish(&mut self) -> Result<(), Code> {
        let Gpu { context: Some(context), calls, .. } = self else { return Err(Code::INVALID_CONTEXT) };
        while let Some(work) = context.work.pop_front() {
            if let Err(reason) = context.run(work, calls) {
                calls.failed(&reason);
                context.lose(Code::ILLEGAL_ADDRESS);
                return Err(Code::ILLEGAL_ADDRESS);
            }
        }
        Ok(())
    }
}

impl Context {
    /// The error with which it was lost.
    pub fn usable(&self) -> Result<(), Code> {
        self.lost.map_or(Ok(()), Err)
    }

    /// Loses it: what was to be done isn't, and memory holds anything.
    pub fn lose(&mut self, code: Code) {
        self.lost = Some(code);
        self.work.clear();
    }

    pub fn open_stream(&mut self) -> usize {
        let handle = STREAMS + self.functions.len() + self.streams.len() + 1;
        self.streams.insert(handle);
        handle
    }

    pub fn stream(&self, handle: usize) -> Result<(), Code> {
        if self.streams.contains(&handle) {
            return Ok(());
        }
        Err(Code::INVALID_HANDLE)
    }

    pub fn close_stream(&mut self, handle: usize) -> Result<(), Code> {
        self.streams.remove(&handle).then_some(()).ok_or(Code::INVALID_HANDLE)
    }

    pub fn load(&mut self, ptx: &str) -> Result<usize, String> {
        let module = self.emulator.load(ptx).map_err(|e| e.to_string())?;
        self.modules.push(Some(module));
        Ok(MODULES + self.modules.len() - 1)
    }

    pub fn unload(&mut self, module: usize) -> Result<(), Code> {
        let slot = module.checked_sub(MODULES).and_then(|k| self.modules.get_mut(k));
        slot.and_then(Option::take).map(drop).ok_or(Code::INVALID_HANDLE)
    }

    pub fn function(&mut self, module: usize, name: &str) -> Result<usize, Code> {
        let handle = module.checked_sub(MODULES).and_then(|k| self.modules.get(k).copied().flatten());
        let handle = handle.ok_or(Code::INVALID_HANDLE)?;
        let parameters = self.emulator.parameters(handle, name).ok_or(Code::NOT_FOUND)?;
        self.functions.push(Function { module: module - MODULES, handle, name: name.into(), parameters });
        Ok(FUNCTIONS + self.functions.len() - 1)
    }

    pub fn known_function(&self, handle: usize) -> Result<Function, Code> {
        let known = handle.checked_sub(FUNCTIONS).and_then(|k| self.functions.get(k));
        let loaded = known.filter(|f| self.modules.get(f.module).is_some_and(Option::is_some));
        loaded.cloned().ok_or(Code::INVALID_HANDLE)
    }

    pub fn allocate(&mut self, bytes: usize) -> Result<u64, Code> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let address = self.emulator.allocate("memory", bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        self.allocations.insert(address, bytes);
        Ok(address)
    }

    pub fn free(&mut self, address: u64) -> Result<(), Code> {
        self.allocations.remove(&address).ok_or(Code::INVALID_VALUE)?;
        self.emulator.free(address);
        Ok(())
    }

    /// How many bytes aren't allocated.
    pub fn left(&self) -> usize {
        MEMORY - self.allocations.values().sum::<usize>()
    }

    /// Whether a range is allocated.
    pub fn within(&self, at: u64, bytes: usize) -> Result<(), Code> {
        let before = self.allocations.range(..=at).next_back();
        let inside = before.is_some_and(|(start, len)| at + bytes as u64 <= start + *len as u64);
        inside.then_some(()).ok_or(Code::INVALID_VALUE)
    }

    pub fn upload(&mut self, to: u64, from: HostAddress, asked: Vec<u8>) {
        self.work.push_back(Work::Upload { to, from, asked });
    }

    pub fn download(&mut self, from: u64, to: HostAddress, bytes: usize) {
        self.work.push_back(Work::Download { from, to, bytes });
    }

    pub fn copy(&mut self, to: u64, from: u64, bytes: usize) {
        self.work.push_back(Work::Copy { to, from, bytes });
    }

    pub fn clear(&mut self, at: u64, bytes: usize) {
        self.work.push_back(Work::Clear { at, bytes });
    }

    pub fn launch(&mut self, function: Function, grid: u32, block: u32, params: Vec<Vec<u8>>) {
        self.work.push_back(Work::Launch { function, grid, block, params });
    }

    pub fn product(&mut self, product: Product) {
        self.work.push_back(Work::Product(product));
    }

    fn run(&self, work: Work, calls: &mut Calls) -> Result<(), String> {
        let done = match work {
            Work::Upload { to, from, asked } => {
                // SAFETY: who asked for the copy has to keep the bytes until it is done. That is what is
                // tested here.
                let now = unsafe { std::slice::from_raw_parts(from as *const u8, asked.len()) };
                if now != asked {
                    calls.misuse(&format!("{} bytes of the host changed before they were copied", now.len()));
                }
                self.emulator.upload(to, now)
            }
            Work::Download { from, to, bytes } => {
                // SAFETY: as above.
                let to = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes) };
                self.emulator.download(from, to)
            }
            Work::Copy { to, from, bytes } => self.emulator.copy(to, from, bytes),
            Work::Clear { at, bytes } => self.emulator.clear(at, bytes),
            Work::Launch { function, grid, block, params } => {
                self.emulator.launch(function.handle, &function.name, grid, block, &params)
            }
            Work::Product(product) => self.emulator.product(&product),
        };
        done.map_err(|e| e.to_string())
    }
}
