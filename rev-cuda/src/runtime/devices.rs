//! The two GPUs that there are: CUDA's, and the emulator.

use super::gpu::Gpu;
use crate::cuda::CudaDriver;
use crate::emulator;
use rev_core::error::Error;

/// An NVIDIA GPU.
pub type Cuda = Gpu<CudaDriver>;

/// The emulator: a GPU in software, which runs the same PTX text, checks every access, and is slow.
///
/// # Arrays that stay on the device
///
/// ```
/// use rev_core::ir::Direction;
/// use rev_cuda::Emulator;
///
/// let module = rev_core::text::parse_module(
///     "module axpy fn axpy<T: Real>(y: &mut [T], a: T, x: [T]) {
///          par for i in 0..len(y) { y[i] += a * x[i] }
///      }",
/// )?;
/// let gpu = Emulator::new();
/// let (mut y, a, x) = (vec![1.0, 2.0, 3.0], 0.5, vec![10.0, 20.0, 30.0]);
///
/// // The values only say the types; nothing is copied yet.
/// let axpy = gpu.prepare(&module, Direction::FORWARD, &[&y, &a, &x])?;
/// let back = gpu.prepare(&module, Direction::INVERSE, &[&y, &a, &x])?;
/// let on_gpu = [axpy.upload(0, &y)?, axpy.upload(1, &a)?, axpy.upload(2, &x)?];
/// let args = [&on_gpu[0], &on_gpu[1], &on_gpu[2]];
///
/// axpy.run(&args)?;
/// axpy.run(&args)?;
/// on_gpu[0].download(&mut y)?;
/// assert_eq!(y, [11.0, 22.0, 33.0]);
///
/// back.run(&args)?;
/// back.run(&args)?;
/// on_gpu[0].download(&mut y)?;
/// assert_eq!(y, [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Emulator = Gpu<emulator::Emulator>;

impl Gpu<CudaDriver> {
    /// The GPU of a number, from 0.
    ///
    /// # Errors
    ///
    /// `no CUDA driver found: ...` where there is none; no such GPU, or one that is too old.
    pub fn new(ordinal: usize) -> Result<Cuda, Error> {
        CudaDriver::new(ordinal).map(Gpu::over)
    }
}

impl Gpu<emulator::Emulator> {
    /// An emulator with all its checks.
    pub fn new() -> Emulator {
        Gpu::over(emulator::Emulator::new())
    }
}

impl Default for Gpu<emulator::Emulator> {
    fn default() -> Self {
        Gpu::<emulator::Emulator>::new()
    }
}
