//! A sparse Hessian, in time linear in its nonzeros: that of a grid of springs, with a million unknowns for `--side 1000`.

#[path = "derivatives/grid.rs"]
mod grid;
mod support;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use grid::{heights, is_laplacian, springs};
use rev::prelude::*;
use serde::Serialize;
use support::{finish, positive, write_json, Failure, Outcome, Report};

/// The Hessian of a grid of springs: its pattern, a plan of few products, its values, and the same by edge pushing.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The grid has this many rows and columns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
    side: usize,
    /// Number of threads
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = positive)]
    threads: usize,
    /// Write sizes and times to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare the matrix with the stencil of the Laplacian; exit status 1 when off
    #[arg(long)]
    check: bool,
}

/// What `--json` writes; times in milliseconds.
#[derive(Serialize)]
struct Record {
    unknowns: usize,
    nonzeros: usize,
    groups: usize,
    pattern_ms: f64,
    plan_ms: f64,
    values_ms: f64,
    again_ms: f64,
    pushed_ms: f64,
}

/// What work gives, and how long it took.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, f64), E> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_secs_f64() * 1e3))
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let (device, side) = (Cpu::with_threads(options.threads), options.side);
    let u = heights(side);
    let (pattern, pattern_ms) = timed(|| grid::pattern(&u, side))?;
    let (plan, plan_ms) = timed(|| grid::plan(pattern))?;
    let (matrix, values_ms) = timed(|| springs::hessian_sparse(&device, &plan, &u, side))?;
    let (mut values, mut workspace) = (vec![0.0; matrix.nonzeros()], Workspace::new());
    let mut again = || springs::hessian_sparse_into(&device, &plan, &mut values, &mut workspace, &u, side);
    again()?;
    let (_, again_ms) = timed(again)?;
    let (pushed, pushed_ms) = timed(|| springs::hessian_pushed(&u, side))?;
    let (unknowns, nonzeros, groups) = (u.len(), matrix.nonzeros(), plan.groups());
    let record = Record { unknowns, nonzeros, groups, pattern_ms, plan_ms, values_ms, again_ms, pushed_ms };
    print(&record)?;
    write_json(options.json.as_deref(), &record)?;
    let right = matrix.values() == values && pushed == matrix && is_laplacian(&matrix, side);
    Ok(if options.check && !right { Outcome::CheckFailed } else { Outcome::Good })
}

fn print(record: &Record) -> Result<(), Failure> {
    let title =
        format!("{} unknowns, {} nonzeros, {} groups", record.unknowns, record.nonzeros, record.groups);
    let mut report = Report::new(title, &["", "ms", "ns a nonzero"]);
    for (name, ms) in [
        ("pattern", record.pattern_ms),
        ("plan", record.plan_ms),
        ("values", record.values_ms),
        ("values again, into the same memory", record.again_ms),
        ("by edge pushing, without pattern and plan", record.pushed_ms),
    ] {
        report.row([name.into(), format!("{ms:.2}"), format!("{:.1}", 1e6 * ms / record.nonzeros as f64)]);
    }
    Ok(report.print()?)
}
