//! The PTX backend: any program of the IR with its parallel loops on NVIDIA GPUs.
//!
//! ```text
//!  IR module + direction + argument types
//!        │  lower: types made concrete, calls inlined, values split into scalars
//!        ▼
//!  plan::Program ── steps for the host: launches, loops and branches around them
//!        │      └── kernel::Kernel: scalar instructions with structured control flow
//!        │  ptx: text
//!        ▼
//!  driver::Driver: CUDA, or the emulator, which reads the text
//! ```

mod cublas;
pub mod cuda;
pub mod driver;
pub mod emulator;
#[cfg(test)]
mod fake;
pub mod kernel;
pub mod layout;
pub mod lower;
pub mod measure;
pub mod plan;
pub mod ptx;
pub mod ptxas;
pub mod runtime;
pub mod uses;

pub use runtime::{Cuda, DeviceArray, Emulator, Gpu, Prepared};
