//! Matrix products by cuBLAS, loaded when a program first asks for one. Without it the generated
//! kernels do the same, and a program that insists on it gets an error value.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use cudarc::cublas::sys::{self, cublasOperation_t as Operation, cublasStatus_t as Status};
use rev_core::error::{Cause, Error};

use crate::driver::{Plane, Product};
use crate::kernel::Ty;

/// The functions that are called here, by the names that the library exports.
const SYMBOLS: [&str; 5] =
    ["cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2", "cublasDgemm_v2", "cublasSgemm_v2"];

fn failure(reason: String) -> Error {
    Cause::Device { device: "cuda".into(), reason }.into()
}

/// Whether the library is there with all that is needed; else why not. Looked up once.
fn library() -> Result<(), Error> {
    static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
    let probe = PROBE.get_or_init(|| {
        // SAFETY: loading NVIDIA's library runs its initialisers, which is what any use of it does.
        if !unsafe { sys::is_culib_present() } {
            return Err("no cuBLAS found: the library `libcublas` (`cublas64`) can't be loaded".into());
        }
        // SAFETY: as above; it is present, so that this doesn't panic.
        let library = unsafe { sys::culib() };
        let missing = SYMBOLS.iter().find(|name| {
            // SAFETY: the symbol is only looked up, neither called nor read.
            unsafe { library.get::<*const c_void>(name.as_bytes()) }.is_err()
        });
        missing.map_or(Ok(()), |name| Err(format!("no cuBLAS found: it has no `{name}` (too old?)")))
    });
    probe.clone().map_err(failure)
}

fn check(what: &str, status: Status) -> Result<(), Error> {
    if status == Status::CUBLAS_STATUS_SUCCESS {
        return Ok(());
    }
    Err(failure(format!("cuBLAS: {what}: {status:?}")))
}

/// A handle of the library, bound to a stream.
#[derive(Debug)]
pub struct Blas {
    handle: sys::cublasHandle_t,
}

// SAFETY: the handle is a name that the library gave out; its calls are made one at a time (the
// driver keeps it behind a lock), as the library asks.
unsafe impl Send for Blas {}

impl Blas {
    /// A handle for a stream, in the current context.
    ///
    /// # Errors
    ///
    /// `no cuBLAS found: ...`, or what the library says.
    pub fn new(stream: *mut c_void) -> Result<Blas, Error> {
        library()?;
        let mut blas = Blas { handle: null_mut() };
        // SAFETY: the symbols are there; the pointer is to a local.
        check("starting", unsafe { sys::cublasCreate_v2(&mut blas.handle) })?;
        // SAFETY: the stream is open as long as the driver that keeps this.
        check("choosing the stream", unsafe { sys::cublasSetStream_v2(blas.handle, stream.cast()) })?;
        Ok(blas)
    }

    /// `C += scale·A·B`.
    ///
    /// # Errors
    ///
    /// Sizes beyond the library's, or what it says.
    pub fn product(&self, p: &Product) -> Result<(), Error> {
        let int = |n: usize| {
            i32::try_from(n)
                .map_err(|_| failure(format!("cuBLAS: a matrix with {n} rows or columns is too large")))
        };
        let [m, n, k] = p.size;
        if m == 0 || n == 0 || k == 0 {
            return Ok(());
        }
        let (m, n, k) = (int(m)?, int(n)?, int(k)?);
        let (lda, ldb, ldc) = (int(p.a.rows)?, int(p.b.rows)?, int(p.c.rows)?);
        let operation =
            |plane: &Plane| if plane.transposed { Operation::CUBLAS_OP_T } else { Operation::CUBLAS_OP_N };
        let (ta, tb) = (operation(&p.a), operation(&p.b));
        let (a, b, c) = (p.a.address, p.b.address, p.c.address);
        // SAFETY: the matrices are in device memory with these sizes (the caller's part); the scales
        // are read before the call returns.
        let status = unsafe {
            match p.ty {
                Ty::F32 => {
                    let (alpha, beta) = (p.scale as f32, 1f32);
                    sys::cublasSgemm_v2(
                        self.handle,
                        ta,
                        tb,
                        m,
                        n,
                        k,
                        &alpha,
                        a as *const f32,
                        lda,
                        b as *const f32,
                        ldb,
                        &beta,
                        c as *mut f32,
                        ldc,
                    )
                }
                _ => sys::cublasDgemm_v2(
                    self.handle,
                    ta,
                    tb,
                    m,
                    n,
                    k,
                    &p.scale,
                    a as *const f64,
                    lda,
                    b as *const f64,
                    ldb,
                    &1f64,
                    c as *mut f64,
                    ldc,
                ),
            }
        };
        check("a matrix product", status)
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is the library's, and isn't used afterwards.
            unsafe { sys::cublasDestroy_v2(self.handle) };
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_the_library_there_is_an_error_value() {
        if let Err(error) = super::library() {
            assert!(error.to_string().starts_with("cuda: no cuBLAS found: "), "{error}");
        }
    }
}
