//! What runs kernels: CUDA's driver, or the emulator.

use crate::kernel::Ty;
use rev_core::error::{Cause, Error};

/// A GPU, or what stands for one. Its work is done in the order of the calls; only downloads and
/// [`Driver::synchronize`] wait for it.
pub trait Driver: Send + Sync {
    /// A name for tables and messages: `cuda:0 (NVIDIA H100)`, `emulator`.
    fn name(&self) -> &str;

    /// The compute capability that text is generated for.
    fn target(&self) -> Target;

    /// Compiles a text.
    ///
    /// # Errors
    ///
    /// What the assembler said.
    fn load(&self, ptx: &str) -> Result<ModuleHandle, Error>;

    /// Room for `bytes` bytes, aligned to 256, with unspecified content. `name` is for messages.
    ///
    /// # Errors
    ///
    /// Not enough memory.
    fn allocate(&self, name: &str, bytes: usize) -> Result<u64, Error>;

    /// Gives back what [`Driver::allocate`] gave.
    fn free(&self, address: u64);

    /// Copies to the device. The bytes are the caller's again when it returns.
    ///
    /// # Errors
    ///
    /// A lost device, or a range that isn't allocated.
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Copies from the device.
    ///
    /// # Errors
    ///
    /// A lost device, or an earlier kernel that failed.
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error>;

    /// Copies several ranges from the device, and waits once.
    ///
    /// # Errors
    ///
    /// As [`Driver::download`]. Some may hold what was copied.
    fn download_all(&self, parts: &mut [(u64, &mut [u8])]) -> Result<(), Error> {
        parts.iter_mut().try_for_each(|(from, to)| self.download(*from, to))
    }

    /// Fills with zeros.
    ///
    /// # Errors
    ///
    /// A lost device, or a range that isn't allocated.
    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error>;

    /// Copies within the device.
    ///
    /// # Errors
    ///
    /// A lost device, or a range that isn't allocated.
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;

    /// Starts a kernel of `grid` blocks of `block` threads. Each parameter is given by the bytes of
    /// its value.
    ///
    /// # Errors
    ///
    /// A kernel that isn't there, or an impossible launch; the emulator also what it found wrong.
    fn launch(
        &self,
        module: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error>;

    /// Whether there is a library of matrix products.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn has_products(&self) -> Result<(), Error> {
        let reason = "there is no library of matrix products".into();
        Err(Cause::Device { device: self.name().to_string().into(), reason }.into())
    }

    /// `C += scale·A·B`, started in the order of the calls like a kernel.
    ///
    /// # Errors
    ///
    /// No library, or what it says.
    fn product(&self, product: &Product) -> Result<(), Error> {
        let _ = product;
        self.has_products()
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    ///
    /// A kernel that failed.
    fn synchronize(&self) -> Result<(), Error>;
}

/// A compute capability: `Target(70)` is `sm_70`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target(pub u32);

/// `C += scale·A·B` of matrices in device memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// The type of the numbers, `F32` or `F64`.
    pub ty: Ty,
    /// The rows and columns of `C`, and how many products are added up for each of its elements.
    pub size: [usize; 3],
    /// `A`.
    pub a: Plane,
    /// `B`.
    pub b: Plane,
    /// `C`, which isn't transposed.
    pub c: Plane,
    /// The factor of all of it.
    pub scale: f64,
}

/// A matrix in device memory, column after column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Where it starts.
    pub address: u64,
    /// How many rows it has as it lies there, and so how far it is from column to column.
    pub rows: usize,
    /// Whether the matrix that is meant is its transposed.
    pub transposed: bool,
}

/// A module that a driver has loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleHandle(pub u64);
