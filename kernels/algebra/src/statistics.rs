//! Moments of samples and densities of normal distributions.
//!
//! ```text
//! mean x̄ = 1/n Σ x_i      covariance = 1/(n-1) Σ (a_i - ā)(b_i - b̄)      variance = that of x with itself
//! ln N(x; μ, σ) = -((x - μ)/σ)²/2 - ln σ - ln √(2π)
//! ln N(x; μ, Σ) = -(x - μ)ᵀ Σ⁻¹ (x - μ)/2 - (ln det Σ)/2 - d ln √(2π)
//! ```
//!
//! Deviations are formed from the mean, in a second pass, so they don't cancel where the mean is large (T. F. Chan, G. H. Golub,
//! R. J. LeVeque, *Algorithms for Computing the Sample Variance*, The American Statistician 37, 1983).

use crate::factorize::cholesky::cholesky;
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};
use rev_cpu::prelude::*;

/// `y += x̄`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn mean<T: Real>(y: &mut T, x: &[T]) {
    let mut sum = T::zero();
    for i in par(0..x.len()) {
        sum += x[i];
    }
    *y += sum / (x.len() as T);
}

/// `y +=` the covariance of two samples of equal length, at least 2, whose `i`-th numbers belong together.
///
/// # Errors
///
/// Samples of different lengths.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn covariance<T: Real>(y: &mut T, a: &[T], b: &[T]) {
    let mut difference_in_length = 0usize;
    difference_in_length += a.len() - b.len();
    release(difference_in_length);
    let mut centre = (T::zero(), T::zero());
    let mut sum = T::zero();
    mean(&mut centre.0, &a);
    mean(&mut centre.1, &b);
    for i in par(0..a.len()) {
        sum += (a[i] - centre.0) * (b[i] - centre.1);
    }
    *y += sum / ((a.len() - 1) as T);
}

/// `y +=` the variance of at least two numbers.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn variance<T: Real>(y: &mut T, x: &[T]) {
    covariance(&mut y, &x, &x);
}

/// `y +=` the correlation coefficient: the covariance over the product of the standard deviations, between -1 and 1.
///
/// # Errors
///
/// Samples of different lengths.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn correlation<T: Real>(y: &mut T, a: &[T], b: &[T]) {
    let mut both = T::zero();
    let mut of_a = T::zero();
    let mut of_b = T::zero();
    covariance(&mut both, &a, &b);
    variance(&mut of_a, &a);
    variance(&mut of_b, &b);
    *y += both / (of_a * of_b).sqrt();
}

/// `c +=` the covariances of the columns of `x`, in which each row is an observation: d × d for d columns. Memory: as much as `x`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn covariance_matrix<T: Real>(mut c: ArrayViewMut2<T>, x: ArrayView2<T>) {
    let mut centre: Array1<T> = zeros(x.ncols());
    let mut deviations: Array2<T> = zeros((x.nrows(), x.ncols()));
    centre += column_sums(x);
    deviations += entries(x);
    for i in par(0..x.nrows()) {
        for j in 0..x.ncols() {
            deviations[[i, j]] -= centre[j] / (x.nrows() as T);
        }
    }
    c += T::one() / ((x.nrows() - 1) as T) * matmul(deviations.t(), deviations);
}

/// `y += ln N(x; μ, σ)` for a standard deviation above 0.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn normal_log_density<T: Real>(y: &mut T, x: T, mean: T, deviation: T) {
    let z = (x - mean) / deviation;
    *y -= 0.5 * z * z + deviation.ln() + 0.5 * (2.0 * T::pi()).ln();
}

/// `y += Σ ln N(x_i; μ, Σ)` over the rows of `x`, for d × d covariances of which the lower triangle is read. Memory: d² numbers, and d in
/// each iteration.
///
/// # Errors
///
/// Covariances that aren't positive definite.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn multivariate_normal<T: Real>(
    y: &mut T,
    x: ArrayView2<T>,
    mean: ArrayView1<T>,
    covariance: ArrayView2<T>,
) {
    let d = mean.len();
    let mut l: Array2<T> = zeros((d, d));
    l += contract("ij:lower->ij", covariance);
    cholesky(&mut l);
    for i in par(0..x.nrows()) {
        let mut z: Array1<T> = zeros(d);
        for j in 0..d {
            z[j] += x[[i, j]] - mean[j];
            for k in 0..j {
                z[j] -= l[[j, k]] * z[k];
            }
            unscale_by(z[j], l[[j, j]]);
            *y -= 0.5 * z[j] * z[j] + l[[j, j]].ln() + 0.5 * (2.0 * T::pi()).ln();
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use crate::factorize::{cholesky, triangular};
    use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
    use num_traits::Float;

    fn real<T: Float>(n: usize) -> T {
        T::from(n).unwrap_or_else(T::nan)
    }

    /// `x̄`.
    pub fn mean<T: Float>(x: &[T]) -> T {
        x.iter().fold(T::zero(), |sum, &x| sum + x) / real(x.len())
    }

    /// The covariance of two samples.
    pub fn covariance<T: Float>(a: &[T], b: &[T]) -> T {
        let (p, q) = (mean(a), mean(b));
        a.iter().zip(b).fold(T::zero(), |sum, (&a, &b)| sum + (a - p) * (b - q)) / real(a.len() - 1)
    }

    /// The variance of a sample.
    pub fn variance<T: Float>(x: &[T]) -> T {
        covariance(x, x)
    }

    /// The correlation coefficient.
    pub fn correlation<T: Float>(a: &[T], b: &[T]) -> T {
        covariance(a, b) / (covariance(a, a) * covariance(b, b)).sqrt()
    }

    /// The covariances of columns.
    pub fn covariance_matrix<T: Float + 'static>(x: ArrayView2<T>) -> Array2<T> {
        let centre = x.sum_axis(Axis(0)).mapv(|sum| sum / real(x.nrows()));
        let deviations = &x - &centre;
        deviations.t().dot(&deviations).mapv(|sum| sum / real(x.nrows() - 1))
    }

    /// `ln √(2π)`.
    fn log_root<T: Float>() -> T {
        T::from(0.5 * std::f64::consts::TAU.ln()).unwrap_or_else(T::nan)
    }

    /// `ln N(x; μ, σ)`.
    pub fn normal_log_density<T: Float>(x: T, mean: T, deviation: T) -> T {
        let z = (x - mean) / deviation;
        -z * z / real(2) - deviation.ln() - log_root()
    }

    /// `Σ ln N(x_i; μ, Σ)` over the rows of `x`; `None` for covariances that aren't positive definite.
    pub fn multivariate_normal<T: Float>(
        x: ArrayView2<T>,
        mean: ArrayView1<T>,
        covariance: ArrayView2<T>,
    ) -> Option<T> {
        let l = cholesky::plain::cholesky(covariance)?;
        let mut z = (&x - &mean).reversed_axes();
        triangular::plain::solve_lower(z.view_mut(), l.view());
        let squares = z.fold(T::zero(), |sum, &z| sum + z * z);
        let constants = l.diag().fold(T::zero(), |sum, l| sum + l.ln() + log_root());
        Some(-squares / real(2) - real::<T>(x.nrows()) * constants)
    }
}
