//! Residuals, Jacobian blocks and gradient as plain sequential Rust: the yardstick.

use num_traits::Float;

use super::{Instance, CAMERA, COLUMNS};
use crate::rotation::plain::{dot, rotate, rotate_jacobian};

/// Where a camera sees a point.
#[inline]
pub fn project<T: Float>(camera: &[T; CAMERA], point: &[T; 3]) -> [T; 2] {
    let [r0, r1, r2, t0, t1, t2, f, k1, k2] = *camera;
    let [x, y, z] = rotate(&[r0, r1, r2], point);
    let (x, y, z) = (x + t0, y + t1, z + t2);
    let (u, v) = (-x / z, -y / z);
    let square = u * u + v * v;
    let scale = f * (T::one() + k1 * square + k2 * square * square);
    [scale * u, scale * v]
}

/// The residual of an observation.
#[inline]
pub fn residual<T: Float>(camera: &[T; CAMERA], point: &[T; 3], feature: &[T; 2]) -> [T; 2] {
    let [u, v] = project(camera, point);
    [u - feature[0], v - feature[1]]
}

/// The residual and its 2x12 Jacobian block: camera, point.
#[inline]
pub fn residual_jacobian<T: Float>(
    camera: &[T; CAMERA],
    point: &[T; 3],
    feature: &[T; 2],
) -> ([T; 2], [[T; COLUMNS]; 2]) {
    let [r0, r1, r2, t0, t1, t2, f, k1, k2] = *camera;
    let ([x, y, z], by_r, by_v) = rotate_jacobian(&[r0, r1, r2], point);
    let (x, y, z) = (x + t0, y + t1, z + t2);
    let u = [-x / z, -y / z];
    let square = u[0] * u[0] + u[1] * u[1];
    let distortion = T::one() + k1 * square + k2 * square * square;
    let slope = k1 + (k2 + k2) * square; // of the distortion in |p|²
    let mut jacobian = [[T::zero(); COLUMNS]; 2];
    for (i, row) in jacobian.iter_mut().enumerate() {
        // ∂(u_i distortion)/∂u, then ∂u/∂P
        let mut by_u = [u[i] * (slope + slope) * u[0], u[i] * (slope + slope) * u[1]];
        by_u[i] = by_u[i] + distortion;
        let by_p = [-f * by_u[0] / z, -f * by_u[1] / z, -f * (by_u[0] * u[0] + by_u[1] * u[1]) / z];
        for j in 0..3 {
            row[j] = dot(&by_p, &by_r.map(|r| r[j]));
            row[3 + j] = by_p[j];
            row[CAMERA + j] = dot(&by_p, &by_v.map(|v| v[j]));
        }
        row[6] = u[i] * distortion;
        row[7] = f * u[i] * square;
        row[8] = f * u[i] * square * square;
    }
    (std::array::from_fn(|i| f * u[i] * distortion - feature[i]), jacobian)
}

/// The residuals of all observations.
pub fn residuals(instance: &Instance) -> Vec<[f64; 2]> {
    let one = |i: usize| {
        let (camera, point) = (instance.camera_of[i], instance.point_of[i]);
        residual(&instance.cameras[camera], &instance.points[point], &instance.features[i])
    };
    (0..instance.features.len()).map(one).collect()
}

/// `½ Σ |residual|²` and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The objective.
    pub value: f64,
    /// By the cameras.
    pub cameras: Vec<[f64; CAMERA]>,
    /// By the points.
    pub points: Vec<[f64; 3]>,
}

/// The objective and its gradient.
pub fn gradient(instance: &Instance) -> Gradient {
    let [n, m, p] = instance.sizes();
    let mut gradient = Gradient { value: 0.0, cameras: vec![[0.0; CAMERA]; n], points: vec![[0.0; 3]; m] };
    for i in 0..p {
        let (camera, point) = (instance.camera_of[i], instance.point_of[i]);
        let (e, j) =
            residual_jacobian(&instance.cameras[camera], &instance.points[point], &instance.features[i]);
        gradient.value += 0.5 * (e[0] * e[0] + e[1] * e[1]);
        let pulled: [f64; COLUMNS] = std::array::from_fn(|c| e[0] * j[0][c] + e[1] * j[1][c]);
        gradient.cameras[camera].iter_mut().zip(&pulled).for_each(|(g, d)| *g += d);
        gradient.points[point].iter_mut().zip(&pulled[CAMERA..]).for_each(|(g, d)| *g += d);
    }
    gradient
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    /// The first camera and point of a Dubrovnik subset: the published start of the problem has
    /// residuals of a few pixels.
    #[test]
    fn a_real_camera_projects_near_its_feature() {
        let camera = [
            -1.694_398_353_219_811_5e-2,
            1.117_180_467_651_393_2e-2,
            2.464_350_883_171_199e-3,
            7.303_099_568_261_069e-1,
            -2.649_081_847_104_342e-1,
            -1.712_789_262_733_718_2,
            1.430_031_943_271_168e3,
            -7.557_275_853_586_407e-8,
            3.237_756_946_557_091e-14,
        ];
        let point = [-1.205_599_505_070_086_7e1, 1.283_877_597_620_576e1, -4.109_936_926_408_28e1];
        let e = residual(&camera, &point, &[-3.859_9e2, 3.871_2e2]);
        assert!(e.into_iter().all(|x: f64| x.abs() < 10.0), "{e:?}");
    }

    #[test]
    fn blocks_agree_with_finite_differences_also_at_angle_zero() {
        let mut instance = Instance::random(3, 4, 6, 17);
        instance.cameras[2][..3].fill(0.0);
        for i in 0..6 {
            let camera = instance.cameras[instance.camera_of[i]];
            let (point, feature) = (instance.points[instance.point_of[i]], instance.features[i]);
            let (value, jacobian) = residual_jacobian(&camera, &point, &feature);
            let exact = residual(&camera, &point, &feature);
            let h = 1e-4;
            for column in 0..COLUMNS {
                let at = |h: f64| {
                    let (mut camera, mut point) = (camera, point);
                    match column {
                        0..CAMERA => camera[column] += h,
                        _ => point[column - CAMERA] += h,
                    }
                    residual(&camera, &point, &feature)
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
    fn the_gradient_is_the_jacobian_transposed_times_the_residuals() {
        let instance = Instance::random(2, 3, 12, 3);
        let gradient = gradient(&instance);
        let value = |i: &Instance| 0.5 * residuals(i).into_iter().flatten().map(|x| x * x).sum::<f64>();
        assert_abs_diff_eq!(gradient.value, value(&instance), epsilon = 1e-9 * gradient.value);
        let at = |h: f64| {
            let mut moved = instance.clone();
            moved.points[1][2] += h;
            value(&moved)
        };
        let (h, g) = (1e-4, gradient.points[1][2]);
        let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert_abs_diff_eq!(g, slope, epsilon = 1e-7 * (1.0 + g.abs() + slope.abs()));
    }
}
