//! The ground state of a chain of spins in a transverse field by a quantum circuit whose angles are searched by their gradient.

mod plot;
mod search;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use ndarray::ArrayView2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rev::device::Device;
use rev::tolerance::Options as RunOptions;
use rev_examples::support::{
    finish, number, positive, progress, write_json, Checks, DeviceName, Failure, Outcome, Report,
};
use rev_kernels::io::write_whole;
use rev_kernels::ising_chain::{self, plain};
use search::{minimize, Found, Objective};
use serde::Serialize;

/// The longest chain: a state of 16 MiB.
const LONGEST: usize = 20;

/// The most layers.
const DEEPEST: usize = 1000;

/// Searches the angles of a circuit for the ground state of H = -J Σ Z Z - h Σ X on an open chain.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Qubits of the chain
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = qubits)]
    qubits: usize,
    /// Layers of the circuit, as many as qubits when not given
    #[arg(long, value_name = "L", value_parser = layers)]
    layers: Option<usize>,
    /// The coupling J of neighbours
    #[arg(long, value_name = "J", default_value_t = 1.0, value_parser = strength)]
    coupling: f64,
    /// The transverse field h
    #[arg(long, value_name = "H", default_value_t = 1.0, value_parser = strength)]
    field: f64,
    /// Iterations of L-BFGS at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    iterations: u64,
    /// Which random angles to begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw the energy by iteration
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Where to run
    #[arg(long, value_enum, default_value_t = DeviceName::Cpu)]
    device: DeviceName,
    /// Number of threads, all of them when not given
    #[arg(long, value_name = "T", value_parser = positive)]
    threads: Option<usize>,
    /// Write sizes, energies and angles to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare derivatives with finite differences at 20 of the first angles, and the energy with its bound; exit status 1 when off
    #[arg(long)]
    check: bool,
}

fn qubits(text: &str) -> Result<usize, String> {
    let found = positive(text)?;
    if !(2..=LONGEST).contains(&found) {
        return Err(format!("expected from 2 to {LONGEST} qubits"));
    }
    Ok(found)
}

fn layers(text: &str) -> Result<usize, String> {
    let found = positive(text)?;
    if found > DEEPEST {
        return Err(format!("expected at most {DEEPEST} layers"));
    }
    Ok(found)
}

fn strength(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|x: &f64| x.abs() <= 1e6);
    found.ok_or_else(|| "a number from -1000000 to 1000000 is needed".into())
}

/// A chain and a circuit for it. Its angles are a vector: those of all bonds, by layers, then those of all fields.
pub struct Chain<'a> {
    device: &'a dyn Device,
    qubits: usize,
    layers: usize,
    coupling: f64,
    field: f64,
}

impl Chain<'_> {
    fn split<'x>(&self, angles: &'x [f64]) -> Result<[ArrayView2<'x, f64>; 2], Failure> {
        let (bonds, fields) = angles.split_at(self.layers * (self.qubits - 1));
        let shaped = |part: &'x [f64], columns: usize| {
            ArrayView2::from_shape((self.layers, columns), part).map_err(|e| Failure::Sizes(e.to_string()))
        };
        Ok([shaped(bonds, self.qubits - 1)?, shaped(fields, self.qubits)?])
    }

    fn energy(&self, angles: &[f64]) -> Result<f64, Failure> {
        let [bonds, fields] = self.split(angles)?;
        let mut energy = 0.0;
        ising_chain::energy::run(self.device, &mut energy, bonds, fields, self.coupling, self.field)?;
        Ok(energy)
    }
}

impl Objective for Chain<'_> {
    fn gradient(&self, angles: &[f64]) -> Result<(f64, Vec<f64>), Failure> {
        let [bonds, fields] = self.split(angles)?;
        let g = ising_chain::energy::gradient(self.device, bonds, fields, self.coupling, self.field)?;
        Ok((g.value, g.bond_angles.into_iter().chain(g.field_angles).collect()))
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    device: DeviceName,
    threads: usize,
    qubits: usize,
    layers: usize,
    coupling: f64,
    field: f64,
    angles: usize,
    /// By another way, without the circuit.
    exact_energy: f64,
    energy: f64,
    /// Relative to the exact one.
    error: f64,
    gradients: u64,
    /// Why the search ended.
    ended: String,
    seconds_per_value: f64,
    seconds_per_gradient: f64,
    state_bytes: usize,
    /// Before the first iteration and after each.
    energies: Vec<f64>,
    found: Vec<f64>,
}

impl Record {
    fn print(&self) -> std::io::Result<()> {
        let title = format!(
            "{} qubits, {} layers, {} angles; {:?}, threads: {}",
            self.qubits, self.layers, self.angles, self.device, self.threads
        );
        let mut report = Report::new(title, &["", ""]);
        let first = self.energies.first().copied().unwrap_or(f64::NAN);
        report.row(["energy at first".to_string(), number(first)]);
        report.row(["energy".to_string(), number(self.energy)]);
        report.row(["exact".to_string(), number(self.exact_energy)]);
        report.row(["off, relative".to_string(), format!("{:.1e}", self.error)]);
        let iterations = self.energies.len().saturating_sub(1);
        report.row(["iterations, gradients".to_string(), format!("{iterations}, {}", self.gradients)]);
        report.row(["ended by".to_string(), self.ended.clone()]);
        report.row(["seconds of a value".to_string(), number(self.seconds_per_value)]);
        report.row(["seconds of a gradient".to_string(), number(self.seconds_per_gradient)]);
        report.row(["bytes of a state".to_string(), self.state_bytes.to_string()]);
        report.print()
    }
}

/// Compares derivatives with finite differences, and the energy with the exact one, which is a bound.
fn check(chain: &Chain<'_>, record: &Record, first: &[f64]) -> Result<Outcome, Failure> {
    let (_, gradient) = chain.gradient(first)?;
    let (mut checks, mut x) = (Checks::new(), first.to_vec());
    for index in Checks::coordinates(x.len()) {
        let at = x[index];
        checks.compare(format!("x[{index}]"), gradient[index], at, |h| -> Result<f64, Failure> {
            x[index] = at + h;
            let up = chain.energy(&x)?;
            x[index] = at - h;
            let down = chain.energy(&x)?;
            x[index] = at;
            Ok(up - down)
        })?;
    }
    let outcome = checks.finish()?;
    let below = record.energy < record.exact_energy - 1e-9 * record.exact_energy.abs();
    Ok(if below { Outcome::CheckFailed } else { outcome })
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let threads =
        options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let run = RunOptions { checks: false, threads: Some(threads), ..RunOptions::default() };
    let device = options.device.open(run)?;
    let layers = options.layers.unwrap_or(options.qubits);
    let Options { qubits, coupling, field, .. } = *options;
    let chain = Chain { device: &*device, qubits, layers, coupling, field };
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let first: Vec<f64> = (0..layers * (2 * qubits - 1)).map(|_| 0.5 * rng.random::<f64>()).collect();
    let bar = progress(options.iterations as usize);
    let clock = Instant::now();
    let found = minimize(&chain, first.clone(), options.iterations, &bar);
    bar.finish_and_clear();
    let Found { angles, energies, gradients, ended } = found?;
    let seconds = clock.elapsed().as_secs_f64() / gradients.max(1) as f64;
    let clock = Instant::now();
    let energy = chain.energy(&angles)?;
    let seconds_per_value = clock.elapsed().as_secs_f64();
    let exact = plain::ground_energy(qubits, coupling, field);
    let record = Record {
        device: options.device,
        threads,
        qubits,
        layers,
        coupling,
        field,
        angles: angles.len(),
        exact_energy: exact,
        energy,
        error: (energy - exact) / exact.abs().max(1e-300),
        gradients,
        ended,
        seconds_per_value,
        seconds_per_gradient: seconds,
        state_bytes: 16 << qubits,
        energies,
        found: angles,
    };
    record.print()?;
    write_json(options.json.as_deref(), &record)?;
    if let Some(path) = &options.plot {
        let svg = plot::document(&record.energies, exact)?;
        write_whole(path, |out| out.write_all(svg.as_bytes()))?;
    }
    if options.check {
        return check(&chain, &record, &first);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
