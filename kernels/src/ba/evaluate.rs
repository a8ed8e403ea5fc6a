//! What a caller wants of an instance, on any device: errors, Jacobian blocks, the gradient.

use std::ops::Range;

use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::scalar::{Batch, Zero};
use rev_cpu::parts::each_part;

use super::plain::Gradient;
use super::{errors, objective, residuals_apart, weight_errors, Instance, CAMERA, COLUMNS};

/// Residuals of the observations and errors of the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Two per observation.
    pub residuals: Vec<[f64; 2]>,
    /// One per weight.
    pub weight_errors: Vec<f64>,
}

/// Computes all errors.
///
/// # Errors
///
/// What the device reports.
pub fn values(device: &(impl Device + ?Sized), instance: &Instance) -> Result<Values, Error> {
    let i = instance;
    let mut residuals = vec![[0.0; 2]; i.features.len()];
    let mut weight_errors = vec![0.0; i.weights.len()];
    errors::run(
        device,
        &mut residuals,
        &mut weight_errors,
        &i.cameras,
        &i.points,
        &i.weights,
        &i.camera_of,
        &i.point_of,
        &i.features,
    )?;
    Ok(Values { residuals, weight_errors })
}

/// The derivative of each weight's error by the weight.
///
/// # Errors
///
/// What the device reports.
pub fn weight_jacobian(device: &(impl Device + ?Sized), instance: &Instance) -> Result<Vec<f64>, Error> {
    let weights = &instance.weights;
    let n = weights.len();
    let g = weight_errors::vjp(device, &vec![1.0; n], &vec![0.0; n], weights)?;
    Ok(g.weights_bar)
}

/// Residuals and Jacobian blocks of some observations, with the memory to compute others.
///
/// Both rows of a block come from one sweep, in which every number carries two cotangents.
#[derive(Debug, Default)]
pub struct Blocks {
    /// The residuals.
    pub residuals: Vec<[f64; 2]>,
    /// The derivatives of both residuals by the numbers of the camera.
    pub by_camera: Vec<[Batch<f64, 2>; CAMERA]>,
    /// By the coordinates of the point.
    pub by_point: Vec<[Batch<f64, 2>; 3]>,
    /// By the weight.
    pub by_weight: Vec<Batch<f64, 2>>,
    cameras: Vec<[f64; CAMERA]>,
    points: Vec<[f64; 3]>,
    seeds: Vec<[Batch<f64, 2>; 2]>,
    /// Left alone: features are constants.
    by_feature: Vec<[Batch<f64, 2>; 2]>,
}

impl Blocks {
    /// The two rows of a block: camera, point, weight.
    pub fn rows(&self, i: usize) -> [[f64; COLUMNS]; 2] {
        let columns = self.by_camera[i].iter().chain(&self.by_point[i]).chain([&self.by_weight[i]]);
        let mut rows = [[0.0; COLUMNS]; 2];
        for (j, column) in columns.enumerate() {
            [rows[0][j], rows[1][j]] = column.0;
        }
        rows
    }
}

/// Computes residuals and Jacobian blocks of a range of observations.
///
/// The adjoint of a program that only adds to its outputs needs no run before it, and takes the
/// outputs back: started from zero it leaves minus the residuals.
///
/// # Errors
///
/// What the device reports.
pub fn jacobian(
    device: &(impl Device + ?Sized),
    instance: &Instance,
    range: Range<usize>,
    blocks: &mut Blocks,
) -> Result<(), Error> {
    let b = blocks;
    let count = range.len();
    let (camera_of, point_of) = (&instance.camera_of[range.clone()], &instance.point_of[range.clone()]);
    b.cameras.clear();
    b.cameras.extend(camera_of.iter().map(|&c| instance.cameras[c]));
    b.points.clear();
    b.points.extend(point_of.iter().map(|&x| instance.points[x]));
    b.residuals.resize(count, [0.0; 2]);
    b.residuals.as_flattened_mut().fill(0.0);
    zeroed(&mut b.by_camera, count, <[_]>::as_flattened_mut);
    zeroed(&mut b.by_point, count, <[_]>::as_flattened_mut);
    zeroed(&mut b.by_weight, count, |weights| weights);
    b.by_feature.resize(count, Zero::zero());
    b.seeds.resize(count, [Batch([1.0, 0.0]), Batch([0.0, 1.0])]);
    residuals_apart::adjoint(
        device,
        &mut b.residuals,
        &mut b.seeds,
        &b.cameras,
        &mut b.by_camera,
        &b.points,
        &mut b.by_point,
        &instance.weights[range.clone()],
        &mut b.by_weight,
        &instance.features[range],
        &mut b.by_feature,
    )?;
    b.residuals.iter_mut().flatten().for_each(|e| *e = -*e);
    Ok(())
}

/// Computes residuals and Jacobian blocks of all observations, `size` at a time, and hands them to `take` with
/// the range that they are of. A CPU with several threads computes and hands over several ranges at once
/// ([`each_part`]); the memory for each thread's is kept in `blocks`.
///
/// # Errors
///
/// What the device or `take` reports, for the first range of those that failed.
pub fn each_jacobian<E: From<Error> + Send>(
    device: &(impl Device + ?Sized),
    instance: &Instance,
    size: usize,
    blocks: &mut Vec<Blocks>,
    take: impl Fn(Range<usize>, &Blocks) -> Result<(), E> + Sync,
) -> Result<(), E> {
    each_part(device, instance.features.len(), size, blocks, |device, blocks, range| {
        jacobian(device, instance, range.clone(), blocks)?;
        take(range, blocks)
    })
}

/// Resizes a vector of cotangents and zeroes them. The numbers are named where they are zeroed, which the
/// compiler makes a `memset` of; whole elements it would store one after the other.
fn zeroed<T: Copy + Zero>(
    vector: &mut Vec<T>,
    count: usize,
    cotangents: impl Fn(&mut [T]) -> &mut [Batch<f64, 2>],
) {
    vector.resize(count, T::zero());
    cotangents(vector).iter_mut().for_each(|both| both.0 = [0.0; 2]);
}

/// The objective and its gradient.
///
/// # Errors
///
/// What the device reports.
pub fn gradient(device: &(impl Device + ?Sized), instance: &Instance) -> Result<Gradient, Error> {
    let i = instance;
    let g = objective::gradient(
        device,
        &i.cameras,
        &i.points,
        &i.weights,
        &i.camera_of,
        &i.point_of,
        &i.features,
    )?;
    Ok(Gradient { value: g.value, cameras: g.cameras, points: g.points, weights: g.weights })
}
