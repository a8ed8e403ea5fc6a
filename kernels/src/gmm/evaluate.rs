//! Value and gradient of an instance, by the program that is fastest for its dimension and the device.
//!
//! The programs are one function in several orders. On a CPU [`objective`] takes one point after the other, in lanes:
//! what belongs to a point stays in the first cache, and each parameter is loaded, and its derivative
//! stored, once for each group of points. That is what a few dimensions need. With D² parameters for
//! each component those loads and stores are most of the work, and [`objective_by_products`] keeps the sums of many points
//! in registers instead, which takes an order of loops that differs: block, component, product. A GPU wants many thousands of
//! threads and products that its library can run, which [`objective_by_matrices`] has. A program says its order of loops, so
//! there are three.

use rev_core::device::{Backend, Device};
use rev_core::error::Error;

use super::plain::Gradient;
use super::{objective, objective_by_matrices, objective_by_products, Instance};

/// The number of dimensions from which on products of matrices are faster on a CPU.
pub const PRODUCTS_FROM: usize = 32;

/// The function of [`objective`]'s arguments that is fastest on a device.
macro_rules! fastest {
    ($device:ident, $i:ident, $program:ident => $run:expr) => {
        if $device.is_gpu() {
            use objective_by_matrices as $program;
            $run
        } else if matches!($device.backend(), Backend::Native(_)) && $i.points.ncols() >= PRODUCTS_FROM {
            use objective_by_products as $program;
            $run
        } else {
            use objective as $program;
            $run
        }
    };
}

/// The objective.
///
/// # Errors
///
/// What the device reports.
pub fn value(device: &(impl Device + ?Sized), i: &Instance) -> Result<f64, Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let mut loss = 0.0;
    fastest!(device, i, program => program::run(device, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m))?;
    Ok(loss)
}

/// The objective and its gradient by the parameters.
///
/// # Errors
///
/// What the device reports.
pub fn gradient(device: &(impl Device + ?Sized), i: &Instance) -> Result<Gradient<f64>, Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    fastest!(device, i, program => {
        let g = program::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
        Ok(Gradient { value: g.value, alphas: g.alphas, means: g.means, icf: g.icf })
    })
}
