//! Every program of this crate on small arguments: what each device has to give the same bits for, in the
//! deterministic mode. The tests of the devices and the report on a GPU run this list.

use crate::{
    affine, ba, bal, bessel, complex_log, exponential, fibonacci, gmm, ising_chain, kmeans, leapfrog,
    log_sum_exp, multiplier, norm,
};
use ndarray::{arr2, Array2};
use num_complex::Complex;
use rev_core::verify::{Outputs, Sample};
use rev_cpu::prelude::*;

macro_rules! samples {
    ($($name:literal, $on_gpu:literal, |$device:ident| $run:expr;)*) => {
        /// The programs.
        pub const SAMPLES: &[Sample] = &[$(Sample { name: $name, on_gpu: $on_gpu, run: |$device| $run }),*];
    };
}

samples! {
    "multiplication", true, |d| {
        let mut y = 2.0;
        multiplier::multiplier::run(d, &mut y, 3.0, 5.0)?;
        Ok(Outputs::new().with("y", &y))
    };
    "norm, gradient", true, |d| Ok(Outputs::new().with("x", &norm::norm::gradient(d, &[1.0, 2.0, 3.0])?.x));
    "complex logarithm and its inverse", true, |d| {
        let (mut y, z) = (Complex::new(0.0, 0.0), Complex::new(3.0, 2.0));
        complex_log::complex_log::run(d, &mut y, z)?;
        let there = y;
        complex_log::complex_log::run_inverse(d, &mut y, z)?;
        Ok(Outputs::new().with("there", &there).with("back", &y))
    };
    "affine map", true, |d| {
        let w = arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]);
        let mut y = [1.0, 2.0];
        affine::affine::run(d, &mut y, w.view(), &[10.0, 20.0], &[1.0, 0.5, -1.0])?;
        Ok(Outputs::new().with("y", &y))
    };
    "Bessel function, gradient", true, |d| {
        let g = bessel::bessel_j::gradient(d, 2, 1.0f64, 1e-10)?;
        Ok(Outputs::new().with("value", &g.value).with("z", &g.z))
    };
    "Bessel function at many points and its inverse", true, |d| {
        let z: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.01).collect();
        let mut out = vec![0.0; z.len()];
        bessel::bessel_j_each::run(d, &mut out, 2, &z, 1e-10)?;
        let there = out.clone();
        bessel::bessel_j_each::run_inverse(d, &mut out, 2, &z, 1e-10)?;
        Ok(Outputs::new().with("there", &there).with("back", &out))
    };
    "exponential series, gradient", true, |d| {
        let g = exponential::exponential::gradient(d, 1.6f64, 1e-10)?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x))
    };
    "Fibonacci number by recursion", false, |d| {
        let mut n = 0;
        fibonacci::fibonacci::run(d, &mut n, 12)?;
        Ok(Outputs::new().with("n", &n))
    };
    "first Fibonacci number from a bound on", true, |d| {
        let mut n = 0;
        fibonacci::first_at_least::run(d, &mut n, 100)?;
        Ok(Outputs::new().with("n", &n))
    };
    "recursion over odd steps", false, |d| {
        let mut n = 0;
        fibonacci::by_odd_steps::run(d, &mut n, 9)?;
        Ok(Outputs::new().with("n", &n))
    };
    "leapfrog in fixed point", true, |d| {
        let (mut x, mut v) = (Fixed43::from_num(1.0), Fixed43::from_num(0.0));
        leapfrog::leapfrog::run(d, &mut x, &mut v, Fixed43::from_num(0.01), 500)?;
        Ok(Outputs::new().with("x", &x).with("v", &v))
    };
    "log-sum-exp, gradient", true, |d| {
        let g = log_sum_exp::log_sum_exp::gradient(d, &[1.0, 2.0, 3.0])?;
        Ok(Outputs::new().with("value", &g.value).with("x", &g.x))
    };
    "Gaussian mixture, gradient", true, |d| {
        let i = gmm::Instance { gamma: 1.3, m: 2, ..gmm::Instance::random(2, 3, 300, 3) };
        let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
        let g = gmm::objective::gradient(d, &i.alphas, means, icf, points, i.gamma, i.m)?;
        let outputs = Outputs::new().with("value", &g.value).with("alphas", &g.alphas);
        Ok(outputs.with("means", &g.means).with("icf", &g.icf))
    };
    "k-means, gradient", true, |d| {
        let [centroids, points] =
            [(3, 0.9), (70, 1.7)].map(|(n, by)| Array2::from_shape_fn((n, 2), |(i, j)| f64::sin(by * (2 * i + j) as f64)));
        let g = kmeans::cost::gradient(d, centroids.view(), points.view())?;
        Ok(Outputs::new().with("value", &g.value).with("centroids", &g.centroids))
    };
    "bundle adjustment, values", true, |d| {
        let values = ba::values(d, &ba::Instance::random(2, 4, 20, 5))?;
        Ok(Outputs::new().with("residuals", &values.residuals).with("weights", &values.weight_errors))
    };
    "bundle adjustment, Jacobian", true, |d| {
        let mut blocks = ba::Blocks::default();
        ba::jacobian(d, &ba::Instance::random(2, 4, 20, 5), 0..20, &mut blocks)?;
        let rows: Vec<_> = (0..20).map(|k| blocks.rows(k)).collect();
        Ok(Outputs::new().with("residuals", &blocks.residuals).with("rows", &rows))
    };
    "bundle adjustment, gradient", true, |d| {
        let g = ba::gradient(d, &ba::Instance::random(2, 4, 20, 5))?;
        let outputs = Outputs::new().with("value", &g.value).with("cameras", &g.cameras);
        Ok(outputs.with("points", &g.points).with("weights", &g.weights))
    };
    "bundle adjustment with BAL's camera, values", true, |d| {
        Ok(Outputs::new().with("residuals", &bal::values(d, &bal::Instance::random(2, 4, 20, 5))?))
    };
    "bundle adjustment with BAL's camera, Jacobian", true, |d| {
        let mut blocks = bal::Blocks::default();
        bal::jacobian(d, &bal::Instance::random(2, 4, 20, 5), 0..20, &mut blocks)?;
        let rows: Vec<_> = (0..20).map(|k| blocks.rows(k)).collect();
        Ok(Outputs::new().with("residuals", &blocks.residuals).with("rows", &rows))
    };
    "bundle adjustment with BAL's camera, gradient", true, |d| {
        let g = bal::gradient(d, &bal::Instance::random(2, 4, 20, 5))?;
        Ok(Outputs::new().with("value", &g.value).with("cameras", &g.cameras).with("points", &g.points))
    };
    "energy of a spin chain by a circuit, gradient", true, |d| {
        let angles = |n, by: f64| Array2::from_shape_fn((2, n), |(i, j)| f64::sin(by * (n * i + j + 1) as f64));
        let (bonds, fields) = (angles(3, 0.8), angles(4, 1.9));
        let g = ising_chain::energy::gradient(d, bonds.view(), fields.view(), 1.0, 0.7)?;
        let outputs = Outputs::new().with("energy", &g.value).with("bonds", &g.bond_angles);
        Ok(outputs.with("fields", &g.field_angles).with("coupling", &g.coupling).with("field", &g.field))
    };
}
