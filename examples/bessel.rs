//! Bessel functions of the first kind by their power series, and their derivatives, at many points.

mod support;

use std::process::ExitCode;

use clap::Parser;
use rev::device::Device;
use rev_kernels::bessel::{bessel_j_each, plain};
use rev_kernels::io::{write_numbers, MAX_NUMBERS};
use serde::Serialize;
use support::{
    finish, number, positive, Checks, DeviceName, Failure, Outcome, Report, RunOptions, Stopwatch, Timing,
};

/// J of one order and its derivative at evenly spaced points, by the power series.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The order of the function
    #[arg(long, value_name = "V", default_value_t = 2, value_parser = order)]
    order: usize,
    /// Number of points
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = positive)]
    points: usize,
    /// The last point; the first one is this divided by the number of points
    #[arg(long, value_name = "Z", default_value_t = 2.0, value_parser = finite)]
    upper: f64,
    /// Terms of the series are added until one isn't larger than this
    #[arg(long, value_name = "E", default_value_t = 1e-8, value_parser = above_zero)]
    tolerance: f64,
    #[command(flatten)]
    run: RunOptions,
}

/// An order whose factorial an `i64` holds.
fn order(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n <= 20).ok_or_else(|| "a whole number from 0 to 20 is needed".into())
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|z: &f64| z.is_finite()).ok_or_else(|| "a finite number is needed".into())
}

fn above_zero(text: &str) -> Result<f64, String> {
    match finite(text)? {
        x if x > 0.0 => Ok(x),
        _ => Err("a number above 0 is needed".into()),
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Record {
    device: DeviceName,
    threads: usize,
    sizes: Sizes,
    value_ms: Timing,
    gradient_ms: Timing,
}

#[derive(Serialize)]
struct Sizes {
    order: usize,
    points: usize,
}

/// The functions and their derivatives at the points.
struct Series<'a> {
    order: usize,
    tolerance: f64,
    device: &'a dyn Device,
}

impl Series<'_> {
    fn values(&self, z: &[f64]) -> Result<Vec<f64>, Failure> {
        let mut values = vec![0.0; z.len()];
        bessel_j_each::run(self.device, &mut values, self.order, z, self.tolerance)?;
        Ok(values)
    }

    fn derivatives(&self, z: &[f64]) -> Result<Vec<f64>, Failure> {
        let (seeds, start) = (vec![1.0; z.len()], vec![0.0; z.len()]);
        Ok(bessel_j_each::vjp(self.device, &seeds, &start, self.order, z, self.tolerance)?.z_bar)
    }

    /// A few of the points beside the plain twin.
    fn print(&self, z: &[f64], values: &[f64], derivatives: &[f64]) -> std::io::Result<()> {
        let v = self.order;
        let columns = ["z", &format!("J{v}(z)"), "off the twin", &format!("J{v}'(z)"), "off the twin"];
        let mut report = Report::new(format!("Bessel function of order {v}"), &columns);
        let rows = z.len().min(8);
        for i in (1..=rows).map(|k| k * z.len() / rows - 1) {
            let (value, derivative) = plain::gradient(v as u32, z[i], f64::EPSILON * self.tolerance);
            report.row([
                number(z[i]),
                format!("{:.12}", values[i]),
                format!("{:.1e}", (values[i] - value).abs()),
                format!("{:.12}", derivatives[i]),
                format!("{:.1e}", (derivatives[i] - derivative).abs()),
            ]);
        }
        report.print()
    }

    fn check(&self, z: &[f64], derivatives: &[f64]) -> Result<Outcome, Failure> {
        let mut checks = Checks::new();
        for i in Checks::coordinates(z.len()) {
            checks.compare(format!("J{}'({})", self.order, z[i]), derivatives[i], z[i], |h| {
                let ends = self.values(&[z[i] + h, z[i] - h])?;
                Ok::<f64, Failure>(ends[0] - ends[1])
            })?;
        }
        Ok(checks.finish()?)
    }
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let (n, run) = (options.points, &options.run);
    if n > MAX_NUMBERS {
        return Err(Failure::Sizes(format!("expected at most {MAX_NUMBERS} points, found {n}")));
    }
    let z: Vec<f64> = (1..=n).map(|i| options.upper * i as f64 / n as f64).collect();
    let device = run.open()?;
    let series = Series { order: options.order, tolerance: options.tolerance, device: &*device };
    let watch = Stopwatch::new(run.repeat, 2);
    let (values, value_ms) = watch.time("values", || series.values(&z))?;
    let (derivatives, gradient_ms) = watch.time("derivatives", || series.derivatives(&z))?;
    drop(watch);
    series.print(&z, &values, &derivatives)?;
    let title = format!("{n} points; {:?}, threads: {}", run.device, run.threads());
    let mut report = Report::new(title, &["", "time, min", "time, median", "per point"]);
    for (name, time) in [("values", value_ms), ("derivatives", gradient_ms)] {
        let [min, median] = time.cells();
        report.row([name.to_string(), min, median, format!("{:.1} ns", time.min * 1e6 / n as f64)]);
    }
    report.print()?;
    if let Some(folder) = run.folder()? {
        write_numbers(&folder.join("value.txt"), values.iter().map(|v| [*v]))?;
        write_numbers(&folder.join("gradient.txt"), derivatives.iter().map(|d| [*d]))?;
    }
    let sizes = Sizes { order: options.order, points: n };
    run.write_json(&Record { device: run.device, threads: run.threads(), sizes, value_ms, gradient_ms })?;
    if run.check {
        return series.check(&z, &derivatives);
    }
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
