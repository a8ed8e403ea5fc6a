//! The affine map in place: `y += W x + b`.

use ndarray::ArrayView2;
use rev_cpu::prelude::*;

/// `y += W x + b`.
#[reversible]
pub fn affine<T: Real>(y: &mut [T], w: ArrayView2<T>, b: &[T], x: &[T]) {
    for i in par(0..y.len()) {
        y[i] += b[i];
        for j in 0..x.len() {
            y[i] += w[[i, j]] * x[j];
        }
    }
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::ArrayView2;
    use num_traits::Float;

    /// `y += W x + b`.
    pub fn affine<T: Float>(y: &mut [T], w: ArrayView2<T>, b: &[T], x: &[T]) {
        for ((y, row), &b) in y.iter_mut().zip(w.rows()).zip(b) {
            *y = row.iter().zip(x).fold(*y, |sum, (&w, &x)| sum + w * x) + b;
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::arr2;

    #[test]
    fn a_small_map() {
        let mut y = [1.0, 2.0];
        super::plain::affine(
            &mut y,
            arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).view(),
            &[10.0, 20.0],
            &[1.0, 0.0, -1.0],
        );
        assert_eq!(y, [1.0 - 2.0 + 10.0, 2.0 - 2.0 + 20.0]);
    }
}
