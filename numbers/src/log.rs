//! Positive real numbers by their logarithms.

use rev_cpu::prelude::*;

/// A positive real number by its natural logarithm: a product is a sum, which `/=` takes back. A factor of 0 has the
/// logarithm `-∞`, from which nothing leads back, and a negative one NaN.
///
/// The value is `x.repr.exp()`.
#[derive(Clone, Copy, Debug, PartialEq, Reversible)]
pub struct Log<T: Real> {
    /// The natural logarithm.
    pub repr: T,
}

#[reversible]
impl<T: Real> Log<T> {
    /// `self *= y`.
    #[reversible(tangent, inverse_adjoint)]
    pub fn mul_assign(&mut self, by: T) {
        self.repr += by;
    }

    /// The number `x`.
    #[pure]
    pub fn of(x: T) -> T {
        x.ln()
    }

    /// `x y`.
    #[pure]
    pub fn mul(a: T, b: T) -> T {
        a + b
    }

    /// `x / y`.
    #[pure]
    pub fn div(a: T, b: T) -> T {
        a - b
    }

    /// `x + y`: `ln (eᵃ + eᵇ)` without overflow.
    #[pure]
    pub fn add(a: T, b: T) -> T {
        if a < b {
            b + (a - b).softplus()
        } else {
            a + (b - a).softplus()
        }
    }

    /// `x - y` for `x > y`, and NaN for `x < y`: `ln (eᵃ - eᵇ)`, from `ln (1 - e⁻ᵈ)` in the form that is accurate (M. Mächler,
    /// "Accurately computing log(1 - exp(-|a|))", 2012, equation 7).
    #[pure]
    pub fn sub(a: T, b: T) -> T {
        let d = a - b;
        if d < 0.7 {
            a + (-(-d).exp_m1()).ln()
        } else {
            a + (-(-d).exp()).ln_1p()
        }
    }

    /// `xⁿ`.
    #[pure]
    pub fn powi(a: T, n: i32) -> T {
        a * (n as T)
    }

    /// `xᵖ`.
    #[pure]
    pub fn powf(a: T, p: T) -> T {
        a * p
    }

    /// `√x`.
    #[pure]
    pub fn sqrt(a: T) -> T {
        a / 2.0
    }

    /// `1 / x`.
    #[pure]
    pub fn recip(a: T) -> T {
        -a
    }
}
