//! A Bessel function, whose second and third derivatives are known.

use rev::prelude::*;

/// By sums of Bessel functions (Abramowitz and Stegun 9.1.27): `J2'' = (J0 - 2 J2 + J4)/4`,
/// `J2''' = (-J1 - 3 J1 + 3 J3 - J5)/8`, at 1.
pub const BESSEL_SECOND: f64 = 0.134_466_838_914_568_9;
/// See there.
pub const BESSEL_THIRD: f64 = -0.212_720_254_845_242_5;

/// `out += J_ν(z)` by 12 terms of its power series: `Σ_k s_k`, `s_0 = (z/2)^ν / ν!`,
/// `s_k = -s_{k-1} (z/2)² / (k (k + ν))`.
#[reversible(tangent = 2, adjoint, taylor = 3)]
pub fn bessel<T: Real>(out: &mut T, order: usize, z: T) {
    let square = 0.25 * z * z;
    let mut terms = [T::zero(); 12];
    let mut factorial = T::one();
    for n in 2..order + 1 {
        scale_by(factorial, n as T);
    }
    terms[0] += (0.5 * z).powi(order as i32) / factorial;
    for k in 1..12 {
        let divisor = k * (k + order);
        terms[k] -= terms[k - 1] * square / (divisor as T);
    }
    for k in 0..12 {
        *out += terms[k];
    }
}

/// The second and the third derivative of J2 at 1: a tangent's adjoint, and that of the tangent of a tangent.
pub fn bessel_derivatives(device: &Cpu) -> Result<[f64; 2], Error> {
    let second = bessel::hvp(device, 1.0, 2, 1.0)?.z;
    // the loss of the tangent is the derivative along z_dot
    let third = <bessel as HasTangent>::Tangent::hvp(device, &0.0, 1.0, 0.0, &0.0, 2, 2, 1.0, 1.0)?.z;
    Ok([second, third])
}

/// The same two as Taylor coefficients along the line through 1.
pub fn bessel_taylor(device: &Cpu) -> Result<[f64; 2], Error> {
    let [_, _, second, third] = bessel::directional(device, &0.0, 1.0, &0.0, 2, 1.0)?.out;
    Ok([second, third])
}
