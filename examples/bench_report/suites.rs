//! Every program of the project's library, with small arguments.

use rev::verify::Sample;

/// The lists of all its crates.
pub fn samples() -> impl Iterator<Item = &'static Sample> {
    [rev_kernels::suite::SAMPLES].into_iter().flatten()
}
