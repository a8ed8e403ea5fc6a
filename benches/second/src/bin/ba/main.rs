//! Tangents and products of the Hessian of bundle adjustment, as multiples of its value or its gradient.
//!
//!     cargo run --release -p rev-second --features tangents --bin ba
//!     cargo run --release -p rev-second --features tangents --bin ba -- --jax PYTHON     # an interpreter that has jax
//!
//! With `--jax`, `in_jax.py` takes the same times in JAX on the same numbers, and compares its products with the
//! ones from here.

#[allow(dead_code, unused_imports)] // other programs, and derivatives by hand
mod kernel;
#[allow(dead_code)]
#[path = "../../../../../kernels/src/rotation.rs"]
mod rotation;

use std::process::ExitCode;

use rev_cpu::prelude::*;
use rev_second::{bench, direction, sides, works, Failure, Program, Times};
use serde_json::json;

fn adjustment(rounds: usize, device: &Cpu, [n, m, p]: [usize; 3]) -> Result<Program, Failure> {
    use kernel::objective as f;
    let i = kernel::Instance::random(n, m, p, 0);
    let (cameras, points, weights) = (&i.cameras[..], &i.points[..], &i.weights[..]);
    let (camera_of, point_of, features) = (&i.camera_of[..], &i.point_of[..], &i.features[..]);
    let v_cameras: Vec<[f64; kernel::CAMERA]> =
        (0..n).map(|c| std::array::from_fn(|j| direction(kernel::CAMERA * c + j))).collect();
    let first = kernel::CAMERA * n;
    let v_points: Vec<[f64; 3]> =
        (0..m).map(|x| std::array::from_fn(|j| direction(first + 3 * x + j))).collect();
    let v_weights: Vec<f64> = (0..p).map(|w| direction(first + 3 * m + w)).collect();
    let all_cameras: Vec<_> = v_cameras.iter().map(|c| c.each_ref().map(sides)).collect();
    let all_points: Vec<_> = v_points.iter().map(|x| x.each_ref().map(sides)).collect();
    let all_weights: Vec<_> = v_weights.iter().map(sides).collect();
    let mut works = works!(
        f,
        device,
        [&v_cameras, &v_points, &v_weights],
        [&all_cameras, &all_points, &all_weights],
        [cameras, points, weights, camera_of, point_of, features]
    );
    let name = format!("bundle adjustment, {p} observations");
    let times = Times::of(rounds, &mut works)?;
    let h = f::hvp(
        device, &v_cameras, &v_points, &v_weights, cameras, points, weights, camera_of, point_of, features,
    )?;
    let hvp = h.cameras.iter().flatten().chain(h.points.iter().flatten()).chain(&h.weights).copied();
    let hvp = hvp.collect();
    let arguments = json!({
        "cameras": i.cameras, "points": i.points, "weights": i.weights,
        "camera_of": i.camera_of, "point_of": i.point_of, "features": i.features,
    });
    Ok(Program { name, kind: "ba", arguments, hvp, times })
}

fn main() -> ExitCode {
    bench("", |rounds, device| Ok(vec![adjustment(rounds, device, [49, 7776, 31_843])?]))
}
