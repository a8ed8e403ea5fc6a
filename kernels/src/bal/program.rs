//! Residuals and objective as reversible programs, to be differentiated by all but the features, which are data.

use rev_cpu::prelude::*;

use super::CAMERA;
use crate::rotation::rotate;

/// `e += project(camera, point) - feature`.
#[reversible(constant(feature))]
pub fn residual<T: Real>(e: &mut [T; 2], camera: &[T; CAMERA], point: &[T; 3], feature: &[T; 2]) {
    let r = [camera[0], camera[1], camera[2]];
    let mut seen = [T::zero(); 3];
    rotate(&mut seen, &r, point);
    let z = seen[2] + camera[5];
    let (u, v) = (-(seen[0] + camera[3]) / z, -(seen[1] + camera[4]) / z);
    let square = u * u + v * v;
    let scale = camera[6] * (T::one() + square * (camera[7] + square * camera[8]));
    e[0] += scale * u - feature[0];
    e[1] += scale * v - feature[1];
}

/// Adds the residual of each observation.
#[reversible(constant(features))]
pub fn errors<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[camera_of[i]], &points[point_of[i]], &features[i]);
    }
}

/// Adds the residual of each observation, where every observation has a camera and a point of its
/// own: the cotangents of camera and point are then the observation's Jacobian block.
#[reversible(constant(features))]
pub fn residuals_apart<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[i], &points[i], &features[i]);
    }
}

/// `loss += ½ Σ |residual|²`.
#[reversible(constant(features))]
pub fn objective<T: Real>(
    loss: &mut T,
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        let mut e = [T::zero(); 2];
        residual(&mut e, &cameras[camera_of[i]], &points[point_of[i]], &features[i]);
        *loss += 0.5 * (e[0] * e[0] + e[1] * e[1]);
    }
}
