//! The log-posterior of a Gaussian mixture and its gradient, on an ADBench file or a generated
//! instance.

mod support;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rev::device::Device;
use rev_kernels::gmm::{self, parameter_count, Instance};
use rev_kernels::io::{read_gmm, write_numbers, MAX_NUMBERS};
use serde::Serialize;
use support::{
    finish, number, positive, Checks, DeviceName, Failure, Outcome, Report, RunOptions, Stopwatch, Timing,
};

/// The log-posterior of a Gaussian mixture and its gradient.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// An instance in ADBench's format, instead of a generated one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dim", "components", "points", "seed"])]
    input: Option<PathBuf>,
    /// Dimension of the generated points
    #[arg(long, value_name = "D", default_value_t = 10, value_parser = positive)]
    dim: usize,
    /// Number of components of the generated mixture
    #[arg(long, value_name = "K", default_value_t = 25, value_parser = positive)]
    components: usize,
    /// Number of generated points
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = positive)]
    points: usize,
    /// Seed of the generator
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: RunOptions,
}

impl Options {
    fn instance(&self) -> Result<Instance, Failure> {
        if let Some(file) = &self.input {
            return Ok(read_gmm(file)?);
        }
        let (d, k, n) = (self.dim, self.components, self.points);
        let numbers = parameter_count(d, k).and_then(|count| count.checked_add(n.checked_mul(d)?));
        match numbers {
            Some(count) if count <= MAX_NUMBERS => Ok(Instance::random(d, k, n, self.seed)),
            _ => Err(Failure::Sizes(format!(
                "expected sizes that ask for at most {MAX_NUMBERS} numbers, found D = {d}, K = {k}, N = {n}"
            ))),
        }
    }
}

/// The gradient in the file's order: α, means, icf.
fn gradient(device: &dyn Device, i: &Instance) -> Result<Vec<f64>, Failure> {
    let g = gmm::gradient(device, i)?;
    Ok(g.alphas.iter().chain(&g.means).chain(&g.icf).copied().collect())
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    device: DeviceName,
    threads: usize,
    sizes: Sizes,
    objective: f64,
    gradient_norm: f64,
    objective_ms: Timing,
    gradient_ms: Timing,
}

#[derive(Serialize)]
struct Sizes {
    dim: usize,
    components: usize,
    points: usize,
}

fn print(record: &Record, parameters: usize) -> std::io::Result<()> {
    let Sizes { dim, components, points } = record.sizes;
    let title = format!(
        "Gaussian mixture: D = {dim}, K = {components}, N = {points}, {parameters} parameters; {:?}, threads: {}",
        record.device, record.threads
    );
    let mut report = Report::new(title, &["", "value", "time, min", "time, median"]);
    let [min, median] = record.objective_ms.cells();
    report.row(["objective".into(), number(record.objective), min, median]);
    let [min, median] = record.gradient_ms.cells();
    report.row(["gradient norm".into(), number(record.gradient_norm), min, median]);
    let ratio = |g: f64, o: f64| format!("{:.2}", g / o);
    let (o, g) = (record.objective_ms, record.gradient_ms);
    report.row([
        "gradient / objective".into(),
        String::new(),
        ratio(g.min, o.min),
        ratio(g.median, o.median),
    ]);
    report.print()
}

/// Compares the gradient with finite differences of the objective.
fn check(device: &dyn Device, instance: &Instance, gradient: &[f64]) -> Result<Outcome, Failure> {
    let mut checks = Checks::new();
    let mut moved = instance.clone();
    for index in Checks::coordinates(gradient.len()) {
        let (name, x) = coordinate(&mut moved, index);
        let x = *x;
        checks.compare(name, gradient[index], x, |h| -> Result<f64, Failure> {
            *coordinate(&mut moved, index).1 = x + h;
            let up = gmm::value(device, &moved)?;
            *coordinate(&mut moved, index).1 = x - h;
            let down = gmm::value(device, &moved)?;
            *coordinate(&mut moved, index).1 = x;
            Ok(up - down)
        })?;
    }
    Ok(checks.finish()?)
}

/// A parameter by its number in the gradient: its name and its place.
fn coordinate(instance: &mut Instance, index: usize) -> (String, &mut f64) {
    let [d, k, _] = instance.sizes();
    if index < k {
        return (format!("α[{index}]"), &mut instance.alphas[index]);
    }
    let index = index - k;
    if index < k * d {
        return (format!("μ[{}, {}]", index / d, index % d), &mut instance.means[[index / d, index % d]]);
    }
    let (index, row) = (index - k * d, instance.icf.ncols());
    (format!("icf[{}, {}]", index / row, index % row), &mut instance.icf[[index / row, index % row]])
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let instance = options.instance()?;
    let device = options.run.open()?;
    let watch = Stopwatch::new(options.run.repeat, 2);
    let (value, objective_ms) = watch.time("objective", || gmm::value(&*device, &instance))?;
    let (gradient, gradient_ms) = watch.time("gradient", || gradient(&*device, &instance))?;
    drop(watch);
    let [dim, components, points] = instance.sizes();
    let record = Record {
        device: options.run.device,
        threads: options.run.threads(),
        sizes: Sizes { dim, components, points },
        objective: value,
        gradient_norm: gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
        objective_ms,
        gradient_ms,
    };
    print(&record, gradient.len())?;
    if let Some(folder) = options.run.folder()? {
        write_numbers(&folder.join("objective.txt"), [[value]])?;
        write_numbers(&folder.join("gradient.txt"), gradient.iter().map(|g| [*g]))?;
    }
    options.run.write_json(&record)?;
    if options.run.check {
        return check(&*device, &instance, &gradient);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
