//! How fast the wave is: a step, its adjoint and its twin; a gradient, beside JAX's.

use std::path::Path;
use std::time::Instant;

use rev::checkpoint::Run;
use rev::device::Device;
use rev::prelude::*;
use rev::schedule::{Action, Binomial};
use rev_examples::peer::Peer;
use rev_examples::support::{number, Failure, Report, RunOptions};
use rev_kernels::wave::{advance, back, plain, Layer, Medium};
use serde::Serialize;

use super::place::{self, Place};
use super::survey::Survey;
use super::verify::{bars_of, uneven};

/// The steps of the loop whose gradient is timed, those of a segment in JAX, and states in memory here. JAX keeps ten states between
/// segments and those of one segment, with what else its adjoint needs of each step.
const STEPS: usize = 100;
const SEGMENTS: usize = 10;
const STATES: usize = 20;

/// Times in milliseconds, the shortest of several that were taken in turns.
#[derive(Serialize)]
pub struct Speed {
    grid: usize,
    threads: usize,
    plain_step_ms: f64,
    step_ms: f64,
    /// Of the adjoint alone, from the state after a step.
    adjoint_ms: f64,
    /// Of copying as many bytes as a step reads and writes.
    copy_ms: f64,
    step_to_plain: f64,
    adjoint_to_step: f64,
    /// The step's share of the bandwidth of a copy.
    bandwidth_share: f64,
    /// A step's part of a gradient.
    gradient_ms: f64,
    jax_step_ms: Option<f64>,
    jax_gradient_ms: Option<f64>,
}

/// What JAX computes, with the results from here.
#[derive(Serialize)]
struct Problem<'a> {
    cells: [usize; 2],
    segments: usize,
    c: Vec<f64>,
    sigma: &'a [f64],
    tau: &'a [f64],
    dt: f64,
    hx: f64,
    hy: f64,
    wavelet: &'a [f64],
    source: [usize; 2],
    receivers: &'a [[usize; 2]],
    misfit: f64,
    gradient: Vec<f64>,
}

/// A gradient that is timed: of what receivers hear against silence.
struct Gradient {
    place: Box<dyn Place>,
    survey: Survey,
    schedule: Vec<Action>,
}

impl Gradient {
    fn new(grid: usize, run: &RunOptions) -> Result<Gradient, Failure> {
        let mut survey = Survey::new(grid, STEPS, 1);
        survey.records.push(Array2::zeros((STEPS, survey.receivers.len())));
        let schedule = Binomial::revolve(STEPS as u64, STATES).map_err(|e| Failure::Sizes(e.to_string()))?;
        Ok(Gradient { place: place::open(run)?, survey, schedule: schedule.collect() })
    }

    fn run(&self) -> Result<(f64, Array2<f64>), Failure> {
        let survey = &self.survey;
        let (misfit, by_c, _) = self.place.misfit(survey, &survey.first, 0, Run::new(), &self.schedule)?;
        Ok((misfit, by_c))
    }

    fn in_jax(&self, python: &Path) -> Result<Peer, Failure> {
        let (misfit, by_c) = self.run()?;
        let Medium { c, sigma, tau, dt, hx, hy } = &self.survey.first;
        let problem = Problem {
            cells: c.dim().into(),
            segments: SEGMENTS,
            c: c.iter().copied().collect(),
            sigma,
            tau,
            dt: *dt,
            hx: *hx,
            hy: *hy,
            wavelet: &self.survey.wavelet,
            source: self.survey.sources[0],
            receivers: &self.survey.receivers,
            misfit,
            gradient: by_c.into_iter().collect(),
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/seismic/in_jax.py");
        let mut jax = Peer::start(python, script)?;
        match jax.ask::<Option<String>>(&Some(problem))? {
            None => Ok(jax),
            Some(message) => Err(Failure::Sizes(message)),
        }
    }
}

/// A field, the work on it, and the copy beside it.
struct Steps<'a> {
    device: &'a dyn Device,
    medium: Medium,
    grid: usize,
}

impl Steps<'_> {
    fn new(device: &dyn Device, grid: usize) -> Steps<'_> {
        let layer = Layer { cells: 12, speed: 1000.0, reflection: 0.2 };
        let medium = Medium::new(Array2::from_elem((grid, grid), 1000.0), 0.05, (20.0, 20.0), layer);
        Steps { device, medium, grid }
    }

    /// Milliseconds of the twin, a step, its adjoint and a copy, where they are less than so far.
    fn time(&self, best: &mut [f64; 4]) -> Result<(), Failure> {
        let (grid, medium) = (self.grid, &self.medium);
        // an adjoint uses the field up, and numbers that have become too small are slow
        let start = uneven((grid, grid), 0.3);
        let (mut twin, mut field, mut bars) = (start.clone(), start.clone(), bars_of(&start));
        // a step reads `before`, `u`, `φ`, `ψ`, `c`, and `u` and `c` again, and writes `before`, `φ` and `ψ`: 10 matrices
        let (from, mut to) =
            (Array2::from_elem((5 * grid, grid), 1.0), Array2::from_elem((5 * grid, grid), 2.0));
        let source = ([grid / 2; 2], 0.0);
        let repeat = (2_000_000 / (grid * grid)).max(1);
        let mut timed = |k: usize, work: &mut dyn FnMut() -> Result<(), Error>| -> Result<(), Failure> {
            let start = Instant::now();
            for _ in 0..repeat {
                work()?;
            }
            best[k] = best[k].min(start.elapsed().as_secs_f64() * 1e3 / repeat as f64);
            Ok(())
        };
        timed(0, &mut || {
            plain::step(&mut twin, medium);
            Ok(())
        })?;
        timed(1, &mut || advance(self.device, &mut field, medium, source))?;
        timed(2, &mut || back(self.device, &mut field, &mut bars, medium, source).map(drop))?;
        timed(3, &mut || {
            to.assign(std::hint::black_box(&from));
            std::hint::black_box(&to);
            Ok(())
        })
    }
}

/// Times a step, its adjoint, the twin's and a copy, and gradients.
pub fn speed(grid: usize, run: &RunOptions, python: Option<&Path>) -> Result<Speed, Failure> {
    let device = run.open()?;
    let (steps, gradient) = (Steps::new(&*device, grid), Gradient::new(grid, run)?);
    let mut jax = python.map(|python| gradient.in_jax(python)).transpose()?;
    let (mut best, mut own, mut others) = ([f64::INFINITY; 4], f64::INFINITY, [f64::INFINITY; 2]);
    for _ in 0..run.repeat {
        steps.time(&mut best)?;
        let start = Instant::now();
        gradient.run()?;
        own = own.min(start.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
        if let Some(jax) = &mut jax {
            let [step, all]: [f64; 2] = jax.ask(&None::<Problem>)?;
            others = [others[0].min(step * 1e3), others[1].min(all * 1e3 / STEPS as f64)];
        }
    }
    let [plain_step_ms, step_ms, adjoint_ms, copy_ms] = best;
    let speed = Speed {
        grid,
        threads: run.threads(),
        plain_step_ms,
        step_ms,
        adjoint_ms,
        copy_ms,
        step_to_plain: step_ms / plain_step_ms,
        adjoint_to_step: adjoint_ms / step_ms,
        bandwidth_share: copy_ms / step_ms,
        gradient_ms: own,
        jax_step_ms: jax.is_some().then_some(others[0]),
        jax_gradient_ms: jax.is_some().then_some(others[1]),
    };
    print(&speed)?;
    Ok(speed)
}

fn print(speed: &Speed) -> Result<(), Failure> {
    let title = format!("{0} x {0} cells, threads: {1}", speed.grid, speed.threads);
    let mut report = Report::new(title, &["", "ms", "ratio"]);
    let mut row = |name: &str, ms: f64, ratio: Option<f64>| {
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        report.row([name.to_string(), number(ms), ratio]);
    };
    row("the twin's step", speed.plain_step_ms, None);
    row("step, of the twin's", speed.step_ms, Some(speed.step_to_plain));
    row("adjoint, of a step", speed.adjoint_ms, Some(speed.adjoint_to_step));
    row("copy of as much, of a step", speed.copy_ms, Some(speed.bandwidth_share));
    let name = format!("gradient of {STEPS} steps, for each, of a step");
    row(&name, speed.gradient_ms, Some(speed.gradient_ms / speed.step_ms));
    if let (Some(step), Some(gradient)) = (speed.jax_step_ms, speed.jax_gradient_ms) {
        row("JAX's step, of ours", step, Some(step / speed.step_ms));
        row("JAX's gradient, of ours", gradient, Some(gradient / speed.gradient_ms));
    }
    Ok(report.print()?)
}
