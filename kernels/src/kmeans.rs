//! The cost of k-means, and the step of Newton's method to better centroids.
//!
//! ```text
//! cost = Σ_i min_c |x_c - p_i|²
//! ```
//!
//! Each point adds to the derivatives by its nearest centroid alone, so the Hessian is diagonal: twice the number of
//! points that are nearest to the centroid.

#[cfg(feature = "tangents")]
use ndarray::Array2;
use ndarray::ArrayView2;
#[cfg(feature = "tangents")]
use rev_core::{device::Device, error::Error};
use rev_cpu::prelude::*;

/// `loss += cost`, of K centroids and N points in D dimensions, one in each row. Of equally near centroids the first counts.
///
/// Which one is nearest is an index, which has no derivative: the adjoint computes nothing for the search. Memory of an
/// iteration: the point, D numbers; the least distances so far, K numbers and K indices.
#[cfg_attr(feature = "tangents", reversible(tangent, constant(points)))]
#[cfg_attr(not(feature = "tangents"), reversible(constant(points)))]
pub fn cost<T: Real>(loss: &mut T, centroids: ArrayView2<T>, points: ArrayView2<T>) {
    let k = centroids.nrows();
    let d = centroids.ncols();
    for i in par(0..points.nrows()) {
        let mut x: Array1<T> = zeros(d);
        for j in 0..d {
            x[j] += points[[i, j]];
        }
        let mut least: Array1<T> = zeros(k);
        let mut nearest: Array1<usize> = zeros(k);
        for c in 0..k {
            let mut square = T::zero();
            for j in 0..d {
                let v = x[j] - centroids[[c, j]];
                square += fused(v * v);
            }
            if c == 0 {
                least[c] += square;
            } else {
                let nearer = square < least[c - 1];
                least[c] += if nearer { square } else { least[c - 1] };
                nearest[c] += if nearer { c } else { nearest[c - 1] };
            }
        }
        for j in 0..d {
            let v = x[j] - centroids[[nearest[k - 1], j]];
            *loss += fused(v * v);
        }
    }
}

/// What GradBench calls `dir`: the gradient of the cost over the diagonal of its Hessian, so that `x - direction` are the
/// means of the points nearest to each centroid. Both come from one sweep, the diagonal as the product of the Hessian
/// with ones. A centroid that is nearest to no point has 0/0, which is NaN.
///
/// # Errors
///
/// What the device reports.
#[cfg(feature = "tangents")]
pub fn direction(
    device: &(impl Device + ?Sized),
    centroids: ArrayView2<f64>,
    points: ArrayView2<f64>,
) -> Result<Array2<f64>, Error> {
    let ones = Array2::ones(centroids.dim());
    let (gradient, diagonal) = cost::gradient_and_hvp(device, ones.view(), centroids, points)?;
    Ok(gradient.centroids / diagonal.centroids)
}

/// The same as plain Rust.
pub mod plain {
    use ndarray::{Array2, ArrayView2, Zip};

    /// The nearest centroid of a point, and the square of its distance.
    fn nearest(centroids: ArrayView2<f64>, point: ndarray::ArrayView1<f64>) -> (usize, f64) {
        let mut best = (0, f64::INFINITY);
        for (c, centroid) in centroids.outer_iter().enumerate() {
            let square = Zip::from(centroid).and(point).fold(0.0, |sum, x, p| sum + (p - x) * (p - x));
            if square < best.1 {
                best = (c, square);
            }
        }
        best
    }

    /// `Σ_i min_c |x_c - p_i|²`.
    pub fn cost(centroids: ArrayView2<f64>, points: ArrayView2<f64>) -> f64 {
        points.outer_iter().map(|point| nearest(centroids, point).1).sum()
    }

    /// `x_c` less the mean of the points that are nearest to it.
    pub fn direction(centroids: ArrayView2<f64>, points: ArrayView2<f64>) -> Array2<f64> {
        let mut sums = Array2::<f64>::zeros(centroids.dim());
        let mut counts = vec![0.0f64; centroids.nrows()];
        for point in points.outer_iter() {
            let (c, _) = nearest(centroids, point);
            sums.row_mut(c).zip_mut_with(&point, |sum, p| *sum += p);
            counts[c] += 1.0;
        }
        let mut direction = centroids.to_owned();
        for ((mut row, sum), n) in direction.outer_iter_mut().zip(sums.outer_iter()).zip(counts) {
            row.zip_mut_with(&sum, |x, sum| *x -= sum / n);
        }
        direction
    }
}
