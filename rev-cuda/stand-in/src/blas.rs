//! What rev calls of cuBLAS.

use std::ffi::{c_int, c_void};

use rev_cuda::driver::{Plane, Product};
use rev_cuda::kernel::Ty;

use crate::gpu::gpu;
use crate::CURRENT;

/// A status of the library.
type Status = u32;

const SUCCESS: Status = 0;
const INVALID_VALUE: Status = 7;
const EXECUTION_FAILED: Status = 13;

/// The one handle.
const HANDLE: usize = 0xb1a5;

/// Notes a call. A fault that was asked for is the status.
fn noted(name: &'static str, f: impl FnOnce() -> Status) -> Status {
    let asked = gpu().calls.note(name, "");
    asked.err().map_or_else(f, |code| code.0)
}

#[no_mangle]
pub unsafe extern "C" fn cublasCreate_v2(handle: *mut *mut c_void) -> Status {
    noted("cublasCreate_v2", || {
        // SAFETY: the caller's place.
        unsafe { *handle = HANDLE as *mut c_void };
        SUCCESS
    })
}

#[no_mangle]
pub extern "C" fn cublasDestroy_v2(handle: *mut c_void) -> Status {
    noted("cublasDestroy_v2", || if handle as usize == HANDLE { SUCCESS } else { INVALID_VALUE })
}

#[no_mangle]
pub extern "C" fn cublasSetStream_v2(_handle: *mut c_void, stream: *mut c_void) -> Status {
    noted("cublasSetStream_v2", || {
        let open = gpu().context(CURRENT.get()).is_ok_and(|c| c.stream(stream as usize).is_ok());
        if open {
            SUCCESS
        } else {
            INVALID_VALUE
        }
    })
}

/// A matrix of a caller.
type Given = (c_int, u64, c_int);

fn product(ty: Ty, size: [c_int; 3], scales: [f64; 2], planes: [Given; 3]) -> Status {
    let plane = |(transposed, address, rows): Given| Plane {
        address,
        rows: rows.max(0) as usize,
        transposed: transposed == 1,
    };
    let ([a, b, c], size) = (planes.map(plane), size.map(|n| n.max(0) as usize));
    if scales[1] != 1.0 {
        return INVALID_VALUE;
    }
    match gpu().context(CURRENT.get()) {
        Ok(context) if context.usable().is_ok() => {
            context.product(Product { ty, size, a, b, c, scale: scales[0] });
            SUCCESS
        }
        _ => EXECUTION_FAILED,
    }
}

macro_rules! gemm {
    ($name:ident, $t:ty, $ty:expr) => {
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            _handle: *mut c_void,
            a_how: c_int,
            b_how: c_int,
            m: c_int,
            n: c_int,
            k: c_int,
            alpha: *const $t,
            a: u64,
            a_rows: c_int,
            b: u64,
            b_rows: c_int,
            beta: *const $t,
            c: u64,
            c_rows: c_int,
        ) -> Status {
            noted(stringify!($name), || {
                // SAFETY: the caller's scales.
                let scales = unsafe { [f64::from(*alpha), f64::from(*beta)] };
                product($ty, [m, n, k], scales, [(a_how, a, a_rows), (b_how, b, b_rows), (0, c, c_rows)])
            })
        }
    };
}

gemm!(cublasDgemm_v2, f64, Ty::F64);
gemm!(cublasSgemm_v2, f32, Ty::F32);
