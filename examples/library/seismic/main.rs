//! A ground from the waves that come back from it: full-waveform inversion in the memory of a few states.

mod inversion;
mod place;
mod plot;
mod speed;
mod survey;
mod verify;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use inversion::{invert, Found, Problem, Saved};
use place::Place;
use rev::prelude::*;
use rev::schedule::{
    Action, Bennett, Binomial, Counts, Everything, Memory, Online, Plan, Policy, ScheduleError, Top,
};
use rev_examples::support::{
    finish, number, positive, progress, Checks, DeviceName, Failure, Outcome, Report, RunOptions,
};
use rev_kernels::io::{write_whole, MAX_NUMBERS};
use serde::Serialize;
use survey::{Survey, EDGE, TOP};

/// The most cells by x and by y.
const LARGEST: usize = 10_000;

/// The most steps.
const LONGEST: usize = 1_000_000;

/// The most actions of a schedule, which are kept.
const MOST_ACTIONS: usize = 10_000_000;

/// Inverts a ground of three layers and a buried body from what receivers at its surface hear of sources there.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Cells by x and by y, the absorbing layers of 12 at each edge among them
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
    grid: usize,
    /// Steps of a wave
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = positive)]
    steps: usize,
    /// Sources
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = positive)]
    shots: usize,
    /// Iterations of L-BFGS
    #[arg(long, value_name = "N", default_value_t = 15)]
    iterations: u64,
    /// Which states of a wave are kept
    #[arg(long, value_enum, default_value_t = Method::Revolve)]
    schedule: Method,
    /// How many, beside the working one (store and bennett take what they need)
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = positive)]
    states: usize,
    /// Segments of bennett
    #[arg(long, value_name = "K", default_value_t = 10)]
    segments: u64,
    /// Memory for all states: the best schedule in it
    #[arg(long, value_name = "BYTES", conflicts_with_all = ["schedule", "states", "segments"])]
    memory: Option<u64>,
    /// Save the search in this folder after each iteration
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// Go on from the search that is saved there
    #[arg(long, requires = "work")]
    resume: bool,
    /// Compare the wave's sums with those of others, and its gradient with finite differences, instead; exit status 1 when off
    #[arg(long, conflicts_with_all = ["speed", "work", "out", "check"])]
    verify: bool,
    /// Time a step, its adjoint, its twin in plain Rust and a gradient, instead. On a GPU a step and its adjoint are
    /// those of the host's arrays, copied there and back; gpu_report has the times of arrays that stay
    #[arg(long, conflicts_with_all = ["work", "out", "check"])]
    speed: bool,
    /// Time JAX as well, with this interpreter of Python, on one thread
    #[arg(long, value_name = "PYTHON", requires = "speed")]
    jax: Option<PathBuf>,
    #[command(flatten)]
    run: RunOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Binomial checkpoints with the fewest calls
    Revolve,
    /// Binomial checkpoints with Griewank's splits
    Treeverse,
    /// Bennett's reversible recursion
    Bennett,
    /// Checkpoints that don't know the number of steps
    Online,
    /// Every state
    Store,
}

impl Options {
    fn check(&self) -> Result<(), Failure> {
        let least = 2 * EDGE + 16;
        let wrong = |what: &str, range: std::ops::RangeInclusive<usize>, found: usize| {
            let (from, to) = (range.start(), range.end());
            match range.contains(&found) {
                true => Ok(()),
                false => Err(Failure::Sizes(format!("expected {what} from {from} to {to}, found {found}"))),
            }
        };
        wrong("a grid", least..=LARGEST, self.grid)?;
        wrong("steps", 1..=LONGEST, self.steps)?;
        wrong("shots", 1..=(self.grid - 2 * EDGE) / 2, self.shots)?;
        let heard = self.steps * self.shots * ((self.grid - 2 * EDGE) / 2);
        wrong("numbers in all records", 1..=MAX_NUMBERS, heard)
    }

    fn actions(&self, state: u64) -> Result<Vec<Action>, Failure> {
        let actions = self.planned(state).map_err(|e| Failure::Sizes(e.to_string()))?;
        if actions.len() > MOST_ACTIONS {
            return Err(Failure::Sizes(format!(
                "expected a schedule of at most {MOST_ACTIONS} actions, found more: use more states, or fewer steps"
            )));
        }
        let states = Counts::of(actions.iter().copied()).peak_states;
        let numbers = u128::from(states) * u128::from(state) / 8;
        if self.memory.is_none() && numbers > MAX_NUMBERS as u128 {
            return Err(Failure::Sizes(format!(
                "expected states of at most {MAX_NUMBERS} numbers in all, found {numbers}: --memory allows more"
            )));
        }
        Ok(actions)
    }

    fn planned(&self, state: u64) -> Result<Vec<Action>, ScheduleError> {
        let (steps, most) = (self.steps as u64, MOST_ACTIONS + 1);
        if let Some(bytes) = self.memory {
            let plan = Plan::within(Memory { bytes, state }, 1.0, steps)?;
            return Ok(plan.schedule()?.take(most).collect());
        }
        Ok(match self.schedule {
            Method::Revolve => Binomial::revolve(steps, self.states)?.take(most).collect(),
            Method::Treeverse => Binomial::treeverse(steps, self.states)?.take(most).collect(),
            Method::Bennett => Bennett::new(self.segments)?.gradient(steps, Top::Kept).take(most).collect(),
            Method::Online => Online::new(self.states, Policy::Binomial)?.over(steps).take(most).collect(),
            Method::Store => Everything::new(steps).take(most).collect(),
        })
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    device: DeviceName,
    threads: usize,
    grid: usize,
    steps: usize,
    shots: usize,
    /// Of a gradient of one shot.
    calls: u128,
    gradients: u64,
    peak_states: u64,
    state_bytes: u64,
    peak_bytes: u64,
    seconds_per_gradient: f64,
    /// Gradients of all shots.
    evaluations: u64,
    iterations: usize,
    /// Why there were no more of them.
    ended: String,
    resumed: bool,
    /// Before the first iteration and after each, relative to silence.
    misfits: Vec<f64>,
    /// The root of the mean square of what speeds are off, in metres per second, below the sources.
    first_error: f64,
    last_error: f64,
}

fn speeds(c: &Array2<f64>) -> Array2<f64> {
    c.mapv(f64::sqrt)
}

/// How far the speeds inside of the absorbing layers are off.
fn error(found: &Array2<f64>, truth: &Array2<f64>) -> f64 {
    let end = found.nrows() - EDGE;
    let inner = ndarray::s![TOP..end, EDGE..end];
    let (found, truth) = (found.slice(inner), truth.slice(inner));
    let sum: f64 = found.iter().zip(&truth).map(|(a, b)| (a - b) * (a - b)).sum();
    (sum / found.len() as f64).sqrt()
}

/// A gradient's schedule, and the ground with what is recorded, once all sizes are known to be possible.
fn prepare(options: &Options, place: &dyn Place) -> Result<(Survey, Vec<Action>), Failure> {
    options.check()?;
    let mut survey = Survey::new(options.grid, options.steps, options.shots);
    let schedule = options.actions(survey.state_bytes())?;
    for source in 0..options.shots {
        let heard = place.listen(&survey, &survey.truth, source)?;
        survey.records.push(heard);
    }
    if survey.loudness() == 0.0 {
        return Err(Failure::Sizes(format!("no wave arrives at a receiver in {} steps", options.steps)));
    }
    Ok((survey, schedule))
}

fn search(options: &Options) -> Result<Outcome, Failure> {
    let place = place::open(&options.run)?;
    let (survey, schedule) = prepare(options, &*place)?;
    let saved = match options.work.as_ref().filter(|_| options.resume) {
        Some(work) => Saved::load(work, &survey)?,
        None => None,
    };
    let (resumed, folder) = (saved.is_some(), options.run.folder()?);
    let bar = progress(1);
    let problem = Problem::new(&survey, &*place, &schedule, &bar);
    let found = invert(&problem, options.iterations, options.work.clone(), saved);
    bar.finish_and_clear();
    let Found { best, misfits, ended } = found?;
    let [truth, first, last] = [&survey.truth.c, &survey.first.c, &problem.medium(&best).c].map(speeds);
    let (planned, spent) = (Counts::of(schedule.iter().copied()), problem.spent());
    let record = Record {
        device: options.run.device,
        threads: options.run.threads(),
        grid: options.grid,
        steps: options.steps,
        shots: options.shots,
        calls: planned.calls(),
        gradients: planned.gradients,
        peak_states: planned.peak_states,
        state_bytes: survey.state_bytes(),
        peak_bytes: spent.report.as_ref().map_or(0, |report| report.bytes),
        seconds_per_gradient: spent.report.as_ref().map_or(0.0, |report| report.time.as_secs_f64()),
        evaluations: spent.gradients,
        iterations: misfits.len() - 1,
        ended,
        resumed,
        first_error: error(&first, &truth),
        last_error: error(&last, &truth),
        misfits,
    };
    drop(spent);
    print(&record)?;
    if let Some(folder) = folder {
        let write = |name: &str, svg: String| {
            write_whole(&folder.join(name), |out| io::Write::write_all(out, svg.as_bytes()))
        };
        let pictures = [("true", &truth), ("first", &first), ("recovered", &last)];
        write("ground.svg", plot::grounds(pictures)?)?;
        write("record.svg", plot::record(&survey.records[options.shots / 2])?)?;
        write("misfit.svg", plot::misfits(&record.misfits)?)?;
    }
    options.run.write_json(&record)?;
    if options.run.check {
        return check(&problem);
    }
    Ok(Outcome::Good)
}

/// Compares the gradient at the first ground with finite differences, both relative to its largest component.
fn check(problem: &Problem<'_>) -> Result<Outcome, Failure> {
    let mut x = problem.first();
    let (_, gradient) = problem.gradient_at(&x)?;
    let scale = gradient.iter().fold(0f64, |most, g| most.max(g.abs()));
    let mut checks = Checks::new();
    for index in Checks::coordinates(x.len()) {
        let at = x[index];
        checks.compare(format!("x[{index}]"), gradient[index] / scale, at, |h| -> Result<f64, Failure> {
            x[index] = at + h;
            let up = problem.misfit(&x)?;
            x[index] = at - h;
            let down = problem.misfit(&x)?;
            x[index] = at;
            Ok((up - down) / scale)
        })?;
    }
    Ok(checks.finish()?)
}

fn print(record: &Record) -> io::Result<()> {
    let Record { grid, steps, shots, device, threads, .. } = *record;
    let title =
        format!("{grid} x {grid} cells, {steps} steps, {shots} shots; {device:?}, threads: {threads}");
    let mut report = Report::new(title, &["", ""]);
    let ends =
        |of: &[f64]| [of.first(), of.last()].map(|m| number(m.copied().unwrap_or(f64::NAN))).join(", ");
    report
        .row(["iterations, gradients".to_string(), format!("{}, {}", record.iterations, record.evaluations)]);
    report.row(["ended by".to_string(), record.ended.clone()]);
    report.row(["misfit, first and last".to_string(), ends(&record.misfits)]);
    report.row(["speeds off, m/s".to_string(), ends(&[record.first_error, record.last_error])]);
    report.row(["calls of the step".to_string(), record.calls.to_string()]);
    report
        .row(["states at most, bytes".to_string(), format!("{}, {}", record.peak_states, record.peak_bytes)]);
    report.row(["seconds of a shot's gradient".to_string(), number(record.seconds_per_gradient)]);
    report.print()
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    if options.verify {
        let (verified, outcome) = verify::verify(&*options.run.open()?)?;
        options.run.write_json(&verified)?;
        return Ok(outcome);
    }
    if options.speed {
        options.check()?;
        options.run.write_json(&speed::speed(options.grid, &options.run, options.jax.as_deref())?)?;
        return Ok(Outcome::Good);
    }
    search(options)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
