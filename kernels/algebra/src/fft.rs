//! The discrete Fourier transform in place, for lengths that are powers of two, scaled such that it keeps norms:
//!
//! ```text
//! X_k = 1/√n Σ_j x_j e^(-2πi jk/n)
//! ```
//!
//! J. W. Cooley, J. W. Tukey, *An Algorithm for the Machine Calculation of Complex Fourier Series*, Math. Comp. 19 (1965). All of it is
//! exchanges, rotations by known angles and `hadamard`, `(a, b) → ((a + b)/√2, (a - b)/√2)`, so the program undoes itself with no memory:
//! its inverse is the inverse transform, `x_j = 1/√n Σ_k X_k e^(2πi jk/n)`, and its gradient is that of the cotangents. The sums without
//! the factor are √n times as large.
//!
//! A length that isn't a power of two is an error.

use ndarray::{ArrayViewMut1, ArrayViewMut2};
use num_complex::Complex;
use rev_cpu::prelude::*;

/// The logarithm of a power of two.
#[pure]
fn log2_of(n: usize) -> usize {
    (n as f64).log2().round() as usize
}

/// The lowest `count` bits of `k`, in the reverse order.
#[pure]
fn reversed(k: usize, count: usize) -> usize {
    let a = k as u64;
    let b = ((a >> 1) & 0x5555555555555555u64) | ((a & 0x5555555555555555u64) << 1);
    let c = ((b >> 2) & 0x3333333333333333u64) | ((b & 0x3333333333333333u64) << 2);
    let d = ((c >> 4) & 0x0f0f0f0f0f0f0f0fu64) | ((c & 0x0f0f0f0f0f0f0f0fu64) << 4);
    let e = ((d >> 8) & 0x00ff00ff00ff00ffu64) | ((d & 0x00ff00ff00ff00ffu64) << 8);
    let f = ((e >> 16) & 0x0000ffff0000ffffu64) | ((e & 0x0000ffff0000ffffu64) << 16);
    let g = (f >> 32) | (f << 32);
    if count == 0 {
        0
    } else {
        (g >> (64 - count)) as usize
    }
}

/// Brings each element to the place that has its index' bits in the reverse order.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn reverse_bits<T: Real>(mut x: ArrayViewMut1<Complex<T>>) {
    let count = log2_of(x.len());
    #[disjoint(x)]
    for i in par(0..x.len()) {
        let j = reversed(i, count);
        if i < j {
            swap(x[i], x[j]);
        }
    }
}

/// `x := F x`, the transform of the module's head.
///
/// On a GPU each block of a stage has a thread, and with `checks(false)` each pair of elements where a block has 16 pairs or more.
///
/// # Errors
///
/// A length that isn't a power of two.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn fft<T: Real>(mut x: ArrayViewMut1<Complex<T>>) {
    let n = x.len();
    let mut beyond_a_power_of_two = 0usize;
    beyond_a_power_of_two += n & (n - 1);
    release(beyond_a_power_of_two);
    for stage in 0usize..log2_of(n) {
        let half = n >> (stage + 1);
        // the loop of more iterations runs in lanes: along a block, or over the blocks
        if half >= 16 {
            for b in par(0..1usize << stage) {
                let angle = T::pi() * (reversed(b, stage) as T) / ((1usize << stage) as T);
                for k in par(0..half) {
                    let i = 2 * half * b + k;
                    irot(x[i + half].re, x[i + half].im, angle);
                    hadamard(x[i], x[i + half]);
                }
            }
        } else {
            for b in par(0..1usize << stage) {
                let angle = T::pi() * (reversed(b, stage) as T) / ((1usize << stage) as T);
                for k in 0..half {
                    let i = 2 * half * b + k;
                    irot(x[i + half].re, x[i + half].im, angle);
                    hadamard(x[i], x[i + half]);
                }
            }
        }
    }
    reverse_bits(&mut x);
}

/// The transform of 2m real numbers, packed into m complex ones, `z_j = x_2j + i x_(2j+1)`. Afterwards
///
/// ```text
/// z_0 = X_0 + i X_m      z_k = √2 X_k  (0 < k < m)
/// ```
///
/// for the transform `X` of all 2m numbers, of which `X_0` and `X_m` are real and the other half are conjugates. That is an orthogonal map
/// of the 2m numbers. The even and the odd elements' transforms come from one complex transform of length m.
///
/// # Errors
///
/// A length that isn't a power of two.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn real_fft<T: Real>(mut z: ArrayViewMut1<Complex<T>>) {
    let m = z.len();
    fft(&mut z);
    hadamard(z[0].re, z[0].im);
    #[disjoint(z)]
    for k in par(1..(m + 1) / 2) {
        let j = m - k;
        conj(z[j]);
        // now z_k and z_j are E + i O and E - i O of the even and odd elements' transforms
        hadamard(z[k], z[j]);
        irot(z[j].re, z[j].im, T::pi() * (0.5 + (k as T) / (m as T)));
        hadamard(z[k], z[j]);
        conj(z[j]);
    }
    if m > 1 {
        conj(z[m / 2]);
    }
}

/// The transform in two dimensions: of each row, then of each column. Rows and columns are independent.
///
/// # Errors
///
/// A number of rows or columns that isn't a power of two.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn fft2<T: Real>(mut x: ArrayViewMut2<Complex<T>>) {
    for i in par(0..x.nrows()) {
        fft(&mut x.row_mut(i));
    }
    for j in par(0..x.ncols()) {
        fft(&mut x.column_mut(j));
    }
}

/// The same as plain Rust.
pub mod plain {
    use num_complex::Complex;
    use num_traits::Float;

    /// The sums as they are written, in time n²: any length.
    pub fn dft<T: Float>(x: &[Complex<T>]) -> Vec<Complex<T>> {
        let (n, scale) = (x.len(), real::<T>(x.len()).sqrt().recip());
        let turn =
            |j: usize, k: usize| Complex::cis(-(T::one() + T::one()) * pi() * real(j * k % n) / real(n));
        let at = |k| {
            x.iter().enumerate().fold(Complex::new(T::zero(), T::zero()), |sum, (j, &x)| sum + x * turn(j, k))
        };
        (0..n).map(|k| at(k).scale(scale)).collect()
    }

    fn real<T: Float>(n: usize) -> T {
        T::from(n).unwrap_or_else(T::nan)
    }

    fn pi<T: Float>() -> T {
        T::zero().acos() + T::zero().acos()
    }
}
