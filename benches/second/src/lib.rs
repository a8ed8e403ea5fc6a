//! What the benchmarks of second order share: tangents and products of the Hessian of a program, as multiples of its value
//! or its gradient in the same run. One thread, checks off.

mod race;
#[path = "../../../examples/support/table.rs"]
pub mod table;

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use ndarray::Array2;
pub use race::{seconds, work, Work};
use rev_cpu::prelude::{Batch, Cpu};
use serde::{Deserialize, Serialize};
use table::Report;

/// Why there are no times.
pub type Failure = Box<dyn Error>;

/// Second order of a program, on one thread.
#[derive(Parser)]
struct Options {
    /// How often each time is taken; the shortest counts
    #[arg(long, value_name = "R", default_value_t = 12)]
    rounds: usize,
    /// Time JAX as well, with this interpreter of Python
    #[arg(long, value_name = "PYTHON")]
    jax: Option<PathBuf>,
    /// Time other libraries as well, with the program made of benches/second/peers
    #[arg(long, value_name = "PROGRAM")]
    peers: Option<PathBuf>,
}

/// Directions side by side.
pub const SIDES: usize = 8;

/// Seconds for what is timed of a program.
#[derive(Clone, Copy, Deserialize)]
pub struct Times {
    value: f64,
    gradient: f64,
    jvp: Option<f64>,
    jvp_8: Option<f64>,
    hvp: Option<f64>,
    hvp_8: Option<f64>,
    /// What the benchmark is about besides: a whole Hessian, a step of Newton's method.
    whole: Option<f64>,
}

impl Times {
    /// Of works in the order of the fields, each taken so often.
    pub fn of(rounds: usize, works: &mut [Work]) -> Result<Times, Failure> {
        let mut times = seconds(rounds, works)?.into_iter();
        let mut next = || times.next();
        let [value, gradient] = [next(), next()].map(|t| t.ok_or("a value and a gradient"));
        Ok(Times {
            value: value?,
            gradient: gradient?,
            jvp: next(),
            jvp_8: next(),
            hvp: next(),
            hvp_8: next(),
            whole: next(),
        })
    }

    fn ratios(&self) -> [String; 7] {
        let of = |time: Option<f64>, one: f64| time.map_or("-".into(), |time| format!("{:.2}", time / one));
        [
            format!("{:.1}", self.value * 1e6),
            of(Some(self.gradient), self.value),
            of(self.jvp, self.value),
            of(self.jvp_8, self.value),
            of(self.hvp, self.gradient),
            of(self.hvp_8, self.gradient),
            of(self.whole, self.gradient),
        ]
    }
}

/// A program with its numbers as others get them, and a product of its Hessian.
#[derive(Serialize)]
pub struct Program {
    /// The program with its sizes.
    pub name: String,
    /// Which program it is, for the others.
    pub kind: &'static str,
    /// What it is run on.
    pub arguments: serde_json::Value,
    /// The product of its Hessian with [`direction`].
    pub hvp: Vec<f64>,
    /// What was measured here.
    #[serde(skip)]
    pub times: Times,
}

/// A number for each place of a direction, which the others make as well.
pub fn direction(k: usize) -> f64 {
    (0.7 * k as f64).sin()
}

/// A direction in the shape of a matrix.
pub fn along(shape: (usize, usize), first: usize) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| direction(first + shape.1 * i + j))
}

/// A number of eight directions.
pub fn sides(v: &f64) -> Batch<f64, SIDES> {
    Batch(std::array::from_fn(|k| v * (k + 1) as f64))
}

/// What is computed may not be left out.
pub fn used<T>(result: Result<T, rev_core::error::Error>) -> Result<(), Failure> {
    black_box(result?);
    Ok(())
}

/// A matrix for JSON.
pub fn rows(a: &Array2<f64>) -> Vec<Vec<f64>> {
    a.outer_iter().map(|row| row.to_vec()).collect()
}

/// What is timed of a function, on a device: in brackets a direction, eight of them, and the arguments.
#[macro_export]
macro_rules! works {
    ($f:ident, $device:ident, [$($v:expr),*], [$($all:expr),*], [$($arg:expr),*]) => {
        vec![
            $crate::work(|| {
                let mut loss = 0.0;
                $crate::used($f::run($device, &mut loss, $($arg),*).map(|()| loss))
            }),
            $crate::work(|| $crate::used($f::gradient($device, $($arg),*))),
            $crate::work(|| $crate::used($f::jvp($device, &0.0, $($v,)* &0.0, $($arg),*))),
            $crate::work(|| {
                let still = Batch([0.0; $crate::SIDES]);
                $crate::used($f::jvp_batch::<f64, { $crate::SIDES }>($device, still, $($all,)* &0.0, $($arg),*))
            }),
            $crate::work(|| $crate::used($f::hvp($device, $($v,)* $($arg),*))),
            $crate::work(|| {
                $crate::used($f::hvp_batch::<f64, { $crate::SIDES }>($device, $($all,)* $($arg),*))
            }),
        ]
    };
}

/// Times of the same programs elsewhere, by a command that reads them as JSON.
fn elsewhere(command: &mut Command, rounds: usize, programs: &[Program]) -> Result<Vec<Row>, Failure> {
    let mut child = command.arg(rounds.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(&serde_json::to_vec(programs)?)?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Times with whose they are.
type Row = (String, Times);

/// Takes the times of some programs, here and as the options say elsewhere, and prints them; `whole` says what is timed
/// beside what every program has.
pub fn bench(whole: &str, programs: impl FnOnce(usize, &Cpu) -> Result<Vec<Program>, Failure>) -> ExitCode {
    match measured(whole, &Options::parse(), programs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn measured(
    whole: &str,
    options: &Options,
    programs: impl FnOnce(usize, &Cpu) -> Result<Vec<Program>, Failure>,
) -> Result<(), Failure> {
    let programs = programs(options.rounds.max(1), &Cpu::with_threads(1).checks(false))?;
    let mut all: Vec<Row> = programs.iter().map(|p| (format!("rev, {}", p.name), p.times)).collect();
    if let Some(python) = &options.jax {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/in_jax.py");
        all.extend(elsewhere(Command::new(python).arg(script), options.rounds, &programs)?);
    }
    if let Some(peers) = &options.peers {
        all.extend(elsewhere(&mut Command::new(peers), options.rounds, &programs)?);
    }
    print(whole, &all)
}

fn print(whole: &str, rows: &[Row]) -> Result<(), Failure> {
    let mut report = Report::new(
        "One thread; over the value, products with the Hessian and what stands behind them over the gradient"
            .to_string(),
        &["", "value, µs", "gradient", "jvp", "8 jvp", "hvp", "8 hvp", whole],
    );
    for (name, times) in rows {
        report.row([name.clone()].into_iter().chain(times.ratios()));
    }
    report.print()?;
    for (name, times) in rows {
        print!("{name}: gradient {:.1} µs", times.gradient * 1e6);
        for (what, time) in [("hvp", times.hvp), (whole, times.whole)] {
            time.iter().for_each(|t| print!(", {what} {:.1} µs", t * 1e6));
        }
        println!();
    }
    Ok(())
}
