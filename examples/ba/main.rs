//! Bundle adjustment: residuals, Jacobian blocks and gradient, on a file or a generated instance.

mod check;
#[path = "../support/format.rs"]
mod format;
mod problem;
#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use format::Format;
use problem::{Problem, Values};
use rev::device::{Backend, Device};
use rev_kernels::io::{
    read_ba_adbench, read_ba_full, read_bal, write_number_line, write_numbers, write_whole, MAX_NUMBERS,
};
use rev_kernels::{ba, bal};
use serde::Serialize;
use support::{
    finish, number, positive, DeviceName, Failure, Outcome, Report, RunOptions, Stopwatch, Timing,
};

/// Residuals, Jacobian blocks and gradient of bundle adjustment.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// An instance, instead of a generated one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cameras", "points", "observations", "seed"])]
    input: Option<PathBuf>,
    /// The format of the file; for a generated instance, which camera it has
    #[arg(long, value_enum, default_value_t = Format::Adbench)]
    format: Format,
    /// Number of generated cameras
    #[arg(long, value_name = "N", default_value_t = 49, value_parser = positive)]
    cameras: usize,
    /// Number of generated points
    #[arg(long, value_name = "M", default_value_t = 7776, value_parser = positive)]
    points: usize,
    /// Number of generated observations
    #[arg(long, value_name = "P", default_value_t = 31_843, value_parser = positive)]
    observations: usize,
    /// Seed of the generator
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    run: RunOptions,
}

/// How many observations' Jacobian blocks are held at a time, where they are written one after the other or a device computes them
/// all at once.
const CHUNK: usize = 1 << 12;

/// The same for each thread of a CPU: as many as stay in its cache.
const PART: usize = 1 << 9;

impl Options {
    /// The sizes of a generated instance, when they are few enough.
    fn generated(&self) -> Result<[usize; 3], Failure> {
        let [n, m, p] = [self.cameras, self.points, self.observations];
        let count = n.checked_mul(ba::CAMERA).and_then(|c| c.checked_add(m.checked_mul(3)?));
        match count.and_then(|c| c.checked_add(p.checked_mul(5)?)) {
            Some(count) if count <= MAX_NUMBERS => Ok([n, m, p]),
            _ => Err(Failure::Sizes(format!(
                "expected sizes that ask for at most {MAX_NUMBERS} numbers, found {n} {m} {p}"
            ))),
        }
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    device: DeviceName,
    threads: usize,
    sizes: Sizes,
    objective: f64,
    gradient_norm: f64,
    value_ms: Timing,
    jacobian_ms: Timing,
    gradient_ms: Timing,
}

#[derive(Serialize)]
struct Sizes {
    cameras: usize,
    points: usize,
    observations: usize,
}

fn print(record: &Record) -> std::io::Result<()> {
    let Sizes { cameras, points, observations } = record.sizes;
    let title = format!(
        "Bundle adjustment: {cameras} cameras, {points} points, {observations} observations; {:?}, threads: {}",
        record.device, record.threads
    );
    let mut report = Report::new(title, &["", "value", "time, min", "time, median", "of the values'"]);
    let values = record.value_ms.min;
    let rows = [
        ("residuals: ½ sum of squares", number(record.objective), record.value_ms),
        ("Jacobian blocks", String::new(), record.jacobian_ms),
        ("gradient: norm", number(record.gradient_norm), record.gradient_ms),
    ];
    for (name, value, time) in rows {
        let [min, median] = time.cells();
        report.row([name.to_string(), value, min, median, format!("{:.2}", time.min / values)]);
    }
    report.print()
}

/// Visits the Jacobian blocks of all observations, some at a time.
fn each_chunk<P: Problem>(
    device: &dyn Device,
    problem: &P,
    mut visit: impl FnMut(&P::Blocks, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let [_, _, p] = problem.sizes();
    let mut blocks = P::Blocks::default();
    for start in (0..p).step_by(CHUNK) {
        let end = p.min(start + CHUNK);
        problem.jacobian(device, start..end, &mut blocks)?;
        visit(&blocks, end - start)?;
    }
    Ok(())
}

/// Writes `jacobian.txt`: two lines per observation.
fn write_jacobian<P: Problem>(file: &Path, device: &dyn Device, problem: &P) -> Result<(), Failure> {
    let mut stopped = None;
    let written = write_whole(file, |out| {
        let visit = |blocks: &P::Blocks, count: usize| -> Result<(), Failure> {
            let mut rows = (0..count).flat_map(|i| P::rows(blocks, i));
            Ok(rows.try_for_each(|row| write_number_line(out, row.as_ref()))?)
        };
        each_chunk(device, problem, visit).map_err(|failure| match failure {
            Failure::Output(e) => e,
            other => {
                stopped = Some(other);
                std::io::Error::other("the Jacobian could not be computed")
            }
        })
    });
    match stopped {
        Some(failure) => Err(failure),
        None => Ok(written?),
    }
}

/// Writes the text files of `--out`.
fn write<P: Problem>(
    folder: &Path,
    device: &dyn Device,
    problem: &P,
    values: &Values,
    gradient: &[f64],
) -> Result<(), Failure> {
    write_numbers(&folder.join("reprojection_error.txt"), &values.reprojection)?;
    if !values.weight.is_empty() {
        let jacobian = problem.weight_jacobian(device)?;
        write_numbers(&folder.join("weight_error.txt"), values.weight.iter().map(|e| [*e]))?;
        write_numbers(&folder.join("weight_jacobian.txt"), jacobian.iter().map(|d| [*d]))?;
    }
    write_jacobian(&folder.join("jacobian.txt"), device, problem)?;
    write_numbers(&folder.join("gradient.txt"), gradient.iter().map(|g| [*g]))?;
    Ok(())
}

fn run<P: Problem>(options: &RunOptions, problem: &P) -> Result<Outcome, Failure> {
    let [cameras, points, observations] = problem.sizes();
    let device = options.open()?;
    let watch = Stopwatch::new(options.repeat, 3);
    let (values, value_ms) = watch.time("values", || problem.values(&*device))?;
    let size = match device.backend() {
        Backend::Native(_) => PART,
        Backend::Dynamic(_) => CHUNK,
    };
    let ((), jacobian_ms) = watch.time("Jacobian", || problem.each_jacobian(&*device, size))?;
    let ((_, gradient), gradient_ms) = watch.time("gradient", || problem.gradient(&*device))?;
    drop(watch);
    let record = Record {
        device: options.device,
        threads: options.threads(),
        sizes: Sizes { cameras, points, observations },
        objective: 0.5 * values.errors().map(|e| e * e).sum::<f64>(),
        gradient_norm: gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
        value_ms,
        jacobian_ms,
        gradient_ms,
    };
    print(&record)?;
    if let Some(folder) = options.folder()? {
        write(folder, &*device, problem, &values, &gradient)?;
    }
    options.write_json(&record)?;
    if options.check {
        return check::check(&*device, problem, &gradient);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    let options = Options::parse();
    let (format, seed) = (options.format, options.seed);
    let result = || match (&options.input, format) {
        (Some(file), Format::Adbench) => run(&options.run, &read_ba_adbench(file)?),
        (Some(file), Format::Full) => run(&options.run, &read_ba_full(file)?),
        (Some(file), Format::Bal) => run(&options.run, &read_bal(file)?),
        (None, Format::Adbench | Format::Full) => {
            let [n, m, p] = options.generated()?;
            run(&options.run, &ba::Instance::random(n, m, p, seed))
        }
        (None, Format::Bal) => {
            let [n, m, p] = options.generated()?;
            run(&options.run, &bal::Instance::random(n, m, p, seed))
        }
    };
    finish(result())
}
