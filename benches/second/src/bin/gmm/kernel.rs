//! The program of the kernels, with what is derived of it.

#[path = "../../../../../kernels/src/gmm/instance.rs"]
mod instance;
#[path = "../../../../../kernels/src/gmm/program.rs"]
mod program;

pub use instance::Instance;
pub use program::objective;

/// The number of covariance factors of one component.
pub const fn icf_len(d: usize) -> usize {
    d + d * (d - 1) / 2
}
