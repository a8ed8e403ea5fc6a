//! Tangents, products of the Hessian and the whole Hessian of the embedding of a graph, as multiples of its value or its
//! gradient.
//!
//!     cargo run --release -p rev-second --features tangents --bin embedding
//!     cargo run --release -p rev-second --features tangents --bin embedding -- --jax PYTHON     # an interpreter that has jax
//!
//! With `--jax`, `in_jax.py` takes the same times in JAX on the same numbers, and compares its products with the
//! ones from here.
//! With `--peers`, the program of `benches/second/peers` does so in num-dual and echidna:
//!
//!     cargo build --release --manifest-path benches/second/peers/Cargo.toml
//!     cargo run --release -p rev-second --features tangents --bin embedding -- --peers benches/second/peers/target/release/peers

extern crate rev_cpu as rev;

#[path = "../../../../examples/derivatives/graph.rs"]
#[allow(dead_code)] // ways to its Hessian that aren't measured
mod graph;

use std::process::ExitCode;

use graph::{embedding, Graph, EDGES};
use rev_cpu::prelude::*;
use rev_second::{along, bench, rows, sides, used, work, works, Failure, Program, Times};
use serde_json::json;

fn drawing(rounds: usize, device: &Cpu, dimensions: usize) -> Result<Program, Failure> {
    let graph = Graph::petersen();
    let start = Graph::start(dimensions);
    let v = along(start.dim(), 0);
    let all = v.map(sides);
    let (x, a, b) = (start.view(), &graph.a[..], &graph.b[..]);
    let (v, all) = (v.view(), all.view());
    let mut works = works!(embedding, device, [v], [all], [x, a, b, EDGES]);
    works.push(work(|| used(embedding::hessian(device, x, a, b, EDGES))));
    let name = format!("embedding, k = {dimensions}");
    let times = Times::of(rounds, &mut works)?;
    let hvp = embedding::hvp(device, v, x, a, b, EDGES)?.x.into_iter().collect();
    let arguments = json!({ "x": rows(&start), "a": a, "b": b, "near": EDGES });
    Ok(Program { name, kind: "embedding", arguments, hvp, times })
}

fn main() -> ExitCode {
    bench("Hessian", |rounds, device| Ok(vec![drawing(rounds, device, 10)?]))
}
