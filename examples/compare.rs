//! Value and gradient of a program on several devices: how far they are apart, and where.

#[path = "support/format.rs"]
mod format;
mod support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use format::Format;
use ndarray::Array2;
use rev::device::Device;
use rev::tolerance::Options as RunOptions;
use rev::{Comparison, Outputs};
use rev_kernels::io::{read_ba_adbench, read_ba_full, read_bal, read_gmm};
use rev_kernels::{ba, bal, bessel, gmm};
use serde::Serialize;
use support::{finish, positive, write_json, DeviceName, Failure, Outcome};

/// Value and gradient of a program on several devices. Exit status 1 where any is further from the first than
/// the tolerance, or, with --deterministic, where any number differs.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// What to run
    #[arg(long, value_enum)]
    program: Program,
    /// An instance in the program's format, instead of a generated one
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The format of a file for ba (adbench where not given) or bal
    #[arg(long, value_enum, requires = "input")]
    format: Option<Format>,
    /// Size of the generated instance: 1 is for the emulator, 100 for real devices
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    size: usize,
    /// Two devices or more, each compared with the first; cpu and cuda where there is one, else cpu and emulator
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1..)]
    devices: Vec<DeviceName>,
    /// The scalar
    #[arg(long, value_enum, default_value_t = Scalar::F64)]
    scalar: Scalar,
    /// Add up shared sums in one order on all devices: every bit has to agree
    #[arg(long)]
    deterministic: bool,
    /// The largest difference that passes, as a fraction of max(1, |a| + |b|): 1e-12, for f32 1e-5 √n,
    /// where not given
    #[arg(long, value_name = "T")]
    tolerance: Option<f64>,
    /// Where two differ in any bit: run both statement by statement, and name the first that differs
    #[arg(long)]
    locate: bool,
    /// Write the outcome to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Program {
    /// The log-posterior of a Gaussian mixture
    Gmm,
    /// Bundle adjustment with ADBench's camera
    Ba,
    /// Bundle adjustment with BAL's camera
    Bal,
    /// Bessel functions at many points
    Bessel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Scalar {
    F32,
    F64,
}

/// Runs on a device.
type Call = Box<dyn Fn(&dyn Device) -> Result<Outputs, rev::Error>>;

/// A device of any kind.
type AnyDevice = Box<dyn Device>;

/// Something to run, and how many terms its longest sum has.
struct Run {
    call: Call,
    terms: usize,
}

/// A gradient at an instance of `f64`, in either scalar.
macro_rules! in_scalar {
    ($scalar:expr, $t:ident => $run:expr) => {
        match $scalar {
            Scalar::F64 => {
                type $t = f64;
                $run
            }
            Scalar::F32 => {
                type $t = f32;
                $run
            }
        }
    };
}

fn gmm_run(i: gmm::Instance, scalar: Scalar) -> Run {
    let terms = i.points.nrows();
    let call: Call = in_scalar!(scalar, T => {
        let alphas: Vec<T> = i.alphas.iter().map(|v| *v as T).collect();
        let [means, icf, points]: [Array2<T>; 3] = [&i.means, &i.icf, &i.points].map(|a| a.mapv(|v| v as T));
        Box::new(move |device| {
            let g = gmm::objective::gradient(
                device, &alphas, means.view(), icf.view(), points.view(), i.gamma as T, i.m,
            )?;
            Ok(Outputs::new()
                .with("value", &g.value)
                .with("alphas", &g.alphas)
                .with("means", &g.means)
                .with("icf", &g.icf))
        })
    });
    Run { call, terms }
}

fn ba_run(i: ba::Instance, scalar: Scalar) -> Run {
    let terms = i.features.len();
    let call: Call = in_scalar!(scalar, T => {
        let cameras: Vec<_> = i.cameras.iter().map(|c| c.map(|v| v as T)).collect();
        let points: Vec<_> = i.points.iter().map(|p| p.map(|v| v as T)).collect();
        let features: Vec<_> = i.features.iter().map(|f| f.map(|v| v as T)).collect();
        let weights: Vec<T> = i.weights.iter().map(|v| *v as T).collect();
        Box::new(move |device| {
            let g = ba::objective::gradient(
                device, &cameras, &points, &weights, &i.camera_of, &i.point_of, &features,
            )?;
            Ok(Outputs::new()
                .with("value", &g.value)
                .with("cameras", &g.cameras)
                .with("points", &g.points)
                .with("weights", &g.weights))
        })
    });
    Run { call, terms }
}

fn bal_run(i: bal::Instance, scalar: Scalar) -> Run {
    let terms = i.features.len();
    let call: Call = in_scalar!(scalar, T => {
        let cameras: Vec<_> = i.cameras.iter().map(|c| c.map(|v| v as T)).collect();
        let points: Vec<_> = i.points.iter().map(|p| p.map(|v| v as T)).collect();
        let features: Vec<_> = i.features.iter().map(|f| f.map(|v| v as T)).collect();
        Box::new(move |device| {
            let g = bal::objective::gradient(device, &cameras, &points, &i.camera_of, &i.point_of, &features)?;
            Ok(Outputs::new().with("value", &g.value).with("cameras", &g.cameras).with("points", &g.points))
        })
    });
    Run { call, terms }
}

fn bessel_run(points: usize, scalar: Scalar) -> Run {
    let call: Call = in_scalar!(scalar, T => {
        let z: Vec<T> = (1..=points).map(|k| 2.0 * k as T / points as T).collect();
        let tolerance = 64.0 * T::EPSILON;
        Box::new(move |device| {
            let (mut values, seeds) = (vec![0.0 as T; z.len()], vec![1.0 as T; z.len()]);
            bessel::bessel_j_each::run(device, &mut values, 2, &z, tolerance)?;
            let back = bessel::bessel_j_each::vjp(device, &seeds, &vec![0.0; z.len()], 2, &z, tolerance)?;
            Ok(Outputs::new().with("value", &values).with("z", &back.z_bar))
        })
    });
    Run { call, terms: 1 }
}

impl Options {
    fn run(&self) -> Result<Run, Failure> {
        let (s, scalar) = (self.size, self.scalar);
        if let (Program::Ba | Program::Bal, Some(file)) = (self.program, &self.input) {
            return self.adjustment(file);
        }
        if self.format.is_some() {
            return Err(Failure::Sizes("--format is for ba and bal".into()));
        }
        Ok(match (self.program, &self.input) {
            (Program::Gmm, Some(file)) => gmm_run(read_gmm(file)?, scalar),
            (Program::Gmm, None) => gmm_run(gmm::Instance::random(3, 4, 300 * s, 1), scalar),
            (Program::Ba, _) => ba_run(ba::Instance::random(3, 20 * s, 300 * s, 1), scalar),
            (Program::Bal, _) => bal_run(bal::Instance::random(3, 20 * s, 300 * s, 1), scalar),
            (Program::Bessel, None) => bessel_run(1000 * s, scalar),
            (Program::Bessel, Some(_)) => {
                return Err(Failure::Sizes("bessel takes no --input, only --size".into()));
            }
        })
    }

    /// Bundle adjustment on a file.
    fn adjustment(&self, file: &Path) -> Result<Run, Failure> {
        let own = if self.program == Program::Ba { Format::Adbench } else { Format::Bal };
        match (self.format.unwrap_or(own), self.program) {
            (Format::Bal, _) => Ok(bal_run(read_bal(file)?, self.scalar)),
            (Format::Adbench, Program::Ba) => Ok(ba_run(read_ba_adbench(file)?, self.scalar)),
            (Format::Full, Program::Ba) => Ok(ba_run(read_ba_full(file)?, self.scalar)),
            (Format::Adbench | Format::Full, _) => {
                Err(Failure::Sizes("a camera of bal has 9 numbers: its only --format is bal".into()))
            }
        }
    }

    /// The device that the others are compared with, and these.
    fn devices(&self) -> Result<(AnyDevice, Vec<AnyDevice>), Failure> {
        let options =
            RunOptions { checks: false, deterministic: self.deterministic, ..RunOptions::default() };
        let open = |name: DeviceName| name.open(options.clone());
        match self.devices.as_slice() {
            [] => {
                let other = open(DeviceName::Cuda).or_else(|e| {
                    println!("{e}\ncomparing with the emulator instead");
                    open(DeviceName::Emulator)
                })?;
                Ok((open(DeviceName::Cpu)?, vec![other]))
            }
            [_] => Err(Failure::Sizes("one device can't be compared: name two or more".into())),
            [first, others @ ..] => {
                Ok((open(*first)?, others.iter().map(|d| open(*d)).collect::<Result<_, _>>()?))
            }
        }
    }
}

/// What `--out` writes, for each device that is compared with the first.
#[derive(Serialize)]
struct Record {
    program: Program,
    scalar: Scalar,
    deterministic: bool,
    devices: [String; 2],
    seconds: [f64; 2],
    identical: bool,
    tolerance: f64,
    passed: bool,
    values: Vec<Row>,
    first_difference: Option<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    scalars: usize,
    differing: usize,
    absolute: Option<Peak>,
    relative: Option<Peak>,
    ulps: Option<Peak>,
    scaled: f64,
}

#[derive(Serialize)]
struct Peak {
    size: f64,
    place: String,
    values: [String; 2],
}

fn rows(outcome: &Comparison) -> Vec<Row> {
    let peak = |w: &Option<rev::verify::Worst>| {
        w.clone().map(|w| Peak { size: w.size, place: w.place, values: w.values })
    };
    let row = |r: &rev::verify::ValueRow| Row {
        name: r.name.clone(),
        scalars: r.scalars,
        differing: r.differing,
        absolute: peak(&r.absolute),
        relative: peak(&r.relative),
        ulps: peak(&r.ulps),
        scaled: r.scaled,
    };
    outcome.values.iter().map(row).collect()
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let run = options.run()?;
    let (first, others) = options.devices()?;
    let mut records = Vec::new();
    for other in &others {
        records.push(compare(options, &run, [&*first, &**other])?);
    }
    write_json(options.out.as_deref(), &records)?;
    Ok(if records.iter().all(|r| r.passed) { Outcome::Good } else { Outcome::CheckFailed })
}

/// Compares two devices, and prints how far they are apart.
fn compare(options: &Options, run: &Run, devices: [&dyn Device; 2]) -> Result<Record, Failure> {
    let outcome = rev::compare(devices, |device| (run.call)(device))?;
    print!("{outcome}");
    let tolerance = options.tolerance.unwrap_or(match options.scalar {
        _ if options.deterministic => 0.0,
        Scalar::F64 => 1e-12,
        Scalar::F32 => 1e-5 * (run.terms as f64).sqrt(),
    });
    let passed = if tolerance > 0.0 { outcome.within(tolerance) } else { outcome.identical() };
    let verdict = if passed { "within" } else { "beyond" };
    println!("{verdict} the tolerance of {tolerance:e}");
    let search = match options.locate && !outcome.identical() {
        true => Some(rev::verify::locate(devices, |device| (run.call)(device))?),
        false => None,
    };
    if let Some(search) = &search {
        println!("{search}");
    }
    Ok(Record {
        program: options.program,
        scalar: options.scalar,
        deterministic: options.deterministic,
        seconds: outcome.times.map(|t| t.as_secs_f64()),
        identical: outcome.identical(),
        tolerance,
        passed,
        values: rows(&outcome),
        devices: outcome.devices,
        first_difference: search.map(|search| search.to_string()),
    })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
