//! What the residuals are evaluated on.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::{plain, CAMERA};
use crate::rotation::plain::rotate;

/// Cameras, points, and observations with a weight and a feature each.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Rotation 3, centre 3, focal length, principal point 2, radial distortion 2.
    pub cameras: Vec<[f64; CAMERA]>,
    /// Points in space.
    pub points: Vec<[f64; 3]>,
    /// One weight per observation.
    pub weights: Vec<f64>,
    /// Which camera made each observation.
    pub camera_of: Vec<usize>,
    /// Which point it shows.
    pub point_of: Vec<usize>,
    /// Where it was seen.
    pub features: Vec<[f64; 2]>,
}

impl Instance {
    /// The numbers of cameras, points and observations.
    pub fn sizes(&self) -> [usize; 3] {
        [self.cameras.len(), self.points.len(), self.features.len()]
    }

    /// Cameras all around a cloud of points, each of them in view, with features about a pixel
    /// off; cameras and points of the observations are drawn at random (each once first, as far as
    /// the observations go). The same seed gives the same instance.
    pub fn random(n: usize, m: usize, p: usize, seed: u64) -> Instance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cameras: Vec<_> = (0..n).map(|_| random_camera(&mut rng)).collect();
        let points: Vec<[f64; 3]> =
            (0..m).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
        let weights: Vec<f64> = (0..p).map(|_| rng.random_range(0.1..1.0)).collect();
        let mut draw = |i: usize, count: usize| if i < count { i } else { rng.random_range(0..count) };
        let camera_of: Vec<usize> = (0..p).map(|i| draw(i, n)).collect();
        let point_of: Vec<usize> = (0..p).map(|i| draw(i, m)).collect();
        let features = camera_of
            .iter()
            .zip(&point_of)
            .map(|(&c, &x)| plain::project(&cameras[c], &points[x]))
            .map(|[u, v]| {
                [u + rng.sample::<f64, _>(StandardNormal), v + rng.sample::<f64, _>(StandardNormal)]
            })
            .collect();
        Instance { cameras, points, weights, camera_of, point_of, features }
    }
}

fn random_camera(rng: &mut ChaCha8Rng) -> [f64; CAMERA] {
    let r: [f64; 3] = std::array::from_fn(|_| rng.sample(StandardNormal));
    // R (X - c) = R X + (0, 0, distance): the centre is -R⁻¹ (0, 0, distance)
    let c = rotate(&r.map(|x| -x), &[0.0, 0.0, -rng.random_range(4.0..8.0)]);
    let mut around = |middle: f64, spread: f64| middle + spread * rng.sample::<f64, _>(StandardNormal);
    let lens =
        [around(500.0, 50.0), around(0.0, 10.0), around(0.0, 10.0), around(0.0, 0.1), around(0.0, 0.01)];
    [r[0], r[1], r[2], c[0], c[1], c[2], lens[0], lens[1], lens[2], lens[3], lens[4]]
}
