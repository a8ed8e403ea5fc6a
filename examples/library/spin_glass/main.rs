//! The ground state of a random spin glass: its energy by tropical contraction, its configuration by the gradient.

mod plot;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use indicatif::ProgressBar;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rev::device::Device;
use rev::prelude::*;
use rev_classics::spin_glass::{plain, Glass, GlassError, Ground};
use rev_examples::support::{finish, number, positive, write_json, Failure, Outcome, Report};
use rev_kernels::io::write_whole;
use serde::Serialize;

/// The largest lattice: its vectors have `2²⁰` numbers each.
const LARGEST: usize = 20;

/// The largest lattice of which all configurations are tried.
const LARGEST_TRIED: usize = 5;

/// How far energies may be apart: sums of some hundreds of numbers of the order of one.
const TOLERANCE: f64 = 1e-9;

/// The ground state of an Ising spin glass on a lattice of squares with random couplings.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Spins by row and by column
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = size)]
    size: usize,
    /// Which random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The couplings' distribution
    #[arg(long, value_enum, default_value_t = Bonds::Uniform)]
    bonds: Bonds,
    /// The strength of random fields: they are evenly between its negative and itself
    #[arg(long, value_name = "H", default_value_t = 0.0, value_parser = strength)]
    field: f64,
    /// Couple the last spin of each row to its first
    #[arg(long)]
    around: bool,
    /// Number of threads, all of them when not given
    #[arg(long, value_name = "T", value_parser = positive)]
    threads: Option<usize>,
    /// Write couplings, fields, energy and spins to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the configuration, and which couplings it satisfies
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Compare with the energy of the spins themselves, with plain Rust and, up to 5 x 5, with all configurations; exit status 1
    /// when off
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Bonds {
    /// Evenly between -1 and 1
    Uniform,
    /// 1 or -1: many ground states
    Signs,
}

fn size(text: &str) -> Result<usize, String> {
    let found = positive(text)?;
    if found > LARGEST {
        return Err(format!("at most {LARGEST} spins by row and by column are contracted"));
    }
    Ok(found)
}

fn strength(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|h: &f64| (0.0..=1e6).contains(h));
    found.ok_or_else(|| "a number from 0 to 1000000 is needed".into())
}

/// A lattice of random couplings.
struct Lattice {
    right: Array2<f64>,
    down: Array2<f64>,
    field: Array2<f64>,
}

impl Lattice {
    fn random(options: &Options) -> Lattice {
        let (n, mut rng) = (options.size, ChaCha8Rng::seed_from_u64(options.seed));
        let mut even = || 2.0 * rng.random::<f64>() - 1.0;
        let mut bond = || match options.bonds {
            Bonds::Uniform => even(),
            Bonds::Signs => even().signum(),
        };
        let mut right = Array2::from_shape_simple_fn((n, n), &mut bond);
        let down = Array2::from_shape_simple_fn((n - 1, n), &mut bond);
        let field = Array2::from_shape_simple_fn((n, n), || options.field * even());
        if !options.around {
            right.column_mut(n - 1).fill(0.0);
        }
        Lattice { right, down, field }
    }

    fn glass(&self) -> Result<Glass, GlassError> {
        Glass::new(self.right.clone(), self.down.clone(), self.field.clone())
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    size: usize,
    seed: u64,
    bonds: Bonds,
    energy: f64,
    energy_per_spin: f64,
    magnetization: f64,
    /// The part of the couplings that the configuration doesn't satisfy.
    frustrated: f64,
    seconds: f64,
    right: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
    field: Vec<Vec<f64>>,
    spins: Vec<Vec<i8>>,
}

fn rows<T: Copy>(array: &Array2<T>) -> Vec<Vec<T>> {
    array.rows().into_iter().map(|row| row.to_vec()).collect()
}

/// Couplings that aren't zero: how many, and how many the spins don't satisfy.
fn frustration(lattice: &Lattice, spins: &Array2<i8>) -> (usize, usize) {
    let n = spins.ncols();
    let turned = |i: usize, j: usize, v: usize, u: usize| f64::from(spins[[i, j]] * spins[[v, u]]);
    let right = lattice.right.indexed_iter().map(|((i, j), x)| x * turned(i, j, i, (j + 1) % n));
    let down = lattice.down.indexed_iter().map(|((i, j), x)| x * turned(i, j, i + 1, j));
    let all: Vec<f64> = right.chain(down).filter(|x| *x != 0.0).collect();
    (all.len(), all.iter().filter(|x| **x < 0.0).count())
}

impl Record {
    fn new(options: &Options, lattice: &Lattice, ground: &Ground, seconds: f64) -> Record {
        let spins = (options.size * options.size) as f64;
        let (all, frustrated) = frustration(lattice, &ground.spins);
        Record {
            size: options.size,
            seed: options.seed,
            bonds: options.bonds,
            energy: ground.energy,
            energy_per_spin: ground.energy / spins,
            magnetization: ground.spins.iter().map(|s| f64::from(*s)).sum::<f64>() / spins,
            frustrated: frustrated as f64 / all.max(1) as f64,
            seconds,
            right: rows(&lattice.right),
            down: rows(&lattice.down),
            field: rows(&lattice.field),
            spins: rows(&ground.spins),
        }
    }

    fn print(&self) -> std::io::Result<()> {
        let title = format!("{0} x {0} spins, seed {1}", self.size, self.seed);
        let mut report = Report::new(title, &["", ""]);
        report.row(["energy".to_string(), number(self.energy)]);
        report.row(["energy of a spin".to_string(), number(self.energy_per_spin)]);
        report.row(["magnetization".to_string(), number(self.magnetization)]);
        report.row(["couplings not satisfied".to_string(), number(self.frustrated)]);
        report.row(["seconds".to_string(), number(self.seconds)]);
        report.print()?;
        let mut out = std::io::stdout().lock();
        for row in &self.spins {
            let line: String = row.iter().map(|s| if *s > 0 { " +" } else { " -" }).collect();
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// Compares the ground state with others.
fn check(glass: &Glass, ground: &Ground) -> Result<Outcome, Failure> {
    let mut report = Report::new("Energies", &["by", "energy", "difference"]);
    let mut others = vec![("its configuration", glass.energy(&ground.spins))];
    others.push(("plain Rust", plain::ground_energy(glass)));
    if glass.size().0 <= LARGEST_TRIED {
        others.push(("all configurations", plain::exhaustive(glass).energy));
    }
    let mut good = true;
    for (name, energy) in others {
        let off = (energy - ground.energy).abs();
        good &= off <= TOLERANCE * ground.energy.abs().max(1.0);
        report.row([name.to_string(), number(energy), format!("{off:.1e}")]);
    }
    report.print()?;
    let verdict = if good { "within" } else { "NOT within" };
    writeln!(std::io::stdout().lock(), "all {verdict} {TOLERANCE:e}")?;
    Ok(if good { Outcome::Good } else { Outcome::CheckFailed })
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let lattice = Lattice::random(options);
    let glass = lattice.glass().map_err(|e| Failure::Sizes(e.to_string()))?;
    let threads =
        options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let cpu = Cpu::with_threads(threads).checks(false);
    let bar = ProgressBar::new_spinner().with_message("contracting");
    bar.enable_steady_tick(std::time::Duration::from_millis(100));
    let clock = Instant::now();
    let ground = glass.ground(&cpu as &dyn Device);
    bar.finish_and_clear();
    let ground = ground?;
    let record = Record::new(options, &lattice, &ground, clock.elapsed().as_secs_f64());
    record.print()?;
    write_json(options.json.as_deref(), &record)?;
    if let Some(path) = &options.plot {
        let svg = plot::document(&lattice, &ground.spins)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if options.check {
        return check(&glass, &ground);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
