//! Learning without derivatives: a reversible program is run out from the known input and back from the wanted output, and what it
//! keeps carries the parameter. Of two programs for `f(x, p) = e^(p + x) - e^x` one learns and the other can't.

mod plot;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rev::prelude::*;
use rev_examples::support::{finish, positive, write_json, Failure, Outcome, Report};
use rev_kernels::io::write_whole;
use rev_networks::consistency::{learn, Learned, Program, Task};
use serde::Serialize;

/// The parameter of f(x, p) = e^(p + x) - e^x by running a reversible program to and fro
#[derive(Parser)]
#[command(version, allow_negative_numbers = true)]
struct Options {
    /// The known input
    #[arg(long, default_value_t = Task::PUBLISHED.x, value_parser = finite)]
    x: f64,
    /// The wanted output
    #[arg(long, value_name = "Y", default_value_t = Task::PUBLISHED.target, value_parser = finite)]
    target: f64,
    /// The parameter at first
    #[arg(long, default_value_t = Task::PUBLISHED.p, value_parser = finite)]
    p: f64,
    /// How often to go out and back
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
    rounds: usize,
    /// Write the outputs of each round to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw them
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Compare the parameters with what is expected of both programs; exit status 1 when off
    #[arg(long)]
    check: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| "a finite number is needed".into())
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    x: f64,
    target: f64,
    p: f64,
    solution: f64,
    /// The outputs of the program that keeps its input, and the parameter that it is left with.
    keeps_input: Vec<f64>,
    keeps_input_p: f64,
    /// The same of the program that forgets it.
    forgets_input: Vec<f64>,
    forgets_input_p: f64,
}

/// The task, if learning ends: a round near the solution leaves `-target / eˣ` of the error.
fn task(options: &Options) -> Result<Task, Failure> {
    let Options { x, target, p, .. } = *options;
    let left = (target / x.exp()).abs();
    if left.is_nan() || left >= 1.0 {
        return Err(Failure::Sizes(format!(
            "learning doesn't end: |target| has to be below e^x, and {} is not below {}",
            target.abs(),
            x.exp()
        )));
    }
    // the first way back takes the logarithm of this
    if (p + x).exp() <= target {
        return Err(Failure::Sizes(format!(
            "there is no way back: e^(p + x) has to be above the target, and {} is not above {target}",
            (p + x).exp()
        )));
    }
    Ok(Task { x, target, p })
}

fn table(task: Task, keeps: &Learned, forgets: &Learned) -> std::io::Result<()> {
    let mut report = Report::new(
        format!("Learning f(x, p) = {} at x = {} from p = {}", task.target, task.x, task.p),
        &["round", "output, input kept", "output, input forgotten"],
    );
    let last = keeps.outputs.len().saturating_sub(1);
    let rounds = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000];
    for round in rounds.into_iter().filter(|round| *round < last).chain([last]) {
        let at = |learned: &Learned| learned.outputs.get(round).map_or(String::new(), |y| format!("{y:.15}"));
        report.row([(round + 1).to_string(), at(keeps), at(forgets)]);
    }
    report.row(["p".to_string(), format!("{:.15}", keeps.p), format!("{:.15}", forgets.p)]);
    report.row(["solution".to_string(), String::new(), format!("{:.15}", task.solution())]);
    report.print()
}

/// Whether one program left the parameter as it was, and the other found the solution, as far as so many rounds go.
fn is_right(task: Task, rounds: usize, keeps: &Learned, forgets: &Learned) -> bool {
    let left = (task.target / task.x.exp()).abs().powf(rounds as f64);
    let near = |a: f64, b: f64, most: f64| (a - b).abs() <= most * b.abs().max(1.0);
    near(keeps.p, task.p, 1e-9) && near(forgets.p, task.solution(), 1e-9 + 10.0 * left)
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let (task, device) = (task(options)?, Cpu::with_threads(1));
    let keeps = learn(&device, Program::KeepsInput, task, options.rounds)?;
    let forgets = learn(&device, Program::ForgetsInput, task, options.rounds)?;
    table(task, &keeps, &forgets)?;
    if let Some(path) = &options.plot {
        let svg = plot::document(task.target, &keeps.outputs, &forgets.outputs)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    let right = is_right(task, options.rounds, &keeps, &forgets);
    if let Some(path) = &options.json {
        let record = Record {
            x: task.x,
            target: task.target,
            p: task.p,
            solution: task.solution(),
            keeps_input: keeps.outputs,
            keeps_input_p: keeps.p,
            forgets_input: forgets.outputs,
            forgets_input_p: forgets.p,
        };
        write_json(Some(path), &record)?;
    }
    Ok(if options.check && !right { Outcome::CheckFailed } else { Outcome::Good })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
