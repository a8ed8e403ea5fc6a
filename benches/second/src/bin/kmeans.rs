//! Tangents and products of the Hessian of k-means, as multiples of its value or its gradient; and a step of Newton's
//! method, which is the gradient over the product with ones.
//!
//!     cargo run --release -p rev-second --features tangents --bin kmeans
//!     cargo run --release -p rev-second --features tangents --bin kmeans -- --jax PYTHON     # an interpreter that has jax
//!
//! With `--jax`, `in_jax.py` takes the same times in JAX on the same numbers, and compares its products with the
//! ones from here.

/// The program of the kernels, with what is derived of it.
#[path = "../../../../kernels/src/kmeans.rs"]
#[allow(dead_code)] // its plain twin
mod kmeans;

use std::process::ExitCode;

use ndarray::Array2;
use rev_cpu::prelude::*;
use rev_second::{along, bench, rows, sides, used, work, works, Failure, Program, Times};
use serde_json::json;

fn clusters(rounds: usize, device: &Cpu, [k, n, d]: [usize; 3]) -> Result<Program, Failure> {
    use kmeans::cost as f;
    let numbers = |shape, by: f64| Array2::from_shape_fn(shape, |(i, j)| (by * (d * i + j) as f64).sin());
    let (points, centroids) = (numbers((n, d), 1.7), numbers((k, d), 0.9));
    let v = along((k, d), 0);
    let all = v.map(sides);
    let (x, v, all) = (centroids.view(), v.view(), all.view());
    let mut works = works!(f, device, [v], [all], [x, points.view()]);
    works.push(work(|| used(kmeans::direction(device, x, points.view()))));
    let name = format!("k-means, k = {k}, n = {n}, d = {d}");
    let times = Times::of(rounds, &mut works)?;
    let hvp = f::hvp(device, v, x, points.view())?.centroids.into_iter().collect();
    let arguments = json!({ "centroids": rows(&centroids), "points": rows(&points) });
    Ok(Program { name, kind: "kmeans", arguments, hvp, times })
}

fn main() -> ExitCode {
    bench("step", |rounds, device| {
        let sizes = [[10, 1000, 8], [100, 1000, 8], [10, 10_000, 16]];
        sizes.into_iter().map(|sizes| clusters(rounds, device, sizes)).collect()
    })
}
