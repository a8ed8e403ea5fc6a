//! Residuals, Jacobian blocks and gradient as plain sequential Rust: the yardstick.

use num_traits::Float;

use super::{Instance, CAMERA, COLUMNS};
use crate::rotation::plain::{dot, rotate, rotate_jacobian};

/// Where a camera sees a point.
#[inline]
pub fn project<T: Float>(camera: &[T; CAMERA], point: &[T; 3]) -> [T; 2] {
    let [r0, r1, r2, c0, c1, c2, f, x0, y0, k1, k2] = *camera;
    let [x, y, z] = rotate(&[r0, r1, r2], &[point[0] - c0, point[1] - c1, point[2] - c2]);
    let (u, v) = (x / z, y / z);
    let square = u * u + v * v;
    let distortion = T::one() + k1 * square + k2 * square * square;
    [f * u * distortion + x0, f * v * distortion + y0]
}

/// The residual of an observation.
#[inline]
pub fn residual<T: Float>(camera: &[T; CAMERA], point: &[T; 3], weight: T, feature: &[T; 2]) -> [T; 2] {
    let [u, v] = project(camera, point);
    [weight * (u - feature[0]), weight * (v - feature[1])]
}

/// The error of a weight.
#[inline]
pub fn weight_error<T: Float>(weight: T) -> T {
    T::one() - weight * weight
}

/// The derivative of a weight's error.
#[inline]
pub fn weight_jacobian<T: Float>(weight: T) -> T {
    -(weight + weight)
}

/// The residual and its 2x15 Jacobian block: camera, point, weight.
#[inline]
pub fn residual_jacobian<T: Float>(
    camera: &[T; CAMERA],
    point: &[T; 3],
    weight: T,
    feature: &[T; 2],
) -> ([T; 2], [[T; COLUMNS]; 2]) {
    let [r0, r1, r2, c0, c1, c2, f, x0, y0, k1, k2] = *camera;
    let centred = [point[0] - c0, point[1] - c1, point[2] - c2];
    let ([x, y, z], by_r, by_v) = rotate_jacobian(&[r0, r1, r2], &centred);
    let u = [x / z, y / z];
    let square = u[0] * u[0] + u[1] * u[1];
    let distortion = T::one() + k1 * square + k2 * square * square;
    let slope = k1 + (k2 + k2) * square; // of the distortion in |u|²
    let off = [f * u[0] * distortion + x0 - feature[0], f * u[1] * distortion + y0 - feature[1]];
    let mut jacobian = [[T::zero(); COLUMNS]; 2];
    for (i, row) in jacobian.iter_mut().enumerate() {
        let scale = weight * f;
        // ∂(u_i distortion)/∂u, then ∂u/∂X' for X' = (x, y, z)
        let mut by_u = [u[i] * (slope + slope) * u[0], u[i] * (slope + slope) * u[1]];
        by_u[i] = by_u[i] + distortion;
        let by_x = [by_u[0] / z, by_u[1] / z, -(by_u[0] * u[0] + by_u[1] * u[1]) / z];
        for j in 0..3 {
            row[j] = scale * dot(&by_x, &by_r.map(|r| r[j]));
            row[CAMERA + j] = scale * dot(&by_x, &by_v.map(|v| v[j]));
            row[3 + j] = -row[CAMERA + j];
        }
        row[6] = weight * u[i] * distortion;
        row[7 + i] = weight;
        row[9] = scale * u[i] * square;
        row[10] = scale * u[i] * square * square;
        row[COLUMNS - 1] = off[i];
    }
    (off.map(|x| weight * x), jacobian)
}

/// The residuals of all observations.
pub fn residuals(instance: &Instance) -> Vec<[f64; 2]> {
    let one = |i: usize| {
        let (camera, point) = (instance.camera_of[i], instance.point_of[i]);
        let (camera, point) = (&instance.cameras[camera], &instance.points[point]);
        residual(camera, point, instance.weights[i], &instance.features[i])
    };
    (0..instance.features.len()).map(one).collect()
}

/// The errors of all weights.
pub fn weight_errors(instance: &Instance) -> Vec<f64> {
    instance.weights.iter().map(|&w| weight_error(w)).collect()
}

/// `½ (Σ |residual|² + Σ weight error²)` and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The objective.
    pub value: f64,
    /// By the cameras.
    pub cameras: Vec<[f64; CAMERA]>,
    /// By the points.
    pub points: Vec<[f64; 3]>,
    /// By the weights.
    pub weights: Vec<f64>,
}

/// The objective and its gradient.
pub fn gradient(instance: &Instance) -> Gradient {
    let [n, m, p] = instance.sizes();
    let mut gradient = Gradient {
        value: 0.0,
        cameras: vec![[0.0; CAMERA]; n],
        points: vec![[0.0; 3]; m],
        weights: vec![0.0; p],
    };
    for i in 0..p {
        let (camera, point, weight) = (instance.camera_of[i], instance.point_of[i], instance.weights[i]);
        let (e, j) = residual_jacobian(
            &instance.cameras[camera],
            &instance.points[point],
            weight,
            &instance.features[i],
        );
        let error = weight_error(weight);
        gradient.value += 0.5 * (e[0] * e[0] + e[1] * e[1] + error * error);
        let pulled: [f64; COLUMNS] = std::array::from_fn(|c| e[0] * j[0][c] + e[1] * j[1][c]);
        gradient.cameras[camera].iter_mut().zip(&pulled).for_each(|(g, d)| *g += d);
        gradient.points[point].iter_mut().zip(&pulled[CAMERA..]).for_each(|(g, d)| *g += d);
        gradient.weights[i] += pulled[COLUMNS - 1] + error * weight_jacobian(weight);
    }
    gradient
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    /// The camera, point and feature of ADBench's smallest instance with the values published for it.
    #[test]
    fn the_values_of_adbench_at_its_test_instance() {
        let camera = [
            1.797201, 0.590697, -0.635786, 90.859550, 29.361415, 28.777534, 211.628116, -0.284531,
            -14.762924, 0.058931, 0.069976,
        ];
        let got = residual(&camera, &[4.173048, 5.586898, 1.403869], 0.417022, &[-525.672849, 161.811929]);
        for (got, expected) in got.into_iter().zip([-0.269_048_849_235_189_4, 0.259_944_792_677_901_9]) {
            assert_abs_diff_eq!(got, expected, epsilon = 1e-8);
        }
        assert_abs_diff_eq!(weight_error(0.417022), 0.826_092_651_516f64, epsilon = 1e-15);
    }

    #[test]
    fn blocks_agree_with_finite_differences_also_at_angle_zero() {
        let mut instance = Instance::random(3, 4, 6, 11);
        instance.cameras[1][..6].copy_from_slice(&[0.0, 0.0, 0.0, 0.1, 0.2, -6.0]);
        for i in 0..6 {
            let camera = instance.cameras[instance.camera_of[i]];
            let point = instance.points[instance.point_of[i]];
            let (weight, feature) = (instance.weights[i], instance.features[i]);
            let (value, jacobian) = residual_jacobian(&camera, &point, weight, &feature);
            let exact = residual(&camera, &point, weight, &feature);
            let h = 1e-4;
            for column in 0..COLUMNS {
                let at = |h: f64| {
                    let (mut camera, mut point, mut weight) = (camera, point, weight);
                    match column {
                        0..CAMERA => camera[column] += h,
                        14 => weight += h,
                        _ => point[column - CAMERA] += h,
                    }
                    residual(&camera, &point, weight, &feature)
                };
                let [[a, b], [c, d]] = [[at(h), at(-h)], [at(2.0 * h), at(-2.0 * h)]];
                for row in 0..2 {
                    assert_abs_diff_eq!(value[row], exact[row], epsilon = 1e-9);
                    let slope = (8.0 * (a[row] - b[row]) - (c[row] - d[row])) / (12.0 * h);
                    let error = (jacobian[row][column] - slope).abs();
                    let size = 1.0 + slope.abs() + jacobian[row][column].abs();
                    assert!(error / size < 1e-7, "column {column}: {} and {slope}", jacobian[row][column]);
                }
            }
        }
    }

    #[test]
    fn the_gradient_sums_over_the_observations_of_a_parameter() {
        let instance = Instance::random(2, 3, 12, 3);
        let gradient = gradient(&instance);
        let value = |instance: &Instance| {
            let squares = residuals(instance).into_iter().flatten().map(|x| x * x).sum::<f64>();
            0.5 * (squares + weight_errors(instance).into_iter().map(|x| x * x).sum::<f64>())
        };
        assert_abs_diff_eq!(gradient.value, value(&instance), epsilon = 1e-9);
        let check = |g: f64, move_by: &dyn Fn(&mut Instance, f64)| {
            let at = |h: f64| {
                let mut moved = instance.clone();
                move_by(&mut moved, h);
                value(&moved)
            };
            let h = 1e-4;
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            assert_abs_diff_eq!(g, slope, epsilon = 1e-7 * (1.0 + g.abs() + slope.abs()));
        };
        check(gradient.cameras[1][0], &|i, h| i.cameras[1][0] += h);
        check(gradient.cameras[0][6], &|i, h| i.cameras[0][6] += h);
        check(gradient.points[2][1], &|i, h| i.points[2][1] += h);
        check(gradient.weights[5], &|i, h| i.weights[5] += h);
    }
}
