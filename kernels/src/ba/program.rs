//! Residuals and objective as reversible programs, to be differentiated by all but the features, which are data.

use rev_cpu::prelude::*;

use super::CAMERA;
use crate::rotation::rotate;

/// `e += w (project(camera, point) - feature)`.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint, constant(feature)))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent, constant(feature)))]
#[cfg_attr(not(feature = "tangents"), reversible(constant(feature)))]
pub fn residual<T: Real>(e: &mut [T; 2], camera: &[T; CAMERA], point: &[T; 3], weight: T, feature: &[T; 2]) {
    let r = [camera[0], camera[1], camera[2]];
    let centred = [point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]];
    let mut seen = [T::zero(); 3];
    rotate(&mut seen, &r, &centred);
    let nearness = T::one() / seen[2];
    let (u, v) = (fused(seen[0] * nearness), fused(seen[1] * nearness));
    let square = mul_add(u, u, v * v);
    let scale = fused(camera[6] * mul_add(square, mul_add(square, camera[10], camera[9]), T::one()));
    e[0] += fused(weight * (mul_add(scale, u, camera[7]) - feature[0]));
    e[1] += fused(weight * (mul_add(scale, v, camera[8]) - feature[1]));
}

/// Adds the error `1 - w²` of each weight.
#[reversible]
pub fn weight_errors<T: Real>(errors: &mut [T], weights: &[T]) {
    for i in par(0..weights.len()) {
        errors[i] += T::one() - weights[i] * weights[i];
    }
}

/// Adds the residual of each observation, and the error `1 - w²` of each weight.
#[reversible(constant(features))]
pub fn errors<T: Real>(
    residuals: &mut [[T; 2]],
    weight_errors: &mut [T],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[camera_of[i]], &points[point_of[i]], weights[i], &features[i]);
        weight_errors[i] += T::one() - weights[i] * weights[i];
    }
}

/// Adds the residual of each observation, where every observation has a camera and a point of its
/// own: the cotangents of camera, point and weight are then the observation's Jacobian block.
#[reversible(constant(features))]
pub fn residuals_apart<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[i], &points[i], weights[i], &features[i]);
    }
}

/// `loss += ½ (Σ |residual|² + Σ (1 - w²)²)`.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint, constant(features)))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent, constant(features)))]
#[cfg_attr(not(feature = "tangents"), reversible(constant(features)))]
pub fn objective<T: Real>(
    loss: &mut T,
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        let mut e = [T::zero(); 2];
        residual(&mut e, &cameras[camera_of[i]], &points[point_of[i]], weights[i], &features[i]);
        let off = T::one() - weights[i] * weights[i];
        *loss += 0.5 * (e[0] * e[0] + e[1] * e[1] + off * off);
    }
}
