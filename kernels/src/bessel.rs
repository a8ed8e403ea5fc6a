//! Bessel functions of the first kind by their power series:
//!
//! ```text
//! J_ν(z) = Σ_k s_k,   s_0 = (z/2)^ν / ν!,   s_k = -s_{k-1} (z/2)² / (k (k + ν))
//! ```

use rev_cpu::prelude::*;

/// `out += n!` for an integer.
#[reversible]
pub fn factorial(out: &mut i64, n: i64) {
    let mut product: i64 = 1;
    for i in 2..=n {
        mul_int(product, i);
    }
    *out += product;
}

/// `out += J_ν(z)`: terms are added, two by two, until one isn't larger than `tolerance > 0`.
///
/// A term is a power of `q = (z/2)²` times a weight that doesn't depend on `z`. With `c_k = k (k + ν)` and the
/// weight `w` of the second of two terms, they are
///
/// ```text
/// s_k + s_{k+1} = p w (q - c_{k+1}),   w = w_{k-1} / (c_k c_{k+1}),   p the power of the first of them
/// ```
///
/// Constant memory: the power is multiplied and the weight divided, which the opposite takes back up to the
/// rounding of the last bit, so that nothing is kept for the way back (the papers' programs divide by the
/// approximate multiplier, [`approximate_multiply`](fn@crate::multiplier::approximate_multiply)). The power
/// alone overflows where the series has long lost all digits to cancellation, at `z` about 70 in `f64`.
#[reversible]
pub fn bessel_j<T: Real>(out: &mut T, nu: usize, z: T, tolerance: T) {
    let half = 0.5 * z;
    let square = half * half;
    let fourth = square * square;
    let bound = tolerance * square;
    let mut order = 0i64;
    factorial(&mut order, nu as i64);
    let first = half.powi(nu as i32) / (order as T);
    let mut k: i64 = 0;
    let mut power = T::zero();
    let mut weight = T::zero();
    let mut sum = T::zero();
    power += first * square;
    weight += T::one();
    sum += first;
    // near z = 0 the first term is the whole sum to any precision, and a power times 0 isn't taken back
    #[post(k > 0)]
    while fourth * square > T::zero() && (power * weight).abs() > bound {
        k += 2;
        // (k - 1) (k - 1 + ν) from k (k + ν), as in lanes a product of 64-bit integers takes three steps
        let even = k * (k + nu as i64);
        let odd = even - (2 * k + nu as i64 - 1);
        unscale_by(weight, (odd as T) * (even as T));
        sum += power * weight * (square - even as T);
        scale_by(power, fourth);
    }
    *out += sum;
}

/// `out[i] += J_ν(z[i])`.
#[reversible]
pub fn bessel_j_each<T: Real>(out: &mut [T], nu: usize, z: &[T], tolerance: T) {
    for i in par(0..z.len()) {
        bessel_j(&mut out[i], nu, z[i], tolerance);
    }
}

/// The same as plain Rust.
pub mod plain {
    use num_traits::Float;

    /// `J_ν(z)`: terms are added until one isn't larger than `tolerance`.
    pub fn bessel_j<T: Float>(nu: u32, z: T, tolerance: T) -> T {
        let half = z / (T::one() + T::one());
        let square = half * half;
        let (mut k, mut order) = (T::zero(), T::zero());
        let mut s = half.powi(nu as i32);
        for _ in 0..nu {
            order = order + T::one();
            s = s / order;
        }
        let mut sum = s;
        while s.abs() > tolerance {
            k = k + T::one();
            s = -s * square / (k * (k + order));
            sum = sum + s;
        }
        sum
    }

    /// `J_ν(z)` and its derivative, the series derived term by term: `s_k' = (ν + 2k) s_k / z`.
    pub fn gradient<T: Float>(nu: u32, z: T, tolerance: T) -> (T, T) {
        let half = z / (T::one() + T::one());
        let square = half * half;
        let (mut k, mut order) = (T::zero(), T::zero());
        let mut s = half.powi(nu as i32);
        for _ in 0..nu {
            order = order + T::one();
            s = s / order;
        }
        let (mut sum, mut weighted) = (s, s * order);
        while s.abs() > tolerance {
            k = k + T::one();
            s = -s * square / (k * (k + order));
            sum = sum + s;
            weighted = weighted + s * (order + k + k);
        }
        (sum, weighted / z)
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::plain::*;

    #[test]
    fn j2_at_one() {
        let (value, derivative) = gradient(2, 1.0, 1e-16);
        assert_abs_diff_eq!(value, 0.114_903_484_931_900_47f64, epsilon = 1e-15);
        assert_abs_diff_eq!(derivative, 0.210_243_615_881_132_58, epsilon = 1e-15);
        assert_eq!(bessel_j(2, 1.0, 1e-16), value);
    }

    #[test]
    fn other_orders() {
        assert_abs_diff_eq!(bessel_j(0, 2.0, 1e-17), 0.223_890_779_141_235_67f64, epsilon = 1e-15);
        assert_abs_diff_eq!(bessel_j(1, 3.5, 1e-17), 0.137_377_527_362_327_06f64, epsilon = 1e-14);
        assert_eq!(bessel_j(0, 0.0, 1e-17), 1.0f64);
    }
}
