//! JAX in a process of its own, which is asked for one time after the other.

use std::path::Path;

use ndarray::Array2;
use serde::Serialize;

use rev_examples::peer::Peer;
use rev_examples::support::Failure;

/// What is computed of a matrix, with the results from here.
#[derive(Serialize)]
pub struct Problem {
    kind: &'static str,
    n: usize,
    a: Vec<f64>,
    /// The right side of a system.
    b: Vec<f64>,
    /// Cotangents of a matrix.
    seed: Vec<f64>,
    value: Vec<f64>,
    gradient: Vec<f64>,
}

impl Problem {
    /// A problem by its name.
    pub fn new<'a>(
        kind: &'static str,
        a: &Array2<f64>,
        b: &Array2<f64>,
        seed: &Array2<f64>,
        value: impl IntoIterator<Item = f64>,
        gradient: impl Iterator<Item = &'a f64>,
    ) -> Problem {
        let numbers = |m: &Array2<f64>| m.iter().copied().collect();
        Problem {
            kind,
            n: a.nrows(),
            a: numbers(a),
            b: numbers(b),
            seed: numbers(seed),
            value: value.into_iter().collect(),
            gradient: gradient.copied().collect(),
        }
    }

    /// Its name with its size.
    pub fn name(&self) -> String {
        format!("{}, {} by {}", self.kind, self.n, self.n)
    }
}

/// The process.
pub struct Jax(Peer);

impl Jax {
    /// Starts it.
    pub fn start(python: &Path) -> Result<Jax, Failure> {
        Ok(Jax(Peer::start(python, concat!(env!("CARGO_MANIFEST_DIR"), "/factorizations/in_jax.py"))?))
    }

    /// Gives it a problem: an error where its results are others.
    pub fn set(&mut self, problem: &Problem) -> Result<(), Failure> {
        match self.0.ask::<Option<String>>(&Some(problem))? {
            None => Ok(()),
            Some(message) => Err(Failure::Sizes(format!("{}: {message}", problem.name()))),
        }
    }

    /// Seconds for the value and the gradient, each taken once.
    pub fn seconds(&mut self) -> Result<[f64; 2], Failure> {
        self.0.ask(&None::<Problem>)
    }
}
