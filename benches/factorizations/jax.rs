//! JAX in a process of its own, which is asked for one time after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ndarray::Array2;
use serde::de::DeserializeOwned;
use serde::Serialize;

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

/// The process, and the pipes to it.
pub struct Jax {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Jax {
    /// Starts it.
    pub fn start(python: &Path) -> Result<Jax, Failure> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/factorizations/in_jax.py");
        let mut command = Command::new(python);
        let mut process = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(requests), Some(answers)) => {
                Ok(Jax { process, requests, answers: BufReader::new(answers) })
            }
            _ => Err(Failure::Sizes("no pipe to the interpreter of Python".into())),
        }
    }

    /// Gives it a problem: an error where its results are others.
    pub fn set(&mut self, problem: &Problem) -> Result<(), Failure> {
        match self.ask::<Option<String>>(Some(problem))? {
            None => Ok(()),
            Some(message) => Err(Failure::Sizes(format!("{}: {message}", problem.name()))),
        }
    }

    /// Seconds for the value and the gradient, each taken once.
    pub fn seconds(&mut self) -> Result<[f64; 2], Failure> {
        self.ask(None)
    }

    /// A line of JSON for another one.
    fn ask<T: DeserializeOwned>(&mut self, request: Option<&Problem>) -> Result<T, Failure> {
        let mut line = serde_json::to_string(&request).map_err(std::io::Error::from)?;
        line.push('\n');
        self.requests.write_all(line.as_bytes())?;
        line.clear();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line).map_err(std::io::Error::from)?)
    }
}

impl Drop for Jax {
    fn drop(&mut self) {
        // there is nothing to do about a process that is gone already
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
