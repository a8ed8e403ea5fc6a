//! The complex logarithm `y += ln|x| + i arg x`.

use rev_cpu::prelude::*;

/// `y += ln|x| + i arg x`.
#[reversible]
pub fn complex_log<T: Real>(y: &mut Complex<T>, x: Complex<T>) {
    let mut n = T::zero();
    n += x.norm();
    y.re += n.ln();
    y.im += x.arg();
}

/// The same as plain Rust.
pub mod plain {
    use num_complex::Complex;
    use num_traits::Float;

    /// `ln|x| + i arg x`.
    pub fn complex_log<T: Float>(x: Complex<T>) -> Complex<T> {
        Complex::new(x.re.hypot(x.im).ln(), x.im.atan2(x.re))
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    #[test]
    fn agrees_with_the_library() {
        for x in [Complex::new(3.0, 2.0), Complex::new(-1.5, 0.3), Complex::new(0.2, -7.0)] {
            let error = (super::plain::complex_log(x) - Complex::<f64>::ln(x)).norm();
            assert!(error < 1e-15);
        }
    }
}
