//! Value and gradient of an instance, by the program that is faster for its dimension.
//!
//! The two programs are one function in two orders. [`objective`] takes one point after the other, in lanes:
//! what belongs to a point stays in the first cache, and each parameter is loaded, and its derivative
//! stored, once for each group of points. That is what a few dimensions need. With D² parameters for
//! each component those loads and stores are most of the work, and [`objective_by_products`] keeps the sums of many points
//! in registers instead, which takes an order of loops that differs: block, component, product. A program says its
//! order of loops, so there are two. (A GPU has a third, [`objective_by_matrices`](super::objective_by_matrices), whose
//! products its library can run; it isn't chosen here.)

use rev_core::device::{Backend, Device};
use rev_core::error::Error;

use super::plain::Gradient;
use super::{objective, objective_by_products, Instance};

/// The number of dimensions from which on products of matrices are faster on a CPU.
pub const PRODUCTS_FROM: usize = 32;

/// Whether products of matrices are the faster way.
fn by_products(device: &(impl Device + ?Sized), i: &Instance) -> bool {
    matches!(device.backend(), Backend::Native(_)) && i.points.ncols() >= PRODUCTS_FROM
}

/// The objective.
///
/// # Errors
///
/// What the device reports.
pub fn value(device: &(impl Device + ?Sized), i: &Instance) -> Result<f64, Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    let mut loss = 0.0;
    if by_products(device, i) {
        objective_by_products::run(device, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m)?;
    } else {
        objective::run(device, &mut loss, &i.alphas, means, icf, points, i.gamma, i.m)?;
    }
    Ok(loss)
}

/// The objective and its gradient by the parameters.
///
/// # Errors
///
/// What the device reports.
pub fn gradient(device: &(impl Device + ?Sized), i: &Instance) -> Result<Gradient<f64>, Error> {
    let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
    if by_products(device, i) {
        let g = objective_by_products::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
        Ok(Gradient { value: g.value, alphas: g.alphas, means: g.means, icf: g.icf })
    } else {
        let g = objective::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
        Ok(Gradient { value: g.value, alphas: g.alphas, means: g.means, icf: g.icf })
    }
}
