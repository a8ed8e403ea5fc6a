//! Programs of the library beside their plain twins, one thread:
//!
//!     cargo bench --bench library [-- part of a program's name]
//!
//! The first column is the twin's time, the others are multiples of it. A gradient is what `gradient` or `vjp` takes,
//! new arrays for its results included; encryption and the lattice gas have none.

mod algebra;
mod circuits;
mod classics;
mod networks;
mod sparse;
mod transforms;

use std::hint::black_box;
use std::process::ExitCode;

use ndarray::Array2;
use rev::prelude::*;
use rev_examples::race::{Race, Work};
use rev_examples::support::{finish, Failure, Outcome, Report};

/// How often each time is taken; the shortest counts.
const ROUNDS: usize = 12;

struct Table {
    /// Only programs whose names hold this.
    named: String,
    race: Race,
    report: Report,
}

impl Table {
    /// Times the twin, the program and its gradient, with checks and without.
    fn add<A, B, C>(
        &mut self,
        label: &str,
        plain: impl Fn() -> A,
        value: impl Fn(&Cpu) -> Result<B, rev::Error>,
        gradient: Option<impl Fn(&Cpu) -> Result<C, rev::Error>>,
    ) -> Result<(), Failure> {
        if !label.contains(&self.named) {
            return Ok(());
        }
        let devices = [true, false].map(|checks| Cpu::with_threads(1).checks(checks));
        let mut works = vec![work("plain", || Ok(plain()))];
        for device in &devices {
            works.push(work("value", || value(device)));
            if let Some(gradient) = &gradient {
                works.push(work("gradient", || gradient(device)));
            }
        }
        let times = self.race.run(label, &mut works)?;
        let [plain, others @ ..] = times.as_slice() else { return Ok(()) };
        let mut ratios = others.iter().map(|t| format!("{:.2}", t / plain));
        let mut next = |measured: bool| if measured { ratios.next().unwrap_or_default() } else { "-".into() };
        let both = gradient.is_some();
        let cells = [next(true), next(both), next(true), next(both)];
        self.report.row([label.to_string(), format!("{:.2}", plain * 1e6)].into_iter().chain(cells));
        Ok(())
    }
}

fn work<'a, T>(name: &'static str, run: impl Fn() -> Result<T, rev::Error> + 'a) -> Work<'a> {
    let run = move || {
        black_box(run()?);
        Ok(())
    };
    (name, Box::new(run))
}

type Run = fn(&Cpu) -> Result<(), rev::Error>;

/// For programs of whole numbers.
const NONE: Option<Run> = None;

fn numbers(n: usize, by: f64) -> Vec<f64> {
    (0..n).map(|i| (by * i as f64).sin()).collect()
}

fn matrix(shape: (usize, usize), by: f64) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| (by * (shape.1 * i + j) as f64).sin())
}

fn run() -> Result<Outcome, Failure> {
    let columns = ["program", "plain, µs", "value", "gradient", "value, checks off", "gradient, checks off"];
    let report = Report::new("The library beside plain Rust, one thread".to_string(), &columns);
    // the harness adds options of its own
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut table = Table { named, race: Race::new(ROUNDS), report };
    sparse::all(&mut table)?;
    algebra::all(&mut table)?;
    transforms::all(&mut table)?;
    networks::all(&mut table)?;
    classics::all(&mut table)?;
    circuits::all(&mut table)?;
    drop(table.race);
    table.report.print()?;
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run())
}
