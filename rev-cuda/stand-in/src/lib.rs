//! The functions of NVIDIA's driver that rev calls, and of cuBLAS, as a shared library over the emulator: what
//! stands between a program and a GPU is then tested where there is none.
//!
//! It is written from the manual ("CUDA Driver API"), for its least obliging reading: work is done only when
//! somebody waits for it, copies from pageable memory included; memory holds a pattern before it is
//! written; every access is checked; a failed kernel loses the context, which then answers each call with
//! the same error until its last holder lets go of it. The module `faults` says how calls are made to fail.
//!
//! A test makes links of the names `libcuda.so` and `libcublas.so` to this library in a folder, and starts a
//! process with that folder in `LD_LIBRARY_PATH`. The library itself has another name, so that no program
//! takes it for a GPU by accident.

// Names and arguments are the driver's, and so is what callers must heed.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, missing_docs)]

mod blas;
mod faults;
mod gpu;

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::ptr::null;

use gpu::{gpu, target, Code, Context, Gpu, MEMORY};

thread_local! {
    /// The context that is current.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn code(result: Result<(), Code>) -> Code {
    result.err().unwrap_or(Code::SUCCESS)
}

/// A call in the current context, which is answered with the context's error once that is lost.
fn within(name: &'static str, detail: &str, f: impl FnOnce(&mut Gpu) -> Result<(), Code>) -> Code {
    let current = CURRENT.get();
    plain(name, detail, |gpu| {
        gpu.context(current)?.usable()?;
        f(gpu)
    })
}

/// A call that needs no context. A fault that was asked for may lose the one that is current.
fn plain(name: &'static str, detail: &str, f: impl FnOnce(&mut Gpu) -> Result<(), Code>) -> Code {
    let gpu = &mut *gpu();
    if let Err(asked) = gpu.calls.note(name, detail) {
        if let (true, Ok(context)) = (asked.is_sticky(), gpu.context(CURRENT.get())) {
            context.lose(asked);
        }
        return asked;
    }
    let done = if gpu.started { f(gpu) } else { Err(Code::NOT_INITIALIZED) };
    if let Err(Code::INVALID_HANDLE | Code::INVALID_CONTEXT | Code::INVALID_VALUE) = done {
        gpu.calls.misuse(&format!("{name} {detail}"));
    }
    code(done)
}

/// The same for work on a stream.
fn on_stream(
    name: &'static str,
    detail: &str,
    stream: *mut c_void,
    f: impl FnOnce(&mut Context) -> Result<(), Code>,
) -> Code {
    let current = CURRENT.get();
    within(name, detail, |gpu| {
        let context = gpu.context(current)?;
        context.stream(stream as usize)?;
        f(context)
    })
}

#[no_mangle]
pub extern "C" fn cuInit(_flags: c_uint) -> Code {
    let gpu = &mut *gpu();
    gpu.calls.restart();
    code(gpu.calls.note("cuInit", "").map(|()| gpu.started = true))
}

#[no_mangle]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Code {
    let done = gpu().calls.note("cuDriverGetVersion", "");
    // SAFETY: the caller's place.
    code(done.map(|()| unsafe { *version = 12_080 }))
}

#[no_mangle]
pub unsafe extern "C" fn cuGetErrorName(which: Code, text: *mut *const c_char) -> Code {
    let done = gpu().calls.note("cuGetErrorName", "");
    let name = which.name().filter(|_| done.is_ok());
    // SAFETY: the caller's place.
    unsafe { *text = name.map_or(null(), CStr::as_ptr) };
    code(done.and(name.map(|_| ()).ok_or(Code::INVALID_VALUE)))
}

#[no_mangle]
pub unsafe extern "C" fn cuGetErrorString(which: Code, text: *mut *const c_char) -> Code {
    let done = gpu().calls.note("cuGetErrorString", "");
    let known = which.name().filter(|_| done.is_ok()).map(|_| c"an error of the stand-in");
    // SAFETY: the caller's place.
    unsafe { *text = known.map_or(null(), CStr::as_ptr) };
    code(done.and(known.map(|_| ()).ok_or(Code::INVALID_VALUE)))
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Code {
    // SAFETY: the caller's place.
    plain("cuDeviceGetCount", "", |_| unsafe {
        *count = 1;
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Code {
    plain("cuDeviceGet", "", |_| {
        if ordinal != 0 {
            return Err(Code::INVALID_DEVICE);
        }
        // SAFETY: the caller's place.
        unsafe { *device = 0 };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) -> Code {
    plain("cuDeviceGetName", "", |_| {
        let text = c"Stand-in".to_bytes_with_nul();
        for (k, byte) in text.iter().take(len.max(0) as usize).enumerate() {
            // SAFETY: the caller has room for `len` bytes.
            unsafe { *name.add(k) = *byte as c_char };
        }
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_uint, _device: c_int) -> Code {
    plain("cuDeviceGetAttribute", &which.to_string(), |_| {
        let found = match which {
            75 => target() / 10,
            76 => target() % 10,
            _ => return Err(Code::INVALID_VALUE),
        };
        // SAFETY: the caller's place.
        unsafe { *value = found as c_int };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: c_int) -> Code {
    plain("cuDevicePrimaryCtxRetain", "", |gpu| {
        // SAFETY: the caller's place.
        unsafe { *context = gpu.retain() as *mut c_void };
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> Code {
    plain("cuDevicePrimaryCtxRelease_v2", "", Gpu::release)
}

#[no_mangle]
pub extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> Code {
    plain("cuCtxSetCurrent", "", |gpu| {
        if !context.is_null() {
            gpu.context(context as usize)?.usable()?;
        }
        CURRENT.set(context as usize);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, flags: c_uint) -> Code {
    within("cuStreamCreate", &flags.to_string(), |gpu| {
        // SAFETY: the caller's place.
        unsafe { *stream = gpu.context(CURRENT.get())?.open_stream() as *mut c_void };
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> Code {
    within("cuStreamDestroy_v2", "", |gpu| gpu.context(CURRENT.get())?.close_stream(stream as usize))
}

#[no_mangle]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> Code {
    within("cuStreamSynchronize", "", |gpu| {
        gpu.context(CURRENT.get())?.stream(stream as usize)?;
        gpu.finish()
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> Code {
    within("cuMemAlloc_v2", &bytes.to_string(), |gpu| {
        // SAFETY: the caller's place.
        unsafe { *address = gpu.context(CURRENT.get())?.allocate(bytes)? };
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuMemFree_v2(address: u64) -> Code {
    within("cuMemFree_v2", "", |gpu| {
        gpu.finish()?;
        gpu.context(CURRENT.get())?.free(address)
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Code {
    within("cuMemGetInfo_v2", "", |gpu| {
        let left = gpu.context(CURRENT.get())?.left();
        // SAFETY: the caller's places.
        unsafe { (*free, *total) = (left, MEMORY) };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuMemAllocHost_v2(memory: *mut *mut c_void, bytes: usize) -> Code {
    within("cuMemAllocHost_v2", &bytes.to_string(), |gpu| {
        // SAFETY: the caller's place.
        unsafe { *memory = gpu.lock_memory(bytes) as *mut c_void };
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuMemFreeHost(memory: *mut c_void) -> Code {
    within("cuMemFreeHost", "", |gpu| gpu.unlock_memory(memory as usize))
}

/// How a copy appears in the log.
fn copied(host: *const c_void, bytes: usize) -> String {
    let kind = if gpu().is_locked(host as usize, bytes) { "page-locked" } else { "pageable" };
    format!("{bytes} {kind}")
}

#[no_mangle]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    on_stream("cuMemcpyHtoDAsync_v2", &copied(from, bytes), stream, |context| {
        context.within(to, bytes)?;
        // SAFETY: the caller's bytes.
        let asked = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
        context.upload(to, from as usize, asked.to_vec());
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: u64,
    bytes: usize,
    stream: *mut c_void,
) -> Code {
    on_stream("cuMemcpyDtoHAsync_v2", &copied(to, bytes), stream, |context| {
        context.within(from, bytes)?;
        context.download(from, to as usize, bytes);
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> Code {
    on_stream("cuMemcpyDtoDAsync_v2", &bytes.to_string(), stream, |context| {
        context.within(to, bytes)?;
        context.within(from, bytes)?;
        context.copy(to, from, bytes);
        Ok(())
    })
}

#[no_mangle]
pub extern "C" fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: *mut c_void) -> Code {
    on_stream("cuMemsetD8Async", &bytes.to_string(), stream, |context| {
        context.within(at, bytes)?;
        if value != 0 {
            return Err(Code::INVALID_VALUE);
        }
        context.clear(at, bytes);
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut *mut c_void,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
) -> Code {
    within("cuModuleLoadDataEx", "", |gpu| {
        // SAFETY: the caller's text, which ends with a zero byte.
        let text = unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy();
        match gpu.context(CURRENT.get())?.load(&text) {
            // SAFETY: the caller's place.
            Ok(loaded) => unsafe { *module = loaded as *mut c_void },
            Err(reason) => {
                // SAFETY: the caller has as many options and values as it says.
                unsafe { write_log(count as usize, options, values, &reason) };
                gpu.calls.failed(&reason);
                return Err(Code::INVALID_PTX);
            }
        }
        Ok(())
    })
}

/// Writes the assembler's words where the caller wants them.
unsafe fn write_log(count: usize, options: *const c_uint, values: *const *mut c_void, words: &str) {
    let value = |which: c_uint| {
        // SAFETY: there are `count` options and values.
        (0..count).find_map(|k| unsafe { (*options.add(k) == which).then(|| *values.add(k)) })
    };
    let (Some(buffer), Some(room)) = (value(5), value(6)) else { return };
    let end = words.len().min((room as usize).saturating_sub(1));
    // SAFETY: the buffer is as long as the caller says.
    unsafe {
        std::ptr::copy_nonoverlapping(words.as_ptr(), buffer.cast(), end);
        *buffer.cast::<u8>().add(end) = 0;
    }
}

#[no_mangle]
pub extern "C" fn cuModuleUnload(module: *mut c_void) -> Code {
    within("cuModuleUnload", "", |gpu| {
        gpu.finish()?;
        gpu.context(CURRENT.get())?.unload(module as usize)
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> Code {
    // SAFETY: the caller's text, which ends with a zero byte.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    within("cuModuleGetFunction", &name, |gpu| {
        let found = gpu.context(CURRENT.get())?.function(module as usize, &name)?;
        // SAFETY: the caller's place.
        unsafe { *function = found as *mut c_void };
        Ok(())
    })
}

#[no_mangle]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut c_void,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Code {
    on_stream("cuLaunchKernel", &format!("{grid_x} {block_x}"), stream, |context| {
        if [grid_y, grid_z, block_y, block_z] != [1; 4] || shared != 0 || !extra.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let function = context.known_function(function as usize)?;
        let param = |(k, bytes): (usize, &usize)| {
            // SAFETY: the caller has a pointer for each parameter, to as many bytes as the kernel declares.
            unsafe { std::slice::from_raw_parts((*params.add(k)).cast::<u8>(), *bytes) }.to_vec()
        };
        let values = function.parameters.iter().enumerate().map(param).collect();
        context.launch(function, grid_x, block_x, values);
        Ok(())
    })
}
