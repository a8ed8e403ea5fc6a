//! Determinants, inverses, linear systems and Cholesky factors with their gradients, checks on, one thread:
//!
//!     cargo bench --bench factorizations
//!     cargo bench --bench factorizations -- --jax PYTHON     # an interpreter that has jax
//!
//! The gradients are those of `gradient` and `vjp`, new arrays for their results included. With `--jax`, `in_jax.py` gets the same numbers,
//! compares its values and gradients with the ones from here, and its times are taken in turns with these.

mod jax;

use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ndarray::Array2;
use rev::prelude::*;
use rev_algebra::factorize::{cholesky, lu};

use jax::{Jax, Problem};
use rev_examples::race::{Race, Work};
use rev_examples::support::{finish, Failure, Outcome, Report};

/// Sizes of the matrices.
const SIZES: [usize; 3] = [16, 64, 256];

/// Factorizations and what follows from them, with gradients
#[derive(Parser)]
struct Options {
    /// How often each time is taken; the shortest counts
    #[arg(long, value_name = "R", default_value_t = 24)]
    rounds: usize,
    /// Time JAX as well, with this interpreter of Python
    #[arg(long, value_name = "PYTHON")]
    jax: Option<PathBuf>,
    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
}

/// Numbers without a pattern.
fn matrix(shape: (usize, usize), by: f64) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| (by * (shape.1 * i + j) as f64).sin())
}

fn work<'a, T>(name: &'static str, run: impl Fn() -> Result<T, rev::Error> + 'a) -> Work<'a> {
    let run = move || {
        black_box(run()?);
        Ok(())
    };
    (name, Box::new(run))
}

struct Table<'a> {
    options: &'a Options,
    jax: Option<Jax>,
    report: Report,
}

impl Table<'_> {
    /// Takes the times of a problem's value and gradient, here and in JAX, in turns.
    fn add(&mut self, problem: &Problem, mut works: [Work; 2]) -> Result<(), Failure> {
        let race = Race::new(1);
        if let Some(jax) = &mut self.jax {
            jax.set(problem)?;
        }
        let (mut own, mut others) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        for _ in 0..self.options.rounds.max(1) {
            for (best, time) in own.iter_mut().zip(race.run(&problem.name(), &mut works)?) {
                *best = time.min(*best);
            }
            if let Some(jax) = &mut self.jax {
                for (best, time) in others.iter_mut().zip(jax.seconds()?) {
                    *best = time.min(*best);
                }
            }
        }
        drop(race);
        let times = own.map(|t| format!("{:.1}", t * 1e6));
        let ratio = |k: usize| match self.jax.is_some() {
            true => format!("{:.2}", others[k] / own[k]),
            false => "-".to_string(),
        };
        self.report.row([problem.name()].into_iter().chain(times).chain([ratio(0), ratio(1)]));
        Ok(())
    }
}

/// All problems of a size.
fn of_size(table: &mut Table, n: usize) -> Result<(), Failure> {
    let d = &Cpu::with_threads(1);
    let a = matrix((n, n), 0.7) + 3.0 * Array2::<f64>::eye(n);
    let definite = a.dot(&a.t()) + Array2::<f64>::eye(n);
    let (b, seed) = (matrix((n, 1), 0.9), matrix((n, n), 0.3));
    let (zero, zeros) = (Array2::zeros((n, 1)), Array2::<f64>::zeros((n, n)));

    let g = lu::det::gradient(d, a.view())?;
    let value = || {
        let mut y = 0.0;
        lu::det::run(d, &mut y, a.view()).map(|()| y)
    };
    let works = [work("value", value), work("gradient", || lu::det::gradient(d, a.view()))];
    table.add(&Problem::new("determinant", &a, &b, &seed, [g.value], g.a.iter()), works)?;

    let g = lu::logdet::gradient(d, a.view())?;
    let value = || {
        let mut y = 0.0;
        lu::logdet::run(d, &mut y, a.view()).map(|()| y)
    };
    let works = [work("value", value), work("gradient", || lu::logdet::gradient(d, a.view()))];
    table.add(&Problem::new("its logarithm", &a, &b, &seed, [g.value], g.a.iter()), works)?;

    let g = lu::invert::vjp(d, seed.view(), zeros.view(), a.view())?;
    let value = || {
        let mut c = zeros.clone();
        lu::invert::run(d, c.view_mut(), a.view()).map(|()| c)
    };
    let works =
        [work("value", value), work("gradient", || lu::invert::vjp(d, seed.view(), zeros.view(), a.view()))];
    table.add(&Problem::new("inverse", &a, &b, &seed, g.c, g.a_bar.iter()), works)?;

    let g = lu::solve::vjp(d, b.view(), zero.view(), a.view(), b.view())?;
    let value = || {
        let mut x = zero.clone();
        lu::solve::run(d, x.view_mut(), a.view(), b.view()).map(|()| x)
    };
    let works = [
        work("value", value),
        work("gradient", || lu::solve::vjp(d, b.view(), zero.view(), a.view(), b.view())),
    ];
    let both = g.a_bar.iter().chain(&g.b_bar);
    table.add(&Problem::new("linear system", &a, &b, &seed, g.x, both), works)?;

    let g = cholesky::cholesky::vjp(d, seed.view(), definite.view())?;
    let lower = |m: Array2<f64>| Array2::from_shape_fn((n, n), |(i, j)| if i < j { 0.0 } else { m[[i, j]] });
    let value = || {
        let mut l = definite.clone();
        cholesky::cholesky::run(d, l.view_mut()).map(|()| l)
    };
    let works =
        [work("value", value), work("gradient", || cholesky::cholesky::vjp(d, seed.view(), definite.view()))];
    let (l, by) = (lower(g.a), lower(g.a_bar));
    table.add(&Problem::new("Cholesky", &definite, &b, &seed, l, by.iter()), works)
}

fn run() -> Result<Outcome, Failure> {
    let options = Options::parse();
    let columns = ["", "value, µs", "gradient, µs", "JAX's value", "JAX's gradient"];
    let report =
        Report::new("One thread, checks on; JAX's times as multiples of those before".to_string(), &columns);
    let jax = options.jax.as_deref().map(Jax::start).transpose()?;
    let mut table = Table { options: &options, jax, report };
    for n in SIZES {
        of_size(&mut table, n)?;
    }
    table.report.print()?;
    Ok(Outcome::Good)
}

fn main() -> ExitCode {
    finish(run())
}
