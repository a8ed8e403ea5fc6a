//! Tangents and products of the Hessian of the mixture, as multiples of its value or its gradient.
//!
//!     cargo run --release -p rev-second --features tangents --bin gmm
//!     cargo run --release -p rev-second --features tangents --bin gmm -- --jax PYTHON     # an interpreter that has jax
//!
//! With `--jax`, `in_jax.py` takes the same times in JAX on the same numbers, and compares its products with the
//! ones from here.

#[allow(dead_code)] // its sizes
mod kernel;
#[path = "../../../../../kernels/src/log_sum_exp.rs"]
mod log_sum_exp;

use std::process::ExitCode;

use rev_cpu::prelude::*;
use rev_second::{along, bench, direction, rows, sides, works, Failure, Program, Times};
use serde_json::json;

fn mixture(rounds: usize, device: &Cpu, [d, k, n]: [usize; 3]) -> Result<Program, Failure> {
    use kernel::objective as f;
    let i = kernel::Instance::random(d, k, n, 0);
    let (alphas, means, icf, points) = (&i.alphas[..], i.means.view(), i.icf.view(), i.points.view());
    let v: Vec<f64> = (0..k).map(direction).collect();
    let v_means = along(means.dim(), k);
    let v_icf = along(icf.dim(), k + k * d);
    let all: Vec<_> = v.iter().map(sides).collect();
    let (all_means, all_icf) = (v_means.map(sides), v_icf.map(sides));
    let (v_means, v_icf) = (v_means.view(), v_icf.view());
    let mut works = works!(
        f,
        device,
        [&v, v_means, v_icf],
        [&all, all_means.view(), all_icf.view()],
        [alphas, means, icf, points, i.gamma, i.m]
    );
    let name = format!("mixture, d = {d}, K = {k}, N = {n}");
    let times = Times::of(rounds, &mut works)?;
    let h = f::hvp(device, &v, v_means, v_icf, alphas, means, icf, points, i.gamma, i.m)?;
    let hvp = h.alphas.iter().chain(&h.means).chain(&h.icf).copied().collect();
    let arguments = json!({
        "alphas": i.alphas, "means": rows(&i.means), "icf": rows(&i.icf), "points": rows(&i.points),
    });
    Ok(Program { name, kind: "gmm", arguments, hvp, times })
}

fn main() -> ExitCode {
    bench("", |rounds, device| {
        let sizes = [[2, 5, 10_016], [10, 5, 10_016], [10, 25, 1024], [20, 50, 512]];
        sizes.into_iter().map(|sizes| mixture(rounds, device, sizes)).collect()
    })
}
