//! Derivatives of first, second and third order on small instances, and derivatives inside of programs.

mod gradbench;
mod graph;
mod grid;
mod programs;
mod series;
#[path = "../support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use gradbench::{particles, saddles, Modes, PARTICLE, SADDLE};
use graph::{embedding, Graph, EDGES};
use grid::{heights, is_laplacian, springs};
use ndarray::Array2;
use rev::prelude::*;
use serde::Serialize;
use series::{bessel_derivatives, bessel_taylor, BESSEL_SECOND, BESSEL_THIRD};
use support::{finish, largest, number, write_json, Failure, Outcome, Report, Stopwatch, Timing};

/// Tangents, Taylor coefficients, Hessians in four ways and sparse, and gradients inside of programs, on small instances.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// How often each time is taken
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = support::positive)]
    repeat: usize,
    /// Write the numbers to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with numbers from elsewhere; exit status 1 when off
    #[arg(long)]
    check: bool,
}

/// The sparse Hessian of a grid of springs.
#[derive(Serialize)]
struct Grid {
    unknowns: usize,
    nonzeros: usize,
    groups: usize,
    right: bool,
}

impl Grid {
    fn new(device: &Cpu, side: usize) -> Result<Grid, Failure> {
        let u = heights(side);
        let plan = grid::plan(grid::pattern(&u, side)?)?;
        let matrix = springs::hessian_sparse(device, &plan, &u, side)?;
        let (nonzeros, groups) = (matrix.nonzeros(), plan.groups());
        Ok(Grid { unknowns: u.len(), nonzeros, groups, right: is_laplacian(&matrix, side) })
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    bessel_second: f64,
    bessel_third: f64,
    graph_asymmetry: f64,
    graph_ways: f64,
    bessel_taylor: [f64; 2],
    grid: Grid,
    particle: Modes<f64>,
    saddle: Modes<[f64; 4]>,
    gradient_ms: Timing,
    jvp_over_value: f64,
    gradient_over_value: f64,
    hvp_over_gradient: f64,
    jvp_8_over_value: f64,
    hvp_8_over_gradient: f64,
    hessian_column_over_gradient: f64,
}

/// The largest difference between two matrices, relative to the largest number in them.
fn apart(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    largest(&(a - b)) / largest(a).max(f64::MIN_POSITIVE)
}

/// Times of the embedding in ten dimensions.
struct Times {
    value: Timing,
    gradient: Timing,
    jvp: Timing,
    hvp: Timing,
    jvp_8: Timing,
    hvp_8: Timing,
    hessian: Timing,
}

/// How often a work is repeated within one measurement: they are short.
const INNER: usize = 100;

fn times(device: &Cpu, graph: &Graph, repeat: usize) -> Result<Times, Error> {
    let x = Graph::start(10);
    let (x, a, b) = (x.view(), &graph.a[..], &graph.b[..]);
    let direction = Array2::from_shape_fn(x.dim(), |(i, k)| (i + 2 * k) as f64 * 0.1);
    let along = direction.view();
    let watch = Stopwatch::new(repeat, 5);
    let many = |work: &dyn Fn() -> Result<(), Error>| (0..INNER).try_for_each(|_| work());
    let value = watch.time("value", || many(&|| embedding::run(device, &mut 0.0, x, a, b, EDGES)))?;
    let gradient =
        watch.time("gradient", || many(&|| embedding::gradient(device, x, a, b, EDGES).map(drop)))?;
    let jvp = watch
        .time("jvp", || many(&|| embedding::jvp(device, &0.0, along, &0.0, x, a, b, EDGES).map(drop)))?;
    let hvp = watch.time("hvp", || many(&|| embedding::hvp(device, along, x, a, b, EDGES).map(drop)))?;
    let sides = direction.map(|v| Batch([1.0, -1.0, 0.5, 2.0, -0.5, 0.25, 3.0, -2.0].map(|by| by * v)));
    let (sides, still) = (sides.view(), Batch::splat(0.0));
    let jvp_8 = watch.time("jvp_8", || {
        many(&|| embedding::jvp_batch::<f64, 8>(device, still, sides, &0.0, x, a, b, EDGES).map(drop))
    })?;
    let hvp_8 = watch.time("hvp_8", || {
        many(&|| embedding::hvp_batch::<f64, 8>(device, sides, x, a, b, EDGES).map(drop))
    })?;
    let hessian = watch.time("hessian", || embedding::hessian(device, x, a, b, EDGES).map(drop))?;
    let each =
        |(_, time): ((), Timing)| Timing { min: time.min / INNER as f64, median: time.median / INNER as f64 };
    let (value, gradient, jvp, hvp) = (each(value), each(gradient), each(jvp), each(hvp));
    Ok(Times { value, gradient, jvp, hvp, jvp_8: each(jvp_8), hvp_8: each(hvp_8), hessian: hessian.1 })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let device = Cpu::with_threads(1);
    let [bessel_second, bessel_third] = bessel_derivatives(&device)?;
    let graph = Graph::petersen();
    let x = Graph::start(5);
    let hessian = graph.hessian(&device, x.view())?;
    let forward = graph.forward_over_reverse(&device, x.view())?;
    let reverse = graph.reverse_over_reverse(&device, x.view())?;
    let products = graph.products(&device, x.view())?;
    let asymmetry = largest(&(&products - &products.t()));
    let ways = [&hessian, &forward, &reverse, &graph.pushed(x.view())?];
    let ways = ways.iter().flat_map(|a| ways.map(|b| apart(a, b))).fold(0.0, f64::max);
    let (particle, saddle) = (particles(&device)?, saddles(&device)?);
    let times = times(&device, &graph, options.repeat)?;
    let columns = 100.0;
    let record = Record {
        bessel_second,
        bessel_third,
        graph_asymmetry: asymmetry,
        graph_ways: ways,
        bessel_taylor: bessel_taylor(&device)?,
        grid: Grid::new(&device, 30)?,
        particle,
        saddle,
        gradient_ms: times.gradient,
        jvp_over_value: times.jvp.min / times.value.min,
        gradient_over_value: times.gradient.min / times.value.min,
        hvp_over_gradient: times.hvp.min / times.gradient.min,
        jvp_8_over_value: times.jvp_8.min / times.value.min,
        hvp_8_over_gradient: times.hvp_8.min / times.gradient.min,
        hessian_column_over_gradient: times.hessian.min / times.gradient.min / columns,
    };
    print(&record)?;
    write_json(options.json.as_deref(), &record)?;
    Ok(if options.check && !is_right(&record) { Outcome::CheckFailed } else { Outcome::Good })
}

fn print(record: &Record) -> Result<(), Failure> {
    let mut report = Report::new("Derivatives of higher order", &["", "found", "expected"]);
    let digits = |name: &str, found: f64, expected: f64| {
        [name.to_string(), format!("{found:.16}"), format!("{expected:.16}")]
    };
    report.row(digits("J2''(1)", record.bessel_second, BESSEL_SECOND));
    report.row(digits("J2'''(1)", record.bessel_third, BESSEL_THIRD));
    let [second, third] = record.bessel_taylor;
    report.row(digits("J2''(1) by Taylor coefficients", second, BESSEL_SECOND));
    report.row(digits("J2'''(1) by Taylor coefficients", third, BESSEL_THIRD));
    let zero = |name: &str, found: f64| [name.to_string(), format!("{found:.1e}"), "0".to_string()];
    report.row(zero("embedding, k = 5: |H - Hᵀ|", record.graph_asymmetry));
    report.row(zero("embedding, k = 5: H in four ways", record.graph_ways));
    let grid = &record.grid;
    let side = grid.unknowns.isqrt();
    let name = format!("Laplacian of {side} x {side} unknowns: nonzeros");
    report.row([name, grid.nonzeros.to_string(), (5 * grid.unknowns - 4 * side).to_string()]);
    report.row([String::from("its colours"), grid.groups.to_string(), String::new()]);
    for (modes, w) in record.particle.each() {
        report.row(digits(&format!("particle, {modes}"), w, PARTICLE));
    }
    for (modes, at) in record.saddle.each() {
        report.row(digits(&format!("saddle, {modes}: x1"), at[0], SADDLE));
    }
    report.print()?;
    let title = "Times of the embedding in 10 dimensions (100 parameters), one thread";
    let mut report = Report::new(title, &["", "ratio"]);
    let ratios = [
        ("jvp / value", record.jvp_over_value),
        ("gradient / value", record.gradient_over_value),
        ("hvp / gradient", record.hvp_over_gradient),
        ("jvp along 8 directions / value", record.jvp_8_over_value),
        ("hvp along 8 directions / gradient", record.hvp_8_over_gradient),
        ("a column of the Hessian / gradient", record.hessian_column_over_gradient),
    ];
    for (name, ratio) in ratios {
        report.row([name.to_string(), number(ratio)]);
    }
    Ok(report.print()?)
}

fn is_right(record: &Record) -> bool {
    let near = |a: f64, b: f64, most: f64| (a - b).abs() <= most * b.abs();
    near(record.bessel_second, BESSEL_SECOND, 1e-12)
        && near(record.bessel_third, BESSEL_THIRD, 1e-12)
        && record.graph_asymmetry < 1e-12
        && record.graph_ways < 1e-12
        && near(record.bessel_taylor[0], BESSEL_SECOND, 1e-12)
        && near(record.bessel_taylor[1], BESSEL_THIRD, 1e-12)
        && record.grid.right
        && record.particle.each().iter().all(|(_, w)| near(*w, PARTICLE, 1e-8))
        && record.saddle.each().iter().all(|(_, at)| at.iter().all(|v| near(*v, SADDLE, 1e-6)))
}
