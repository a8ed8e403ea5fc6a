//! Every program of the project's library, with small arguments.

use rev::verify::Sample;

/// The lists of all its crates.
pub fn samples() -> impl Iterator<Item = &'static Sample> {
    let suites = [
        rev_kernels::suite::SAMPLES,
        rev_algebra::suite::SAMPLES,
        rev_networks::suite::SAMPLES,
        rev_classics::suite::SAMPLES,
    ];
    suites.into_iter().flatten()
}
