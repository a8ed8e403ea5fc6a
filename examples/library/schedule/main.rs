//! What a checkpoint schedule costs: calls of the step, adjoints and states, for every method.

mod plot;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use rev::schedule::{
    run as execute, Action, Bennett, Binomial, Costs, Counts, Everything, Functions, Memory, Online, Pebbles,
    Plan, Policy, ScheduleError, Top, TwoLevel,
};
use rev_examples::support::{finish, number, positive, write_json, Failure, Outcome, Report};
use rev_kernels::io::write_whole;
use serde::Serialize;

/// The longest loop: schedules are counted by walking through them.
const LONGEST: u64 = 100_000_000;

/// The most calls of a schedule whose moves are single steps.
const MOST_CALLS: u128 = 2_000_000_000;

/// The longest loop that `--check` runs.
const LONGEST_CHECKED: u64 = 1_000_000;

/// Counts of a schedule of checkpoints for the gradient of a long loop.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Which schedule
    #[arg(long, value_enum, default_value_t = Method::Treeverse)]
    method: Method,
    /// Steps of the loop
    #[arg(long, value_name = "N", default_value_t = 9999, value_parser = steps)]
    steps: u64,
    /// Stored states, with the first one and without the working one; for pebble, states beside the first
    /// (bennett and store take what they need)
    #[arg(long, value_name = "S", default_value_t = 20)]
    states: usize,
    /// Segments of bennett
    #[arg(long, value_name = "K", default_value_t = 2)]
    segments: u64,
    /// Which states online keeps
    #[arg(long, value_enum, default_value_t = Keep::Binomial)]
    keep: Keep,
    /// What writing a state to disk takes, in steps
    #[arg(long, value_name = "W", default_value_t = 5)]
    write_steps: u32,
    /// What reading a state from disk takes, in steps
    #[arg(long, value_name = "R", default_value_t = 5)]
    read_steps: u32,
    /// Memory to plan for instead of a number of states: the best schedule in it
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["method", "states"])]
    budget: Option<u64>,
    /// Bytes of a state
    #[arg(long, value_name = "BYTES", default_value_t = 32_000_000)]
    state_bytes: u64,
    /// Seconds of a step, and of an adjoint
    #[arg(long, value_name = "T", default_value_t = 1e-3)]
    seconds_per_step: f64,
    /// Write the counts to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the least time against memory, and this schedule in it
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Run the schedule on a small map and compare the gradient's bits with those of storing everything; exit status 1
    /// when they differ
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Binomial checkpoints with Griewank's splits
    Treeverse,
    /// Binomial checkpoints with the fewest calls
    Revolve,
    /// Bennett's reversible recursion, and its adjoint
    Bennett,
    /// The fewest moves of the reversible pebble game, and their adjoint
    Pebble,
    /// Every state stored
    Store,
    /// Checkpoints that don't know the length
    Online,
    /// Checkpoints in memory and on disk
    Disk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// The states with which the way back costs the fewest calls
    Binomial,
    /// Every second one fewer when memory is full
    Thinning,
}

fn steps(text: &str) -> Result<u64, String> {
    let steps = positive(text)? as u64;
    if steps > LONGEST {
        return Err(format!("at most {LONGEST} steps are walked through"));
    }
    Ok(steps)
}

type Schedule = Box<dyn Iterator<Item = Action>>;

/// A schedule of one method.
struct Choice<'a> {
    options: &'a Options,
    method: Method,
    states: usize,
}

impl Choice<'_> {
    /// The one asked for, or the best one for a budget.
    fn new(options: &Options) -> Result<Choice<'_>, Failure> {
        let Options { method, states, .. } = *options;
        let Some(bytes) = options.budget else { return Ok(Choice { options, method, states }) };
        let memory = Memory { bytes, state: options.state_bytes };
        let plan = Plan::within(memory, options.seconds_per_step, options.steps).map_err(sizes)?;
        Ok(Choice { options, method: Method::Revolve, states: plan.slots })
    }

    /// The whole gradient.
    fn schedule(&self) -> Result<Schedule, ScheduleError> {
        let Options { steps, segments, write_steps, read_steps, .. } = *self.options;
        Ok(match self.method {
            Method::Treeverse => Box::new(Binomial::treeverse(steps, self.states)?),
            Method::Revolve => Box::new(Binomial::revolve(steps, self.states)?),
            Method::Bennett => Box::new(Bennett::new(segments)?.gradient(steps, Top::Kept)),
            Method::Pebble => Box::new(Pebbles::gradient(steps, self.states as u64, Top::TakenBack)?),
            Method::Store => Box::new(Everything::new(steps)),
            Method::Online => {
                let policy = match self.options.keep {
                    Keep::Binomial => Policy::Binomial,
                    Keep::Thinning => Policy::Thinning,
                };
                Box::new(Online::new(self.states, policy)?.over(steps))
            }
            Method::Disk => {
                let costs = Costs { step: 1, write: write_steps.into(), read: read_steps.into() };
                Box::new(TwoLevel::new(steps, self.states, costs)?)
            }
        })
    }

    /// The calls of a reversible program, without those of its adjoint.
    fn program_calls(&self) -> Result<Option<u128>, ScheduleError> {
        let Options { steps, segments, .. } = *self.options;
        Ok(match self.method {
            Method::Bennett => Some(Bennett::new(segments)?.calls(steps, Top::Kept)?),
            Method::Pebble => {
                let pebbles = self.states as u64;
                Pebbles::new(steps, pebbles)?.moves(steps, pebbles)
            }
            _ => None,
        })
    }

    fn record(&self) -> Result<Record, Failure> {
        let program = self.program_calls().map_err(sizes)?;
        if let Some(calls) = program.filter(|&calls| calls > MOST_CALLS) {
            return Err(Failure::Sizes(format!("expected at most {MOST_CALLS} calls, found {calls}")));
        }
        let counts = Counts::of(self.schedule().map_err(sizes)?);
        let Options { write_steps, read_steps, seconds_per_step, .. } = *self.options;
        let disk = u128::from(counts.writes) * u128::from(write_steps)
            + u128::from(counts.reads) * u128::from(read_steps);
        let all = counts.calls() + u128::from(counts.gradients) + disk;
        Ok(Record {
            method: self.method,
            steps: self.options.steps,
            states: (!matches!(self.method, Method::Bennett | Method::Store)).then_some(self.states),
            segments: (self.method == Method::Bennett).then_some(self.options.segments),
            calls: program.unwrap_or(counts.calls()),
            gradients: counts.gradients,
            peak_states: counts.peak_states,
            total_calls: counts.calls(),
            stores: counts.stores,
            restores: counts.restores,
            disk_writes: counts.writes,
            disk_reads: counts.reads,
            peak_disk_states: counts.peak_disk,
            peak_bytes: u128::from(counts.peak_states) * u128::from(self.options.state_bytes),
            seconds: all as f64 * seconds_per_step,
        })
    }

    /// The gradient of a small map with this schedule and with all states stored.
    fn check(&self) -> Result<Outcome, Failure> {
        if self.options.steps > LONGEST_CHECKED {
            return Err(Failure::Sizes(format!(
                "expected at most {LONGEST_CHECKED} steps to check, found {}",
                self.options.steps
            )));
        }
        let found = gradient(self.schedule().map_err(sizes)?)?;
        let same = found == gradient(Box::new(Everything::new(self.options.steps)))?;
        let verdict = if same { "the bits" } else { "NOT the bits" };
        writeln!(
            std::io::stdout().lock(),
            "the gradient of a damped map has {verdict} that storing everything gives"
        )?;
        Ok(if same { Outcome::Good } else { Outcome::CheckFailed })
    }
}

fn sizes(error: ScheduleError) -> Failure {
    Failure::Sizes(error.to_string())
}

/// The bits of the gradient of `x ← 0.9 x + 0.3 sin(y + step)`, `y ← 0.8 y - 0.1 x³`.
fn gradient(schedule: Schedule) -> Result<[u64; 2], Failure> {
    let mut bar = [1.0, -2.0];
    let step = |i: u64, [x, y]: &mut [f64; 2]| {
        let old = *x;
        *x = 0.9 * old + 0.3 * (*y + i as f64).sin();
        *y = 0.8 * *y - 0.1 * old.powi(3);
    };
    let adjoint = |i: u64, [x, y]: &[f64; 2]| {
        let [a, b] = bar;
        bar = [0.9 * a - 0.3 * x.powi(2) * b, 0.3 * (y + i as f64).cos() * a + 0.8 * b];
    };
    let mut steps = Functions::new([0.4, -0.7], step, adjoint);
    execute(schedule, &mut steps).map_err(|missing| Failure::Sizes(missing.to_string()))?;
    Ok(bar.map(f64::to_bits))
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    method: Method,
    steps: u64,
    states: Option<usize>,
    segments: Option<u64>,
    /// Of the step; of reversible programs without what their adjoints compute again.
    calls: u128,
    gradients: u64,
    peak_states: u64,
    /// All calls of the step.
    total_calls: u128,
    stores: u64,
    restores: u64,
    disk_writes: u64,
    disk_reads: u64,
    peak_disk_states: u64,
    peak_bytes: u128,
    seconds: f64,
}

impl Record {
    fn print(&self) -> std::io::Result<()> {
        let limits =
            [self.states.map(|s| format!(", {s} states")), self.segments.map(|k| format!(", {k} segments"))];
        let limits: String = limits.into_iter().flatten().collect();
        let mut report =
            Report::new(format!("{:?}: {} steps{limits}", self.method, self.steps), &["", "count"]);
        report.row(["calls of the step".to_string(), self.calls.to_string()]);
        if self.total_calls != self.calls {
            report.row(["with those of the adjoint".to_string(), self.total_calls.to_string()]);
        }
        report.row(["adjoints".to_string(), self.gradients.to_string()]);
        report.row(["states at most".to_string(), self.peak_states.to_string()]);
        report.row(["stored, restored".to_string(), format!("{}, {}", self.stores, self.restores)]);
        if self.method == Method::Disk {
            report.row(["states on disk at most".to_string(), self.peak_disk_states.to_string()]);
            report.row(["written, read".to_string(), format!("{}, {}", self.disk_writes, self.disk_reads)]);
        }
        report.row(["bytes at most".to_string(), self.peak_bytes.to_string()]);
        report.row(["predicted seconds".to_string(), number(self.seconds)]);
        report.print()
    }
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let choice = Choice::new(options)?;
    // before the walk, which may take a while
    let curve =
        Plan::curve(options.state_bytes, options.seconds_per_step, options.steps, 60).map_err(sizes)?;
    let record = choice.record()?;
    record.print()?;
    write_json(options.json.as_deref(), &record)?;
    if let Some(path) = &options.plot {
        let svg = plot::document(&curve, &record)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if options.check {
        return choice.check();
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
