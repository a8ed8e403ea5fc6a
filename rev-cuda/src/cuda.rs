//! CUDA's driver API, loaded when it is first asked for: nothing of CUDA is needed to build, and a
//! machine without it gets an error value.
//!
//! The library and every symbol that is called here are looked up before the first call, because the
//! bindings panic on a missing one. Only functions that CUDA 11.4 has are used.

use crate::cublas::Blas;
use crate::driver::{Driver, ModuleHandle, Product, Target};
use cudarc::driver::sys::{self, CUresult};
use rev_core::error::{Cause, Error};
use std::collections::HashMap;
use std::ffi::{c_void, CStr, CString};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The functions that are called here, by the names that the library exports.
const SYMBOLS: [&str; 27] = [
    "cuInit",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemAllocHost_v2",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleLoadDataEx",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuDriverGetVersion",
    "cuLaunchKernel",
];

/// Whether the library is there with all that is needed; else why not. Looked up once.
fn library() -> Result<(), Error> {
    static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
    let probe = PROBE.get_or_init(|| {
        // SAFETY: loading NVIDIA's library runs its initialisers, which is what any use of it does.
        if !unsafe { sys::is_culib_present() } {
            return Err("no CUDA driver found: the library `libcuda` (`nvcuda`) can't be loaded".into());
        }
        // SAFETY: as above; it is present, so that this doesn't panic.
        let library = unsafe { sys::culib() };
        let missing = SYMBOLS.iter().find(|name| {
            // SAFETY: the symbol is only looked up, neither called nor read.
            unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_err()
        });
        missing.map_or(Ok(()), |name| Err(format!("no CUDA driver found: it has no `{name}` (too old?)")))
    });
    probe.clone().map_err(|reason| failure("cuda", reason))
}

fn failure(device: &str, reason: String) -> Error {
    Cause::Device { device: device.to_string().into(), reason }.into()
}

/// Turns a result of the driver into an error value.
fn check(device: &str, what: &str, result: CUresult) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = std::ptr::null();
        // SAFETY: the driver writes a pointer to a static string, or null.
        unsafe {
            get(result, &mut text);
            if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        }
    };
    let (name, description) = (text(sys::cuGetErrorName), text(sys::cuGetErrorString));
    Err(failure(device, format!("{what}: {description} ({name})")))
}

/// One GPU, by CUDA's driver: its primary context and one stream, on which everything is done in
/// order.
#[derive(Debug)]
pub struct CudaDriver {
    name: String,
    target: Target,
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
    modules: Mutex<Vec<Module>>,
    staging: Mutex<Staging>,
    /// cuBLAS once a program has asked for it, or why there is none.
    blas: Mutex<Option<Result<Blas, Error>>>,
}

/// Page-locked memory of the host, through which everything is copied: the driver may read and write any
/// other memory of the host as late as it likes. What is taken is free again when the stream was waited for.
#[derive(Debug)]
struct Staging {
    memory: *mut u8,
    bytes: usize,
    taken: usize,
}

impl Default for Staging {
    fn default() -> Self {
        Staging { memory: null_mut(), bytes: 0, taken: 0 }
    }
}

impl Staging {
    /// Room for it at first, and at most.
    const BYTES: [usize; 2] = [1 << 20, 64 << 20];

    /// The largest piece that is copied at once: the next one is taken while it is under way.
    const PIECE: usize = 8 << 20;

    /// Room for a piece, as an offset, if there is any.
    fn take(&mut self, bytes: usize) -> Option<usize> {
        let at = self.taken;
        let end = at.checked_add(bytes)?.checked_next_multiple_of(64)?;
        (end <= self.bytes).then(|| {
            self.taken = end;
            at
        })
    }

    /// Where an offset is.
    fn at(&self, offset: usize) -> *mut u8 {
        self.memory.wrapping_add(offset)
    }
}

#[derive(Debug)]
struct Module {
    handle: sys::CUmodule,
    functions: HashMap<String, sys::CUfunction>,
}

// SAFETY: the handles are not memory of this process but names that the driver gave out, which any
// thread may use; the staging memory is behind a lock; the driver's functions are thread-safe, and each call makes the context current on
// the calling thread first.
unsafe impl Send for CudaDriver {}
// SAFETY: as above.
unsafe impl Sync for CudaDriver {}

impl CudaDriver {
    /// The GPU of a number, from 0.
    ///
    /// # Errors
    ///
    /// `no CUDA driver found: ...` where there is none, or no such GPU, or one below compute
    /// capability 6.0.
    pub fn new(ordinal: usize) -> Result<CudaDriver, Error> {
        library()?;
        let name = format!("cuda:{ordinal}");
        let ok = |what: &str, result| check(&name, what, result);
        // SAFETY: the symbols are there; pointers are to locals that live through each call.
        unsafe {
            ok("starting CUDA", sys::cuInit(0))?;
            let mut count = 0;
            ok("counting GPUs", sys::cuDeviceGetCount(&mut count))?;
            let Some(number) = i32::try_from(ordinal).ok().filter(|n| *n < count) else {
                return Err(failure(&name, format!("there are {count} GPUs")));
            };
            let mut device = 0;
            ok("finding the GPU", sys::cuDeviceGet(&mut device, number))?;
            let mut text = [0; 256];
            ok("asking its name", sys::cuDeviceGetName(text.as_mut_ptr(), 255, device))?;
            let model = CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned();
            let attribute = |which| {
                let mut value = 0;
                let result = sys::cuDeviceGetAttribute(&mut value, which, device);
                ok("asking its compute capability", result).map(|()| value as u32)
            };
            use sys::CUdevice_attribute as Attribute;
            let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
            let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
            let target = Target(10 * major + minor);
            if target < Target(60) {
                let reason = format!("{model} has compute capability {major}.{minor}; 6.0 is needed");
                return Err(failure(&name, reason));
            }
            let mut context = null_mut();
            ok("opening a context", sys::cuDevicePrimaryCtxRetain(&mut context, device))?;
            let name = format!("{name} ({model})");
            let mut this = CudaDriver {
                name,
                target,
                device,
                context,
                stream: null_mut(),
                modules: Mutex::new(Vec::new()),
                staging: Mutex::default(),
                blas: Mutex::new(None),
            };
            this.current()?;
            // Not the default stream's order, with which every other one would synchronise.
            let mut stream = null_mut();
            this.check("opening a stream", sys::cuStreamCreate(&mut stream, 1))?;
            this.stream = stream;
            Ok(this)
        }
    }

    /// How many GPUs there are.
    ///
    /// # Errors
    ///
    /// `no CUDA driver found: ...`
    pub fn count() -> Result<usize, Error> {
        library()?;
        let mut count = 0;
        // SAFETY: the symbols are there; the pointer is to a local.
        unsafe {
            check("cuda", "starting CUDA", sys::cuInit(0))?;
            check("cuda", "counting GPUs", sys::cuDeviceGetCount(&mut count))?;
        }
        Ok(count.try_into().unwrap_or(0))
    }

    /// The newest CUDA that the driver supports: 12040 is 12.4.
    ///
    /// # Errors
    ///
    /// A driver that doesn't say.
    pub fn version(&self) -> Result<i32, Error> {
        let mut version = 0;
        // SAFETY: the pointer is to a local.
        self.check("asking the version", unsafe { sys::cuDriverGetVersion(&mut version) })?;
        Ok(version)
    }

    fn check(&self, what: &str, result: CUresult) -> Result<(), Error> {
        check(&self.name, what, result)
    }

    /// Makes the context that of the calling thread.
    fn current(&self) -> Result<(), Error> {
        // SAFETY: the context is held until this is dropped.
        self.check("entering the context", unsafe { sys::cuCtxSetCurrent(self.context) })
    }

    fn modules(&self) -> MutexGuard<'_, Vec<Module>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn staging(&self) -> MutexGuard<'_, Staging> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the stream, after which no piece of the staging memory is in use.
    fn wait(&self, staging: &mut Staging) -> Result<(), Error> {
        // SAFETY: the stream is open until this is dropped.
        self.check("waiting for the GPU", unsafe { sys::cuStreamSynchronize(self.stream) })?;
        staging.taken = 0;
        Ok(())
    }

    /// Room for a piece where there is none left: more than there was, as far as that goes.
    fn take_more(&self, staging: &mut Staging, bytes: usize) -> Result<usize, Error> {
        if staging.taken > 0 {
            self.wait(staging)?;
        }
        let [least, most] = Staging::BYTES;
        let wanted = (2 * staging.bytes.max(bytes)).next_power_of_two().clamp(least, most);
        if wanted > staging.bytes {
            let mut memory = null_mut();
            // SAFETY: the pointer is to a local.
            let result = unsafe { sys::cuMemAllocHost_v2(&mut memory, wanted) };
            self.check(&format!("no room for {wanted} bytes of page-locked memory"), result)?;
            self.free_staging(staging);
            *staging = Staging { memory: memory.cast(), bytes: wanted, taken: 0 };
        }
        staging.take(bytes).ok_or_else(|| failure(&self.name, format!("a piece of {bytes} bytes")))
    }

    /// Waits for pieces of downloads, and puts them where they are wanted.
    fn arrive(&self, staging: &mut Staging, under_way: &mut Vec<(&mut [u8], usize)>) -> Result<(), Error> {
        self.wait(staging)?;
        for (piece, at) in under_way.drain(..) {
            // SAFETY: the copy there is done, and nobody writes it.
            piece.copy_from_slice(unsafe { std::slice::from_raw_parts(staging.at(at), piece.len()) });
        }
        Ok(())
    }

    fn free_staging(&self, staging: &mut Staging) {
        let Staging { memory, .. } = std::mem::take(staging);
        if !memory.is_null() {
            // SAFETY: it is from `cuMemAllocHost_v2`, and nothing uses it. An error could only be that of
            // earlier work.
            unsafe { sys::cuMemFreeHost(memory.cast()) };
        }
    }

    fn with_blas(&self, f: impl FnOnce(&Blas) -> Result<(), Error>) -> Result<(), Error> {
        self.current()?;
        let mut blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner);
        match blas.get_or_insert_with(|| Blas::new(self.stream.cast())) {
            Ok(blas) => f(blas),
            Err(error) => Err(error.clone()),
        }
    }

    /// A kernel of a module.
    fn function(&self, module: ModuleHandle, kernel: &str) -> Result<sys::CUfunction, Error> {
        let mut modules = self.modules();
        let missing = || failure(&self.name, format!("there is no module {} with `{kernel}`", module.0));
        let index = usize::try_from(module.0).map_err(|_| missing())?;
        let module = modules.get_mut(index).ok_or_else(missing)?;
        if let Some(function) = module.functions.get(kernel) {
            return Ok(*function);
        }
        let name = CString::new(kernel).map_err(|_| missing())?;
        let mut function = null_mut();
        // SAFETY: the module is loaded; the name ends with a zero byte.
        let result = unsafe { sys::cuModuleGetFunction(&mut function, module.handle, name.as_ptr()) };
        self.check(&format!("looking up the kernel `{kernel}`"), result)?;
        module.functions.insert(kernel.to_string(), function);
        Ok(function)
    }
}

impl Driver for CudaDriver {
    fn name(&self) -> &str {
        &self.name
    }

    fn target(&self) -> Target {
        self.target
    }

    fn load(&self, ptx: &str) -> Result<ModuleHandle, Error> {
        self.current()?;
        let Ok(text) = CString::new(ptx) else {
            return Err(failure(&self.name, "a text with a zero byte".into()));
        };
        let mut log = vec![0u8; 8192];
        let mut options = [
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // Options that are numbers are passed in the pointer itself.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let mut handle = null_mut();
        // SAFETY: the text ends with a zero byte; the options, their values and the log live through
        // the call and are as many and as long as it is told.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
        let said = String::from_utf8_lossy(&log[..end]);
        let said = said.trim();
        let what =
            if said.is_empty() { "loading a module".into() } else { format!("loading a module: {said}") };
        self.check(&what, result)?;
        let mut modules = self.modules();
        modules.push(Module { handle, functions: HashMap::new() });
        Ok(ModuleHandle(modules.len() as u64 - 1))
    }

    fn allocate(&self, name: &str, bytes: usize) -> Result<u64, Error> {
        self.current()?;
        let mut address = 0;
        // SAFETY: the pointer is to a local.
        let result = unsafe { sys::cuMemAlloc_v2(&mut address, bytes.max(1)) };
        if result == CUresult::CUDA_SUCCESS {
            return Ok(address);
        }
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to locals.
        let known = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) } == CUresult::CUDA_SUCCESS;
        let left = if known { format!(" ({free} of {total} bytes are free)") } else { String::new() };
        self.check(&format!("no room for `{name}` of {bytes} bytes{left}"), result)?;
        Ok(address)
    }

    fn free(&self, address: u64) {
        if self.current().is_ok() {
            // SAFETY: the address is from `allocate` and isn't used afterwards (the caller's part).
            // It waits for what uses it. An error can only be that of an earlier kernel, which the
            // next call reports.
            unsafe { sys::cuMemFree_v2(address) };
        }
    }

    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        self.current()?;
        let staging = &mut *self.staging();
        for (k, piece) in bytes.chunks(Staging::PIECE).enumerate() {
            let at = match staging.take(piece.len()) {
                Some(at) => at,
                None => self.take_more(staging, piece.len())?,
            };
            let (from, to) = (staging.at(at), to + (k * Staging::PIECE) as u64);
            // SAFETY: the staging memory has room for the piece from there on, which nobody uses; it stays
            // as it is until the stream has been waited for. The range is allocated (the caller's part).
            let result = unsafe {
                std::ptr::copy_nonoverlapping(piece.as_ptr(), from, piece.len());
                sys::cuMemcpyHtoDAsync_v2(to, from.cast(), piece.len(), self.stream)
            };
            self.check(&format!("uploading {} bytes", bytes.len()), result)?;
        }
        Ok(())
    }

    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.download_all(&mut [(from, bytes)])
    }

    fn download_all(&self, parts: &mut [(u64, &mut [u8])]) -> Result<(), Error> {
        self.current()?;
        let staging = &mut *self.staging();
        let mut under_way: Vec<(&mut [u8], usize)> = Vec::new();
        for (from, bytes) in parts {
            let whole = bytes.len();
            for (k, piece) in bytes.chunks_mut(Staging::PIECE).enumerate() {
                let at = match staging.take(piece.len()) {
                    Some(at) => at,
                    None => {
                        if !under_way.is_empty() {
                            self.arrive(staging, &mut under_way)?;
                        }
                        self.take_more(staging, piece.len())?
                    }
                };
                let from = *from + (k * Staging::PIECE) as u64;
                // SAFETY: the staging memory has room for the piece from there on, which nobody uses. The
                // range is allocated (the caller's part).
                let result = unsafe {
                    sys::cuMemcpyDtoHAsync_v2(staging.at(at).cast(), from, piece.len(), self.stream)
                };
                self.check(&format!("downloading {whole} bytes"), result)?;
                under_way.push((piece, at));
            }
        }
        self.arrive(staging, &mut under_way)
    }

    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error> {
        self.current()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range is allocated (the caller's part).
        let result = unsafe { sys::cuMemsetD8Async(at, 0, bytes, self.stream) };
        self.check(&format!("clearing {bytes} bytes"), result)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.current()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges are allocated (the caller's part).
        let result = unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream) };
        self.check(&format!("copying {bytes} bytes"), result)
    }

    fn launch(
        &self,
        module: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error> {
        self.current()?;
        let function = self.function(module, kernel)?;
        // The driver reads as many bytes as the kernel declares, at most eight, from aligned memory.
        let mut words: Vec<u64> = params
            .iter()
            .map(|bytes| {
                let mut word = [0; 8];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                u64::from_ne_bytes(word)
            })
            .collect();
        let mut pointers: Vec<*mut c_void> = words.iter_mut().map(|w| std::ptr::from_mut(w).cast()).collect();
        // SAFETY: there is a pointer to eight bytes for each parameter that the kernel declares (the
        // caller's part), and the driver has copied them when the call returns.
        let result = unsafe {
            sys::cuLaunchKernel(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                self.stream,
                pointers.as_mut_ptr(),
                null_mut(),
            )
        };
        self.check(&format!("starting `{kernel}` with {grid} blocks of {block} threads"), result)
    }

    fn has_products(&self) -> Result<(), Error> {
        self.with_blas(|_| Ok(()))
    }

    fn product(&self, product: &Product) -> Result<(), Error> {
        self.with_blas(|blas| blas.product(product))
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.current()?;
        self.wait(&mut self.staging())
    }
}

impl Drop for CudaDriver {
    /// Errors could only be those of earlier work. A context that is lost can't be entered, and what is in
    /// it goes with it; it has to be let go of all the same, or no other can be opened on the GPU.
    fn drop(&mut self) {
        let blas = self.blas.lock().unwrap_or_else(PoisonError::into_inner).take();
        if self.current().is_ok() {
            drop(blas);
            self.close();
        } else {
            std::mem::forget(blas);
        }
        // SAFETY: it was retained once, by the constructor, and nothing uses it afterwards.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

impl CudaDriver {
    /// Gives back what is in the context.
    fn close(&mut self) {
        // SAFETY: nothing uses the stream and the modules afterwards.
        unsafe {
            if !self.stream.is_null() {
                sys::cuStreamSynchronize(self.stream);
            }
            for module in std::mem::take(&mut *self.modules()) {
                sys::cuModuleUnload(module.handle);
            }
            self.free_staging(&mut self.staging());
            if !self.stream.is_null() {
                sys::cuStreamDestroy_v2(self.stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With CUDA, that a kernel runs; without, the error value that says so.
    #[test]
    fn without_a_driver_there_is_an_error_value() {
        match CudaDriver::new(0) {
            Ok(driver) => {
                let at = driver.allocate("x", 16).unwrap();
                driver.upload(at, &[1, 2, 3, 4]).unwrap();
                let mut back = [0; 4];
                driver.download(at, &mut back).unwrap();
                assert_eq!(back, [1, 2, 3, 4]);
                driver.free(at);
                assert!(CudaDriver::new(1 << 20).unwrap_err().to_string().contains("GPUs"));
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with("cuda"), "{text}");
                assert_eq!(CudaDriver::new(0).unwrap_err(), error);
                if library().is_err() {
                    assert!(text.starts_with("cuda: no CUDA driver found: "), "{text}");
                    assert_eq!(CudaDriver::count().unwrap_err(), error);
                }
            }
        }
    }
}
