//! What a GPU does: correctness beside the CPU, bandwidth, and the times of the benchmark programs.

// Options and times are for the measuring programs.
#[allow(dead_code, unused_imports)]
mod support;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use ndarray::Array2;
use rev::cuda::driver::Driver;
use rev::cuda::Gpu;
use rev::device::Device;
use rev::ir::{Direction, Module};
use rev::kernels::io::write_whole;
use rev::kernels::{ba, bessel, gmm};
use rev::prelude::Cpu;
use rev::scalar::Batch;
use rev::value::DynArg;
use rev::{Comparison, Cuda, Emulator, Outputs};
use serde::Serialize;
use support::{finish, positive, DeviceName, Failure, Outcome};

const ADJOINT: Direction = Direction { adjoint: 1, inverse: false };

/// Runs the comparisons with the CPU and the benchmarks on a GPU, and writes gpu.md and gpu.json. Exit
/// status 1 where a number differs or a program can't be run.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// cuda or emulator
    #[arg(long, value_enum, default_value_t = DeviceName::Cuda)]
    device: DeviceName,
    /// The instances' size: 100 is the benchmarks' own, 1 is for the emulator
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = positive)]
    size: usize,
    /// How often each time is taken
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = positive)]
    repeat: usize,
    /// The folder for the results
    #[arg(long, value_name = "DIR", default_value = "out/gpu")]
    out: PathBuf,
}

/// One measurement.
#[derive(Serialize)]
struct Time {
    name: String,
    /// The shortest, or why there is none.
    milliseconds: Result<f64, String>,
    /// The time that the memory traffic takes that can't be avoided, at the measured bandwidth.
    floor_milliseconds: Option<f64>,
}

/// One comparison with the CPU.
#[derive(Serialize)]
struct Agreement {
    name: String,
    /// How many numbers differ, of how many; or why there is no comparison.
    differing: Result<[usize; 2], String>,
}

/// What `gpu.json` has.
#[derive(Serialize)]
struct Record {
    device: String,
    size: usize,
    bytes_per_second: f64,
    agreements: Vec<Agreement>,
    times: Vec<Time>,
}

/// The benchmarks on a device.
struct Bench<'a, D: Driver> {
    gpu: &'a Gpu<D>,
    options: &'a Options,
}

impl<D: Driver> Bench<'_, D> {
    /// The shortest time of some work on the device, in milliseconds.
    fn shortest(&self, mut work: impl FnMut() -> Result<(), rev::Error>) -> Result<f64, rev::Error> {
        work()?;
        self.gpu.driver().synchronize()?;
        let mut best = f64::INFINITY;
        for _ in 0..self.options.repeat {
            let start = Instant::now();
            work()?;
            self.gpu.driver().synchronize()?;
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(best)
    }

    /// Bytes read and written per second by a copy within the device.
    fn bandwidth(&self) -> Result<f64, rev::Error> {
        let (driver, bytes) = (self.gpu.driver(), self.options.size.min(100) * 5_000_000);
        let (from, to) = (driver.allocate("copy source", bytes)?, driver.allocate("copy target", bytes)?);
        driver.clear(from, bytes)?;
        let milliseconds = self.shortest(|| driver.copy(to, from, bytes));
        driver.free(from);
        driver.free(to);
        Ok(2.0 * bytes as f64 / (milliseconds? * 1e-3))
    }

    /// A program with its arguments on the device; no copies to or from the host.
    fn program(&self, name: String, module: &Module, args: &[&dyn DynArg]) -> Time {
        let shortest = || {
            let prepared = self.gpu.prepare(module, ADJOINT, args)?;
            let arrays = args.iter().enumerate().map(|(k, a)| prepared.upload(k, *a));
            let arrays = arrays.collect::<Result<Vec<_>, rev::Error>>()?;
            let arrays: Vec<_> = arrays.iter().collect();
            self.shortest(|| prepared.run(&arrays))
        };
        let milliseconds = shortest().map_err(|e| e.cause().to_string());
        Time { name, milliseconds, floor_milliseconds: None }
    }

    fn times(&self, bandwidth: f64) -> Vec<Time> {
        let mut times = Vec::new();
        let share = |n: usize| (n * self.options.size).div_ceil(100);
        for (d, k) in [(2, 5), (10, 25), (32, 25)] {
            let i = gmm::Instance::random(d, k, share(10_000), 1);
            let zeros = |a: &Array2<f64>| Array2::<f64>::zeros(a.raw_dim());
            let args: [&dyn DynArg; 14] = [
                &0.0,
                &1.0,
                &i.alphas,
                &vec![0.0; k],
                &i.means,
                &zeros(&i.means),
                &i.icf,
                &zeros(&i.icf),
                &i.points,
                &zeros(&i.points),
                &i.gamma,
                &0.0,
                &i.m,
                &(),
            ];
            let name = format!("GMM gradient, D = {d}, K = {k}, N = {}", i.points.nrows());
            times.push(self.program(name, &gmm::objective::ir(), &args));
        }
        for (n, m, p) in [(49, 7_776, 31_843), (93, 61_203, 287_451), (372, 47_423, 204_472)] {
            let i = ba::Instance::random(n, share(m), share(p), 1);
            let count = i.features.len();
            let cameras: Vec<_> = i.camera_of.iter().map(|&c| i.cameras[c]).collect();
            let points: Vec<_> = i.point_of.iter().map(|&x| i.points[x]).collect();
            let args: [&dyn DynArg; 10] = [
                &vec![[0.0; 2]; count],
                &vec![[Batch([1.0, 0.0]), Batch([0.0, 1.0])]; count],
                &cameras,
                &vec![[Batch([0.0; 2]); ba::CAMERA]; count],
                &points,
                &vec![[Batch([0.0; 2]); 3]; count],
                &i.weights,
                &vec![Batch([0.0; 2]); count],
                &i.features,
                &vec![[Batch([0.0; 2]); 2]; count],
            ];
            let name = format!("BA Jacobian, {n} cameras, {count} observations");
            let mut time = self.program(name, &ba::residuals_apart::ir(), &args);
            let output = 8 * count * 2 * ba::COLUMNS;
            time.floor_milliseconds = Some(output as f64 / bandwidth * 1e3);
            times.push(time);
            let none = vec![(); count];
            let args: [&dyn DynArg; 14] = [
                &0.0,
                &1.0,
                &i.cameras,
                &vec![[0.0; ba::CAMERA]; n],
                &i.points,
                &vec![[0.0; 3]; i.points.len()],
                &i.weights,
                &vec![0.0; count],
                &i.camera_of,
                &none,
                &i.point_of,
                &none,
                &i.features,
                &vec![[0.0; 2]; count],
            ];
            let name = format!("BA gradient, {n} cameras, {count} observations");
            times.push(self.program(name, &ba::objective::ir(), &args));
        }
        let count = share(1 << 17);
        let z: Vec<f64> = (1..=count).map(|k| 2.0 * k as f64 / count as f64).collect();
        let args: [&dyn DynArg; 8] =
            [&vec![0.0; count], &vec![1.0; count], &2usize, &(), &z, &vec![0.0; count], &1e-10, &0.0];
        times.push(self.program(format!("Bessel, {count} points"), &bessel::bessel_j_each::ir(), &args));
        times
    }

    /// Values and gradients in the deterministic mode, which have to agree with the CPU's in every bit.
    fn agreements(&self) -> Vec<Agreement> {
        let (cpu, gpu) = (Cpu::new().deterministic(true), self.gpu.clone().deterministic(true));
        let share = |n: usize| (n * self.options.size).div_ceil(100);
        let devices: [&dyn Device; 2] = [&cpu, &gpu];
        let i = gmm::Instance::random(10, 5, share(10_000), 1);
        let gmm = rev::compare(devices, |device| {
            let (means, icf, points) = (i.means.view(), i.icf.view(), i.points.view());
            let g = gmm::objective::gradient(device, &i.alphas, means, icf, points, i.gamma, i.m)?;
            Ok(Outputs::new().with("value", &g.value).with("alphas", &g.alphas).with("icf", &g.icf))
        });
        let i = ba::Instance::random(20, share(5_000), share(30_000), 1);
        let ba = rev::compare(devices, |device| {
            let g = ba::gradient(device, &i)?;
            Ok(Outputs::new().with("value", &g.value).with("cameras", &g.cameras).with("points", &g.points))
        });
        let z: Vec<f64> = (1..=share(1 << 17)).map(|k| 1e-5 * k as f64).collect();
        let (seeds, start) = (vec![1.0; z.len()], vec![0.0; z.len()]);
        let bessel = rev::compare(devices, |device| {
            let back = bessel::bessel_j_each::vjp(device, &seeds, &start, 2, &z, 1e-10)?;
            Ok(Outputs::new().with("value", &back.out).with("z", &back.z_bar))
        });
        let row = |name: &str, outcome: Result<Comparison, rev::Error>| Agreement {
            name: name.into(),
            differing: outcome.map_err(|e| e.cause().to_string()).map(|c| {
                let sum = |f: fn(&rev::verify::ValueRow) -> usize| c.values.iter().map(f).sum();
                [sum(|r| r.differing), sum(|r| r.scalars)]
            }),
        };
        vec![row("GMM gradient", gmm), row("BA gradient", ba), row("Bessel and derivative", bessel)]
    }

    fn record(&self) -> Result<Record, rev::Error> {
        let bytes_per_second = self.bandwidth()?;
        Ok(Record {
            device: self.gpu.name().into(),
            size: self.options.size,
            bytes_per_second,
            agreements: self.agreements(),
            times: self.times(bytes_per_second),
        })
    }
}

fn markdown(record: &Record) -> String {
    let mut text = format!("# {}\n\nInstances of {} % of their size.", record.device, record.size);
    let _ = writeln!(text, " Copies within the device: {:.1} GB/s.\n", record.bytes_per_second * 1e-9);
    text.push_str("| deterministic, beside the CPU | differing | of |\n| --- | --- | --- |\n");
    for a in &record.agreements {
        let _ = match &a.differing {
            Ok([differing, scalars]) => writeln!(text, "| {} | {differing} | {scalars} |", a.name),
            Err(why) => writeln!(text, "| {} | {why} | |", a.name),
        };
    }
    text.push_str("\n| arrays on the device | ms | over the floor |\n| --- | --- | --- |\n");
    for t in &record.times {
        let _ = match (&t.milliseconds, t.floor_milliseconds) {
            (Ok(ms), Some(floor)) => writeln!(text, "| {} | {ms:.3} | {:.1} |", t.name, ms / floor),
            (Ok(ms), None) => writeln!(text, "| {} | {ms:.3} | |", t.name),
            (Err(why), _) => writeln!(text, "| {} | {why} | |", t.name),
        };
    }
    text
}

fn run(options: &Options) -> Result<Outcome, Failure> {
    let record = match options.device {
        DeviceName::Cuda => Bench { gpu: &Cuda::new(0)?, options }.record()?,
        DeviceName::Emulator => Bench { gpu: &Emulator::new(), options }.record()?,
        DeviceName::Cpu | DeviceName::Interpreter => {
            return Err(Failure::Sizes("the report is about cuda or emulator".into()));
        }
    };
    let text = markdown(&record);
    print!("{text}");
    let file = |name: &str| options.out.join(name);
    std::fs::create_dir_all(&options.out)?;
    write_whole(&file("gpu.md"), |out| out.write_all(text.as_bytes()))?;
    write_whole(&file("gpu.json"), |out| {
        serde_json::to_writer_pretty(&mut *out, &record).map_err(std::io::Error::from)
    })?;
    let good = record.agreements.iter().all(|a| matches!(a.differing, Ok([0, _])));
    Ok(if good { Outcome::Good } else { Outcome::CheckFailed })
}

fn main() -> ExitCode {
    finish(run(&Options::parse()))
}
