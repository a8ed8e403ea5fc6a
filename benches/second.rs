//! Tangents and products of Hessians of the mixture, bundle adjustment, k-means and the embedding of a graph, as multiples of
//! the value or the gradient of the same program in the same run: one thread, checks off.
//!
//!     cargo bench --bench second --features tangents
//!     cargo bench --bench second --features tangents -- --peer PYTHON     # an interpreter that has jax
//!
//! With `--peer`, `benches/second_jax.py` takes the same times of the same programs in JAX on the same numbers, and compares
//! its products with the ones from here.

#[path = "../examples/derivatives/graph.rs"]
#[allow(dead_code)] // ways to its Hessian that aren't measured
mod graph;
#[path = "../examples/bench_report/race.rs"]
mod race;
#[path = "../examples/support/mod.rs"]
#[allow(dead_code, unused_imports)]
mod support;

use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use graph::{embedding, Graph, EDGES};
use ndarray::Array2;
use race::{Race, Work};
use rev::prelude::*;
use rev_kernels::{ba, gmm, kmeans};
use serde::{Deserialize, Serialize};
use serde_json::json;
use support::{finish, positive, Failure, Outcome, Report};

/// Second order of the programs, on one thread.
#[derive(Parser)]
struct Options {
    /// How often each time is taken; the shortest counts
    #[arg(long, value_name = "R", default_value_t = 12, value_parser = positive)]
    rounds: usize,
    /// Time JAX as well, with this interpreter of Python
    #[arg(long, value_name = "PYTHON")]
    peer: Option<PathBuf>,
    /// What cargo gives to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Directions side by side.
const SIDES: usize = 8;

/// Seconds for what is timed of a program.
#[derive(Clone, Copy, Deserialize)]
struct Times {
    value: f64,
    gradient: f64,
    jvp: f64,
    jvp_8: f64,
    hvp: f64,
    hvp_8: f64,
    /// The whole Hessian, of small programs.
    hessian: Option<f64>,
}

impl Times {
    /// Of works in the order of the fields.
    fn of(race: &Race, title: &str, works: &mut [Work]) -> Result<Times, Failure> {
        let t = race.run(title, works)?;
        let hessian = t.get(6).copied();
        Ok(Times { value: t[0], gradient: t[1], jvp: t[2], jvp_8: t[3], hvp: t[4], hvp_8: t[5], hessian })
    }

    fn ratios(&self) -> [String; 6] {
        let of = |time: f64, whole: f64| format!("{:.2}", time / whole);
        [
            format!("{:.1}", self.value * 1e6),
            of(self.gradient, self.value),
            of(self.jvp, self.value),
            of(self.jvp_8, self.value),
            of(self.hvp, self.gradient),
            of(self.hvp_8, self.gradient),
        ]
    }
}

/// A program with its numbers as JAX gets them, and a product of its Hessian.
#[derive(Serialize)]
struct Program {
    name: String,
    kind: &'static str,
    arguments: serde_json::Value,
    hvp: Vec<f64>,
    #[serde(skip)]
    times: Times,
}

/// A number for each place of a direction, which JAX makes as well.
fn direction(k: usize) -> f64 {
    (0.7 * k as f64).sin()
}

/// A direction in the shape of a matrix.
fn along(shape: (usize, usize), first: usize) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| direction(first + shape.1 * i + j))
}

fn sides(v: &f64) -> Batch<f64, SIDES> {
    Batch(std::array::from_fn(|k| v * (k + 1) as f64))
}

/// What is computed may not be left out.
fn used<T>(result: Result<T, Error>) -> Result<(), Failure> {
    black_box(result?);
    Ok(())
}

fn rows(a: &Array2<f64>) -> Vec<Vec<f64>> {
    a.outer_iter().map(|row| row.to_vec()).collect()
}

/// What is timed of a function: names of its device, the tangents of the loss and, in brackets, directions, many of them, arguments.
macro_rules! works {
    ($f:ident, $device:ident, [$($v:expr),*], [$($all:expr),*], [$($arg:expr),*]) => {
        [
            ("value", Box::new(|| {
                let mut loss = 0.0;
                used($f::run($device, &mut loss, $($arg),*).map(|()| loss))
            })),
            ("gradient", Box::new(|| used($f::gradient($device, $($arg),*)))),
            ("jvp", Box::new(|| used($f::jvp($device, &0.0, $($v,)* &0.0, $($arg),*)))),
            ("8 jvp", Box::new(|| {
                used($f::jvp_batch::<f64, SIDES>($device, Batch([0.0; SIDES]), $($all,)* &0.0, $($arg),*))
            })),
            ("hvp", Box::new(|| used($f::hvp($device, $($v,)* $($arg),*)))),
            ("8 hvp", Box::new(|| used($f::hvp_batch::<f64, SIDES>($device, $($all,)* $($arg),*)))),
        ] as [Work; 6]
    };
}

fn mixture(race: &Race, device: &Cpu, [d, k, n]: [usize; 3]) -> Result<Program, Failure> {
    use gmm::objective as f;
    let i = gmm::Instance::random(d, k, n, 0);
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
    let times = Times::of(race, &name, &mut works)?;
    let h = f::hvp(device, &v, v_means, v_icf, alphas, means, icf, points, i.gamma, i.m)?;
    let hvp = h.alphas.iter().chain(&h.means).chain(&h.icf).copied().collect();
    let arguments = json!({
        "alphas": i.alphas, "means": rows(&i.means), "icf": rows(&i.icf), "points": rows(&i.points),
    });
    Ok(Program { name, kind: "gmm", arguments, hvp, times })
}

fn adjustment(race: &Race, device: &Cpu, [n, m, p]: [usize; 3]) -> Result<Program, Failure> {
    use ba::objective as f;
    let i = ba::Instance::random(n, m, p, 0);
    let (cameras, points, weights) = (&i.cameras[..], &i.points[..], &i.weights[..]);
    let (camera_of, point_of, features) = (&i.camera_of[..], &i.point_of[..], &i.features[..]);
    let v_cameras: Vec<[f64; ba::CAMERA]> =
        (0..n).map(|c| std::array::from_fn(|j| direction(ba::CAMERA * c + j))).collect();
    let first = ba::CAMERA * n;
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
    let times = Times::of(race, &name, &mut works)?;
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

fn clusters(race: &Race, device: &Cpu, [k, n, d]: [usize; 3]) -> Result<Program, Failure> {
    use kmeans::cost as f;
    let numbers = |shape, by: f64| Array2::from_shape_fn(shape, |(i, j)| (by * (d * i + j) as f64).sin());
    let (points, centroids) = (numbers((n, d), 1.7), numbers((k, d), 0.9));
    let v = along((k, d), 0);
    let all = v.map(sides);
    let (x, v, all) = (centroids.view(), v.view(), all.view());
    let mut works = works!(f, device, [v], [all], [x, points.view()]);
    let name = format!("k-means, k = {k}, n = {n}, d = {d}");
    let times = Times::of(race, &name, &mut works)?;
    let hvp = f::hvp(device, v, x, points.view())?.centroids.into_iter().collect();
    let arguments = json!({ "centroids": rows(&centroids), "points": rows(&points) });
    Ok(Program { name, kind: "kmeans", arguments, hvp, times })
}

fn drawing(race: &Race, device: &Cpu, dimensions: usize) -> Result<Program, Failure> {
    let graph = Graph::petersen();
    let start = Graph::start(dimensions);
    let v = along(start.dim(), 0);
    let all = v.map(sides);
    let (x, a, b) = (start.view(), &graph.a[..], &graph.b[..]);
    let (v, all) = (v.view(), all.view());
    let works = works!(embedding, device, [v], [all], [x, a, b, EDGES]);
    let mut works = works.into_iter().collect::<Vec<_>>();
    works.push(("Hessian", Box::new(|| used(embedding::hessian(device, x, a, b, EDGES)))));
    let name = format!("embedding, k = {dimensions}");
    let times = Times::of(race, &name, &mut works)?;
    let hvp = embedding::hvp(device, v, x, a, b, EDGES)?.x.into_iter().collect();
    let arguments = json!({ "x": rows(&start), "a": a, "b": b, "near": EDGES });
    Ok(Program { name, kind: "embedding", arguments, hvp, times })
}

/// Times of the same programs in JAX, in their order.
fn peers(python: &PathBuf, rounds: usize, programs: &[Program]) -> Result<Vec<Times>, Failure> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/second_jax.py");
    let mut command = Command::new(python);
    let mut child =
        command.arg(script).arg(rounds.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&serde_json::to_vec(programs).map_err(std::io::Error::from)?)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(std::io::Error::other(format!("{script} failed")).into());
    }
    Ok(serde_json::from_slice(&output.stdout).map_err(std::io::Error::from)?)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let device = &Cpu::with_threads(1).checks(false);
    let race = Race::new(options.rounds);
    let mut programs = Vec::new();
    for sizes in [[2, 5, 10_016], [10, 5, 10_016], [10, 25, 1024], [20, 50, 512]] {
        programs.push(mixture(&race, device, sizes)?);
    }
    programs.push(adjustment(&race, device, [49, 7776, 31_843])?);
    for sizes in [[10, 1000, 8], [100, 1000, 8], [10, 10_000, 16]] {
        programs.push(clusters(&race, device, sizes)?);
    }
    programs.push(drawing(&race, device, 10)?);
    drop(race);
    print("rev", programs.iter().map(|p| (&p.name, &p.times)))?;
    if let Some(python) = &options.peer {
        let times = peers(python, options.rounds, &programs)?;
        print("JAX", programs.iter().map(|p| &p.name).zip(&times))?;
    }
    Ok(Outcome::Good)
}

fn print<'a>(
    title: &str,
    rows: impl Iterator<Item = (&'a String, &'a Times)> + Clone,
) -> Result<(), Failure> {
    let mut report = Report::new(
        format!("{title}: one thread; over the value, products with the Hessian over the gradient"),
        &["", "value, µs", "gradient", "jvp", "8 jvp", "hvp", "8 hvp"],
    );
    for (name, times) in rows.clone() {
        report.row([name.clone()].into_iter().chain(times.ratios()));
    }
    report.print()?;
    for (name, times) in rows {
        if let Some(hessian) = times.hessian {
            println!("{name}: the Hessian takes {:.1} gradients", hessian / times.gradient);
        }
    }
    Ok(())
}
