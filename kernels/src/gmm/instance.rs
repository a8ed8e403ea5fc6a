//! What the mixture's objective is evaluated on.

use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::icf_len;

/// Parameters, points and prior of a mixture of K components in D dimensions with N points.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// `α`, the logarithms of the unnormalised weights: K.
    pub alphas: Vec<f64>,
    /// `μ`, the means: K x D.
    pub means: Array2<f64>,
    /// The inverse covariance factors: K x (D log-diagonals `q`, then the strict lower triangle
    /// `l` by column).
    pub icf: Array2<f64>,
    /// The points: N x D.
    pub points: Array2<f64>,
    /// `γ` of the Wishart prior.
    pub gamma: f64,
    /// `m` of the Wishart prior.
    pub m: usize,
}

impl Instance {
    /// D, K and N.
    pub fn sizes(&self) -> [usize; 3] {
        [self.points.ncols(), self.alphas.len(), self.points.nrows()]
    }

    /// An instance like ADBench's generated ones: `α`, the factors and the points standard normal,
    /// the means uniform in [0, 1), `γ = 1`, `m = 0`. The same seed gives the same instance.
    pub fn random(d: usize, k: usize, n: usize, seed: u64) -> Instance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = |_| rng.sample::<f64, _>(StandardNormal);
        let alphas = (0..k).map(&mut normal).collect();
        let icf = Array2::from_shape_simple_fn((k, icf_len(d)), || normal(0));
        let points = Array2::from_shape_simple_fn((n, d), || normal(0));
        let means = Array2::from_shape_simple_fn((k, d), || rng.random::<f64>());
        Instance { alphas, means, icf, points, gamma: 1.0, m: 0 }
    }
}
