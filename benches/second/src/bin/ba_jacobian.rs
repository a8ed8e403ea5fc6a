//! Bundle adjustment's whole Jacobian as a sparse matrix, and its Gauss-Newton matrix: what takes how long, by the number of
//! observations. The matrix is compared with blocks derived by hand.
//!
//!     cargo run --release -p rev-second --features tangents --bin ba_jacobian -- --observations 31843

#[allow(dead_code, unused_imports)] // the objective, and other derivatives by hand
#[path = "ba/kernel.rs"]
mod kernel;
#[allow(dead_code)]
#[path = "../../../../kernels/src/rotation.rs"]
mod rotation;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use kernel::{plain, residual, Instance, CAMERA};
use rev_core::sparse::{Branches, Order, Plan, SparseMatrix};
use rev_cpu::prelude::*;
use rev_second::table::Report;
use rev_second::Failure;

/// The sparse Jacobian of bundle adjustment and its Gauss-Newton matrix, on one thread.
#[derive(Parser)]
struct Options {
    /// Numbers of observations
    #[arg(long, value_name = "N", num_args = 1.., default_values_t = [10_000, 20_000, 40_000])]
    observations: Vec<usize>,
}

/// `residuals += weight (projection of the point by the camera - feature)` of each observation.
#[reversible(tangent, constant(features))]
fn reprojection<T: Real>(
    residuals: &mut [[T; 2]],
    cameras: &[[T; CAMERA]],
    points: &[[T; 3]],
    weights: &[T],
    camera_of: &[usize],
    point_of: &[usize],
    features: &[[T; 2]],
) {
    for i in par(0..features.len()) {
        residual(&mut residuals[i], &cameras[camera_of[i]], &points[point_of[i]], weights[i], &features[i]);
    }
}

/// What work gives, and how many milliseconds it took.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, 1e3 * start.elapsed().as_secs_f64()))
}

/// That each block of the matrix is the one by hand.
fn check(jacobian: &SparseMatrix, i: &Instance) -> Result<(), Failure> {
    let (first_point, first_weight) =
        (CAMERA * i.cameras.len(), CAMERA * i.cameras.len() + 3 * i.points.len());
    let mut blocks = 0;
    for (k, block) in jacobian.blocks(2)?.enumerate() {
        let (c, p) = (i.camera_of[k], i.point_of[k]);
        let (_, expected) =
            plain::residual_jacobian(&i.cameras[c], &i.points[p], i.weights[k], &i.features[k]);
        let point = first_point + 3 * p;
        let columns = (CAMERA * c..CAMERA * (c + 1)).chain(point..point + 3).chain([first_weight + k]);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        let right = block.columns.iter().copied().eq(columns)
            && block.values.iter().zip(expected.as_flattened()).all(near);
        if !right {
            return Err(format!("the block of observation {k} is not the one by hand").into());
        }
        blocks += 1;
    }
    match blocks == i.features.len() {
        true => Ok(()),
        false => Err(format!("{blocks} blocks for {} observations", i.features.len()).into()),
    }
}

/// A row of the table, for a problem with so many observations.
fn row(n: usize) -> Result<Vec<String>, Failure> {
    let (device, i) = (Cpu::with_threads(1).checks(false), Instance::random(n / 600 + 1, n / 4 + 1, n, 0));
    let (still, wrt) =
        (vec![[0.0; 2]; n], reprojection::CAMERAS | reprojection::POINTS | reprojection::WEIGHTS);
    let (cameras, points, weights) = (&i.cameras[..], &i.points[..], &i.weights[..]);
    let (camera_of, point_of, features) = (&i.camera_of[..], &i.point_of[..], &i.features[..]);
    let (pattern, pattern_ms) = timed(|| {
        let by = (Branches::All, wrt);
        reprojection::jacobian_pattern(by, &still, cameras, points, weights, camera_of, point_of, features)
    })?;
    let pattern = Arc::new(pattern.joined(2));
    let (plan, plan_ms) = timed(|| Ok::<_, Failure>(Plan::by_columns(pattern, Order::Natural)))?;
    let (jacobian, values_ms) = timed(|| {
        let by = (&plan, wrt);
        reprojection::jacobian_sparse(
            &device, by, &still, cameras, points, weights, camera_of, point_of, features,
        )
    })?;
    check(&jacobian, &i)?;
    let (gram, gram_ms) = timed(|| Ok::<_, Failure>(jacobian.gram()))?;
    let times = [pattern_ms, plan_ms, values_ms, gram_ms].map(|ms| format!("{ms:.1}"));
    let sizes = [n, jacobian.nonzeros(), plan.groups(), gram.nonzeros()].map(|n| n.to_string());
    let each = format!("{:.0}", 1e6 * values_ms / jacobian.nonzeros() as f64);
    Ok(sizes.into_iter().chain(times).chain([each]).collect())
}

fn run(options: &Options) -> Result<(), Failure> {
    let mut report = Report::new(
        "the Jacobian of bundle adjustment and its Gauss-Newton matrix, ms",
        &[
            "observations",
            "nonzeros",
            "groups",
            "nonzeros of JᵀJ",
            "pattern",
            "plan",
            "values",
            "JᵀJ",
            "ns a value",
        ],
    );
    for n in &options.observations {
        report.row(row(*n)?);
    }
    Ok(report.print()?)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}
