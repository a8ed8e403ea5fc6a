//! In how many dimensions do the vertices of the Petersen graph fit such that all edges have one length, and all other pairs another,
//! larger one?
//!
//! Placements are learned from random starts by Adam and by Newton's method in a trust region, whose gradients and Hessians are those
//! of a reversible program. In five dimensions and more the loss goes to zero up to rounding; in five the lengths have the ratio √2.
//!
//! Distances of two kinds only belong to inner products that combine the projections on the eigenspaces of the graph's matrix, which have 5 and
//! 4 dimensions. The first alone is the solution in five, the second alone has `l1 > l2`, and both make others in nine. So in six to eight
//! dimensions there is the one of five only, at which the loss is flatter than a square across its space: Newton's method
//! comes near slowly, and still ends at 1e-17.

mod figure;
mod training;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use indicatif::ProgressBar;
use rev::prelude::*;
use rev_examples::support::{
    finish, number, positive, progress, write_json, Checks, Failure, Outcome, Report,
};
use rev_kernels::io::write_whole;
use rev_networks::graph_embedding::{plain, Petersen, EDGES};
use serde::Serialize;
use training::{adam, start, trust_region, Found, Placement};

/// The most dimensions.
const DIMENSIONS: usize = 10;

/// The Petersen graph with edges of one length and other pairs of vertices at another, larger one, in 1 to 10 dimensions
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only in this number of dimensions, 1 to 10
    #[arg(long, value_name = "K", value_parser = dimension)]
    dim: Option<usize>,
    /// Seed of the random starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Random starts in each number of dimensions; the best placement counts
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = positive)]
    starts: usize,
    /// Steps of Adam from each start
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = positive)]
    steps: usize,
    /// How often each time is taken for --plot
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = positive)]
    repeat: usize,
    /// Write what was found to this file: an object for --dim, or a list of objects
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Take the times of value, gradient and Hessian, and draw them beside the published ones
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Compare gradient and Hessian with finite differences; exit status 1 when off
    #[arg(long)]
    check: bool,
}

fn dimension(text: &str) -> Result<usize, String> {
    let dim = positive(text)?;
    if dim > DIMENSIONS {
        return Err(format!("at most {DIMENSIONS} dimensions are tried"));
    }
    Ok(dim)
}

/// The best placement in one number of dimensions.
#[derive(Serialize)]
struct Record {
    dim: usize,
    seed: u64,
    /// By Newton's method.
    loss: f64,
    /// The mean length of an edge.
    l1: f64,
    /// The mean length of the other pairs.
    l2: f64,
    /// Hessians that it took.
    iterations: u64,
    /// From how many starts the loss went to zero up to rounding.
    solved: usize,
    starts: usize,
    /// The best loss of Adam from the same starts.
    adam_loss: f64,
    adam_iterations: u64,
}

/// Below this a loss is zero up to rounding.
const ZERO: f64 = 1e-15;

fn embed(options: &Options, graph: &Petersen, dim: usize, bar: &ProgressBar) -> Result<Record, Failure> {
    let device = Cpu::with_threads(1);
    let (mut newton, mut best, mut solved): (Vec<(Found, Array2<f64>)>, f64, usize) =
        (vec![], f64::INFINITY, 0);
    for k in 0..options.starts {
        bar.set_message(format!("{dim} dimensions, start {}", k + 1));
        // starts are told apart by the upper half of the seed
        let start = start(dim, options.seed ^ (k as u64) << 32);
        let placement = Placement { device: &device, graph, start: &start };
        let found = trust_region(&placement).map_err(|e| Failure::Sizes(format!("Newton's method: {e}")))?;
        bar.inc(1);
        best = best.min(adam(&placement, options.steps as u64)?.loss);
        bar.inc(1);
        solved += usize::from(found.loss < ZERO);
        let x = placement.vertices(&found.at);
        newton.push((found, x));
    }
    let least = newton.into_iter().min_by(|a, b| a.0.loss.total_cmp(&b.0.loss));
    let Some((found, x)) = least else { return Err(Failure::Sizes("there is no start".into())) };
    let [l1, l2] = plain::lengths(x.view(), &graph.a, &graph.b, EDGES).means;
    let Options { seed, starts, steps, .. } = *options;
    let (loss, iterations) = (found.loss, found.iterations);
    Ok(Record {
        dim,
        seed,
        loss,
        l1,
        l2,
        iterations,
        solved,
        starts,
        adam_loss: best,
        adam_iterations: steps as u64,
    })
}

fn table(records: &[Record]) -> std::io::Result<()> {
    let columns =
        ["dimensions", "loss, Newton", "Hessians", "loss, Adam", "l1", "l2", "l2/l1", "starts that reach 0"];
    let mut report = Report::new("The Petersen graph: the best placement from random starts", &columns);
    for r in records {
        report.row([
            r.dim.to_string(),
            format!("{:.2e}", r.loss),
            r.iterations.to_string(),
            format!("{:.2e}", r.adam_loss),
            number(r.l1),
            number(r.l2),
            format!("{:.9}", r.l2 / r.l1),
            format!("{} of {}", r.solved, r.starts),
        ]);
    }
    report.print()
}

/// The loss against plain Rust, its gradient and the diagonal and a row of its Hessian against differences.
fn check(options: &Options, graph: &Petersen) -> Result<Outcome, Failure> {
    let (device, mut checks) = (Cpu::with_threads(1), Checks::new());
    let start = start(options.dim.unwrap_or(5), options.seed);
    let placement = Placement { device: &device, graph, start: &start };
    let x = placement.first();
    let moved = |j: usize, h: f64| {
        let mut x = x.clone();
        x[j] += h;
        x
    };
    let (value, plain) =
        (placement.value(&x)?, plain::lengths(start.view(), &graph.a, &graph.b, EDGES).loss());
    if (value - plain).abs() > 1e-12 * plain.max(1.0) {
        writeln!(std::io::stdout().lock(), "the loss is {value}, and {plain} by plain Rust")?;
        return Ok(Outcome::CheckFailed);
    }
    let (slope, curvature) = (placement.slope(&x)?, placement.curvature(&x)?);
    for j in Checks::coordinates(x.len()) {
        checks.compare(format!("gradient {j}"), slope[j], x[j], |h| {
            Ok::<_, Failure>(placement.value(&moved(j, h))? - placement.value(&moved(j, -h))?)
        })?;
    }
    for (i, j) in Checks::coordinates(x.len()).zip(Checks::coordinates(x.len()).skip(1)) {
        checks.compare(format!("Hessian {i}, {j}"), curvature[i][j], x[j], |h| {
            Ok::<_, Failure>(placement.slope(&moved(j, h))?[i] - placement.slope(&moved(j, -h))?[i])
        })?;
    }
    Ok(checks.finish()?)
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let graph = Petersen::new();
    let dimensions = options.dim.map_or_else(|| (1..=DIMENSIONS).collect(), |dim| vec![dim]);
    let bar = progress(2 * options.starts * dimensions.len());
    let records: Result<Vec<Record>, Failure> =
        dimensions.iter().map(|&dim| embed(options, &graph, dim, &bar)).collect();
    bar.finish_and_clear();
    let records = records?;
    table(&records)?;
    if let Some(path) = &options.plot {
        let times = figure::times(&graph, &dimensions, options.repeat)?;
        let mut report = Report::new("Times, one thread", &["dimensions", "value", "gradient", "Hessian"]);
        for t in &times {
            let micro = |s: f64| format!("{:.2} µs", s * 1e6);
            report.row([t.dim.to_string(), micro(t.value), micro(t.gradient), micro(t.hessian)]);
        }
        report.print()?;
        let svg = figure::document(&times)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    let json = options.json.as_deref();
    match options.dim.and(records.first()) {
        Some(record) => write_json(json, record)?,
        None => write_json(json, &records)?,
    }
    if options.check {
        return check(options, &graph);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
