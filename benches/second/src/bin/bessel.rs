//! `J_2` by eight terms of its series, added up over many points: a loop of arithmetic alone, as a multiple of whose value the gradient,
//! tangents and products of the Hessian are taken.
//!
//!     cargo run --release -p rev-second --features tangents --bin bessel
//!     cargo run --release -p rev-second --features tangents --bin bessel -- --jax PYTHON     # an interpreter that has jax
//!
//! With `--jax`, `in_jax.py` takes the same times in JAX on the same numbers, and compares its products with the
//! ones from here.

use std::process::ExitCode;

use rev_cpu::prelude::*;
use rev_second::{bench, direction, sides, works, Failure, Program, Times};
use serde_json::json;

const POINTS: usize = 1 << 17;

/// `s_0 (1 - q/3 (1 - q/8 (1 - ..)))` with `q = z²/4`: each term is the one before times `-q / (k (k + 2))`.
#[pure(order = 3)]
fn j2<T: Real>(z: T) -> T {
    let q = 0.25 * z * z;
    let rest = 1.0 - q * (1.0 / 63.0);
    let rest = 1.0 - q * (1.0 / 48.0) * rest;
    let rest = 1.0 - q * (1.0 / 35.0) * rest;
    let rest = 1.0 - q * (1.0 / 24.0) * rest;
    let rest = 1.0 - q * (1.0 / 15.0) * rest;
    let rest = 1.0 - q * (1.0 / 8.0) * rest;
    let rest = 1.0 - q * (1.0 / 3.0) * rest;
    0.5 * q * rest
}

/// `out += Σ J_2(z[i])`
#[reversible(tangent)]
fn total<T: Real>(out: &mut T, z: &[T]) {
    for i in par(0..z.len()) {
        *out += j2(z[i]);
    }
}

fn sum(rounds: usize, device: &Cpu) -> Result<Program, Failure> {
    let z: Vec<f64> = (1..=POINTS).map(|i| 3.0 * i as f64 / POINTS as f64).collect();
    let v: Vec<f64> = (0..POINTS).map(direction).collect();
    let all: Vec<_> = v.iter().map(sides).collect();
    let mut works = works!(total, device, [&v], [&all], [&z]);
    let times = Times::of(rounds, &mut works)?;
    let hvp = total::hvp(device, &v, &z)?.z;
    Ok(Program {
        name: format!("J2 by 8 terms at {POINTS} points"),
        kind: "bessel",
        arguments: json!({ "z": z }),
        hvp,
        times,
    })
}

fn main() -> ExitCode {
    bench("-", |rounds, device| Ok(vec![sum(rounds, device)?]))
}
