//! What the residuals are evaluated on.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::{plain, CAMERA};

/// Cameras, points, and observations with a feature each.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Rotation 3, translation 3, focal length, distortion 2.
    pub cameras: Vec<[f64; CAMERA]>,
    /// Points in space.
    pub points: Vec<[f64; 3]>,
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
    /// off. The same seed gives the same instance.
    pub fn random(n: usize, m: usize, p: usize, seed: u64) -> Instance {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cameras: Vec<_> = (0..n).map(|_| random_camera(&mut rng)).collect();
        let points: Vec<[f64; 3]> =
            (0..m).map(|_| std::array::from_fn(|_| rng.random_range(-1.0..1.0))).collect();
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
        Instance { cameras, points, camera_of, point_of, features }
    }
}

/// A camera that looks along its negative z axis at the origin.
fn random_camera(rng: &mut ChaCha8Rng) -> [f64; CAMERA] {
    let mut around = |middle: f64, spread: f64| middle + spread * rng.sample::<f64, _>(StandardNormal);
    let r = [around(0.0, 1.0), around(0.0, 1.0), around(0.0, 1.0)];
    let t = [around(0.0, 0.1), around(0.0, 0.1), -6.0];
    let lens = [around(1000.0, 50.0), around(0.0, 0.1), around(0.0, 0.01)];
    [r[0], r[1], r[2], t[0], t[1], t[2], lens[0], lens[1], lens[2]]
}
