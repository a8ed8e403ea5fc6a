//! Rotation of a vector by an angle-axis vector (Rodrigues' formula), also by none.
//!
//! ```text
//! R(r) v = v cos θ + (w × v) sin θ + w (w·v) (1 - cos θ),   θ = |r|, w = r / θ
//! R(0) v = v + r × v,   which has the right value and derivative at r = 0
//! ```

use rev_cpu::prelude::*;

/// The square of the smallest angle, 2⁻⁶⁰: in `f64` and `f32` that angle's sine is the angle, its cosine 1, and a
/// quotient by it exact.
const REST: f64 = 1.0 / (1u64 << 60) as f64;

/// `out += R(r) v`.
///
/// For smaller angles `θ` is the smallest one, at which the formula is `v + r × v`.
#[cfg_attr(feature = "adjoints", reversible(tangent, adjoint))]
#[cfg_attr(all(feature = "tangents", not(feature = "adjoints")), reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn rotate<T: Real>(out: &mut [T; 3], r: &[T; 3], v: &[T; 3]) {
    let square = mul_add(r[0], r[0], mul_add(r[1], r[1], r[2] * r[2]));
    let theta = (if square < T::from_f64(REST) { T::from_f64(REST) } else { square }).sqrt();
    let sin = theta.sin();
    let cos = theta.cos();
    let inverse = T::one() / theta;
    let (x, y, z) = (fused(r[0] * inverse), fused(r[1] * inverse), fused(r[2] * inverse));
    let dot = mul_add(x, v[0], mul_add(y, v[1], z * v[2]));
    let along = fused(dot * (T::one() - cos));
    out[0] += fused(v[0] * cos);
    out[1] += fused(v[1] * cos);
    out[2] += fused(v[2] * cos);
    out[0] += fused(mul_add(y, v[2], -(z * v[1])) * sin);
    out[1] += fused(mul_add(z, v[0], -(x * v[2])) * sin);
    out[2] += fused(mul_add(x, v[1], -(y * v[0])) * sin);
    out[0] += fused(x * along);
    out[1] += fused(y * along);
    out[2] += fused(z * along);
}

/// The same as plain Rust, with its derivatives derived by hand.
pub mod plain {
    use num_traits::Float;

    /// `a × b`.
    #[inline]
    pub fn cross<T: Float>(a: &[T; 3], b: &[T; 3]) -> [T; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    /// `a · b`.
    #[inline]
    pub fn dot<T: Float>(a: &[T; 3], b: &[T; 3]) -> T {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// `R(r) v`.
    #[inline]
    pub fn rotate<T: Float>(r: &[T; 3], v: &[T; 3]) -> [T; 3] {
        let square = dot(r, r);
        if square == T::zero() {
            let c = cross(r, v);
            return std::array::from_fn(|i| v[i] + c[i]);
        }
        let theta = square.sqrt();
        let (sin, cos) = theta.sin_cos();
        let w = r.map(|x| x / theta);
        let c = cross(&w, v);
        let along = dot(&w, v) * (T::one() - cos);
        std::array::from_fn(|i| v[i] * cos + c[i] * sin + w[i] * along)
    }

    /// `R(r) v` with its derivatives: `∂/∂r` and `∂/∂v`, each as rows of the result's components.
    #[inline]
    pub fn rotate_jacobian<T: Float>(r: &[T; 3], v: &[T; 3]) -> ([T; 3], [[T; 3]; 3], [[T; 3]; 3]) {
        let (zero, one) = (T::zero(), T::one());
        let square = dot(r, r);
        let mut by_r = [[zero; 3]; 3];
        let mut by_v = [[zero; 3]; 3];
        if square == zero {
            for j in 0..3 {
                let unit: [T; 3] = std::array::from_fn(|i| if i == j { one } else { zero });
                let (by_r_j, by_v_j) = (cross(&unit, v), cross(r, &unit));
                for i in 0..3 {
                    by_r[i][j] = by_r_j[i];
                    by_v[i][j] = unit[i] + by_v_j[i];
                }
            }
            return (rotate(r, v), by_r, by_v);
        }
        let theta = square.sqrt();
        let (sin, cos) = theta.sin_cos();
        let w = r.map(|x| x / theta);
        let (c, along) = (cross(&w, v), dot(&w, v));
        let value = std::array::from_fn(|i| v[i] * cos + c[i] * sin + w[i] * along * (one - cos));
        for j in 0..3 {
            let unit: [T; 3] = std::array::from_fn(|i| if i == j { one } else { zero });
            // ∂θ/∂r_j = w_j, ∂w/∂r_j = (e_j - w w_j) / θ
            let dw: [T; 3] = std::array::from_fn(|i| (unit[i] - w[i] * w[j]) / theta);
            let (dc, dalong, turn) = (cross(&dw, v), dot(&dw, v), cross(&w, &unit));
            for i in 0..3 {
                by_r[i][j] = (c[i] * cos - v[i] * sin + w[i] * along * sin) * w[j]
                    + dc[i] * sin
                    + (dw[i] * along + w[i] * dalong) * (one - cos);
                by_v[i][j] = unit[i] * cos + turn[i] * sin + w[i] * w[j] * (one - cos);
            }
        }
        (value, by_r, by_v)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::plain::*;

    #[test]
    fn a_quarter_turn_about_z() {
        let [x, y, z] = rotate(&[0.0, 0.0, std::f64::consts::FRAC_PI_2], &[1.0, 0.0, 2.0]);
        assert_abs_diff_eq!(x, 0.0, epsilon = 1e-15);
        assert_abs_diff_eq!(y, 1.0, epsilon = 1e-15);
        assert_eq!(z, 2.0);
    }

    #[test]
    fn the_branch_at_zero_continues_the_formula() {
        let v = [0.3, -1.2, 2.5f64];
        let (value, by_r, by_v) = rotate_jacobian(&[0.0; 3], &v);
        let (near, near_r, near_v) = rotate_jacobian(&[1e-7, -2e-7, 3e-7], &v);
        assert_eq!(value, v);
        for i in 0..3 {
            assert_abs_diff_eq!(value[i], near[i], epsilon = 1e-5);
            for j in 0..3 {
                assert_abs_diff_eq!(by_r[i][j], near_r[i][j], epsilon = 1e-5);
                assert_abs_diff_eq!(by_v[i][j], near_v[i][j], epsilon = 1e-5);
            }
        }
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let (r, v, h) = ([0.4, -1.1, 0.7], [0.3, -1.2, 2.5], 1e-5);
        let (_, by_r, by_v) = rotate_jacobian(&r, &v);
        let moved =
            |a: [f64; 3], j: usize, h: f64| std::array::from_fn(|i| if i == j { a[i] + h } else { a[i] });
        for j in 0..3 {
            let (up, down) = (rotate(&moved(r, j, h), &v), rotate(&moved(r, j, -h), &v));
            let (right, left) = (rotate(&r, &moved(v, j, h)), rotate(&r, &moved(v, j, -h)));
            for i in 0..3 {
                assert_abs_diff_eq!(by_r[i][j], (up[i] - down[i]) / (2.0 * h), epsilon = 1e-9);
                assert_abs_diff_eq!(by_v[i][j], (right[i] - left[i]) / (2.0 * h), epsilon = 1e-9);
            }
        }
    }
}
