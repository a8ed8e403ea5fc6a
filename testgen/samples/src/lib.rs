//! Every program of the library on small arguments, with all that devices need of it. The lists of the library's crates are
//! constants, whose programs would be compiled in each test and report that names them; here they are compiled once.

use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::verify::Sample;
use rev_kernels::ba;

static KERNELS: &[Sample] = rev_kernels::suite::SAMPLES;
static ALGEBRA: &[Sample] = rev_algebra::suite::SAMPLES;
static NETWORKS: &[Sample] = rev_networks::suite::SAMPLES;
static CLASSICS: &[Sample] = rev_classics::suite::SAMPLES;

/// The programs of `rev-kernels`.
pub fn kernels() -> &'static [Sample] {
    KERNELS
}

/// The programs of all crates of the library.
pub fn all() -> impl Iterator<Item = &'static Sample> {
    [KERNELS, ALGEBRA, NETWORKS, CLASSICS].into_iter().flatten()
}

/// The gradient of bundle adjustment of any size.
///
/// # Errors
///
/// What the device reports.
pub fn bundle_gradient(device: &dyn Device, instance: &ba::Instance) -> Result<ba::plain::Gradient, Error> {
    ba::gradient(device, instance)
}
