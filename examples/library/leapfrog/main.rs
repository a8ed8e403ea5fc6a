//! How well a planet's orbit goes back where it came from: Kepler's problem by leapfrog in floats, which round, and in fixed point, which doesn't.

mod plot;

use std::f64::consts::TAU;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use rev::prelude::*;
use rev_classics::kepler::{self, plain};
use rev_examples::support::{finish, positive, progress, write_json, Checks, Failure, Outcome, Report};
use rev_kernels::io::write_whole;
use serde::Serialize;

/// The most steps.
const LONGEST: usize = 1_000_000_000;

/// The most steps of an orbit: shorter ones are below what fixed point tells apart.
const FINEST: usize = 1_000_000;

/// Runs that are planned for each tenfold number of steps.
const RUNS_PER_DECADE: u32 = 3;

/// Steps of which `--check` takes derivatives.
const CHECKED: usize = 500;

/// A planet's orbit, there and back again.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Steps of the longest run
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = steps)]
    steps: usize,
    /// Steps of an orbit
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = steps_per_orbit)]
    steps_per_orbit: usize,
    /// The orbit's eccentricity, from 0 to 0.95
    #[arg(long, value_name = "E", default_value_t = 0.5, value_parser = eccentricity)]
    eccentricity: f64,
    /// Which numbers to compute with
    #[arg(long, value_enum, default_value_t = Numbers::All)]
    scalar: Numbers,
    /// Write all runs to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the error of the way back and of the energy against the number of steps
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Compare derivatives with finite differences, and see that fixed point comes back bit for bit; exit status 1 when off
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Numbers {
    /// 32-bit floats
    F32,
    /// 64-bit floats
    F64,
    /// 64-bit fixed point with 43 fraction bits
    Fixed43,
    /// One after the other
    All,
}

fn between(text: &str, from: usize, to: usize) -> Result<usize, String> {
    let found = positive(text)?;
    if !(from..=to).contains(&found) {
        return Err(format!("expected a number from {from} to {to}"));
    }
    Ok(found)
}

fn steps(text: &str) -> Result<usize, String> {
    between(text, 1, LONGEST)
}

fn steps_per_orbit(text: &str) -> Result<usize, String> {
    between(text, 10, FINEST)
}

fn eccentricity(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|e| (0.0..=0.95).contains(e));
    found.ok_or_else(|| "a number from 0 to 0.95 is needed".into())
}

/// There and back with one number of steps.
#[derive(Clone, Debug, Serialize)]
struct Run {
    scalar: &'static str,
    steps: usize,
    /// The energy at the end, less the first, relative to that.
    energy_error: f64,
    /// How far from the start, in half axes, the planet is after the way back.
    return_error: f64,
    /// Whether position and velocity have all their bits again.
    exact: bool,
    seconds: f64,
}

/// A number that orbits are computed with.
trait Number: Real {
    const NAME: &'static str;
    fn of(x: f64) -> Self;
    fn value(self) -> f64;
}

macro_rules! number {
    ($type:ty, $name:literal, $of:expr, $value:expr) => {
        impl Number for $type {
            const NAME: &'static str = $name;
            fn of(x: f64) -> Self {
                $of(x)
            }
            fn value(self) -> f64 {
                $value(self)
            }
        }
    };
}

number!(f32, "f32", |x| x as f32, f64::from);
number!(f64, "f64", |x| x, |x| x);
number!(Fixed43, "fixed43", Fixed43::from_num::<f64>, Fixed43::to_num::<f64>);

/// There and back in numbers of one type, for a number of steps.
type ThereAndBack = fn(&Options, usize) -> Result<Run, Failure>;

/// There and back in numbers of one type.
fn there_and_back<T: Number>(options: &Options, steps: usize) -> Result<Run, Failure> {
    let (x, v) = kepler::perihelion(options.eccentricity);
    let start = (x.map(T::of), v.map(T::of));
    let dt = T::of(TAU / options.steps_per_orbit as f64);
    let (cpu, clock) = (Cpu::new().checks(false), Instant::now());
    let (mut x, mut v) = start;
    let energy = |x: [T; 2], v: [T; 2]| plain::energy(x.map(T::value), v.map(T::value));
    let first = energy(x, v);
    kepler::orbit::run(&cpu, &mut x, &mut v, dt, steps)?;
    let energy_error = (energy(x, v) - first) / first.abs();
    kepler::orbit::run_inverse(&cpu, &mut x, &mut v, dt, steps)?;
    let apart = [0, 1].map(|k| (x[k].value() - start.0[k].value()).powi(2));
    Ok(Run {
        scalar: T::NAME,
        steps,
        energy_error,
        return_error: apart.iter().sum::<f64>().sqrt(),
        exact: (x, v) == start,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

/// Numbers of steps up to the most, evenly in their logarithms.
fn lengths(most: usize) -> Vec<usize> {
    let all = (0..).map(|k| 10f64.powf(f64::from(k) / f64::from(RUNS_PER_DECADE)).round() as usize);
    let mut lengths: Vec<usize> =
        all.take_while(|steps| *steps < most).filter(|steps| *steps >= 10).collect();
    lengths.push(most);
    lengths
}

fn all_runs(options: &Options) -> Result<Vec<Run>, Failure> {
    let types: [(Numbers, ThereAndBack); 3] = [
        (Numbers::F32, there_and_back::<f32>),
        (Numbers::F64, there_and_back::<f64>),
        (Numbers::Fixed43, there_and_back::<Fixed43>),
    ];
    let chosen = types.iter().filter(|(which, _)| [*which, Numbers::All].contains(&options.scalar));
    let lengths = lengths(options.steps);
    let bar = progress(lengths.iter().sum::<usize>() * chosen.clone().count());
    let mut runs = Vec::new();
    for (_, run) in chosen {
        for steps in &lengths {
            let done = run(options, *steps)?;
            bar.set_message(done.scalar);
            bar.inc(*steps as u64);
            runs.push(done);
        }
    }
    bar.finish_and_clear();
    Ok(runs)
}

fn print(options: &Options, runs: &[Run]) -> std::io::Result<()> {
    let title = format!("{} steps an orbit, eccentricity {}", options.steps_per_orbit, options.eccentricity);
    let columns = ["numbers", "steps", "energy off", "way back off", "all bits", "ns a step"];
    let mut report = Report::new(title, &columns);
    // whole powers of ten, and the last
    let whole = |run: &&Run| run.steps == options.steps || 10usize.pow(run.steps.ilog10()) == run.steps;
    for run in runs.iter().filter(whole) {
        let verdict = if run.exact { "yes" } else { "no" };
        let each = run.seconds * 1e9 / (2.0 * run.steps as f64);
        report.row([
            run.scalar.to_string(),
            run.steps.to_string(),
            format!("{:.2e}", run.energy_error),
            format!("{:.2e}", run.return_error),
            verdict.to_string(),
            format!("{each:.1}"),
        ]);
    }
    report.print()
}

/// Derivatives of where the planet ends, and whether fixed point came back.
fn check(options: &Options, runs: &[Run]) -> Result<Outcome, Failure> {
    let (x, v) = kepler::perihelion(options.eccentricity);
    let dt = TAU / options.steps_per_orbit as f64;
    let g = kepler::orbit::vjp(&Cpu::new(), [1.0, -0.5], [0.25, 2.0], &x, &v, dt, CHECKED)?;
    let derivatives = [g.position_bar, g.velocity_bar].concat();
    let mut checks = Checks::new();
    for (k, derivative) in derivatives.into_iter().enumerate() {
        let start = [x, v].concat();
        let value = |h: f64| -> Result<f64, Failure> {
            let (mut x, mut v) = (x, v);
            if k < 2 {
                x[k] += h;
            } else {
                v[k - 2] += h;
            }
            kepler::orbit(&mut x, &mut v, dt, CHECKED)?;
            Ok(x[0] - 0.5 * x[1] + 0.25 * v[0] + 2.0 * v[1])
        };
        let name = ["position[0]", "position[1]", "velocity[0]", "velocity[1]"][k];
        // the orbit is far from linear: a step of a thousandth is too long
        checks.compare(name.into(), derivative, start[k], |h| -> Result<f64, Failure> {
            let small = 0.01 * h;
            Ok((value(small)? - value(-small)?) * 100.0)
        })?;
    }
    let outcome = checks.finish()?;
    let lost = runs.iter().any(|run| run.scalar == Fixed43::NAME && !run.exact);
    Ok(if lost { Outcome::CheckFailed } else { outcome })
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let runs = all_runs(options)?;
    print(options, &runs)?;
    write_json(options.json.as_deref(), &runs)?;
    if let Some(path) = &options.plot {
        let svg = plot::document(&runs)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if options.check {
        return check(options, &runs);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
