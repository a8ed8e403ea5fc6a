//! Times of the benchmark `second_embedding` in num-dual and echidna: the same loss on the same numbers, one thread.
//!
//! Reads the programs as JSON from stdin and writes a list of names with times in seconds, the processor's time of the
//! thread. The Hessians have to have the product that was read, up to 1e-9 of its largest number.

use std::hint::black_box;
use std::ops::{Add, Mul, Sub};
use std::process::ExitCode;

use cpu_time::ThreadTime;
use echidna::{BReverse, Scalar};
use nalgebra::DVector;
use num_dual::{Dual2DVec64, DualDVec64, DualNum, DualStruct};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Arguments {
    x: Vec<Vec<f64>>,
    a: Vec<usize>,
    b: Vec<usize>,
    near: usize,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    arguments: Arguments,
    hvp: Vec<f64>,
}

#[derive(Serialize)]
struct Times {
    value: f64,
    gradient: f64,
    hvp: Option<f64>,
    whole: f64,
}

/// What the loss computes with.
trait Number:
    Clone + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Mul<f64, Output = Self>
{
    fn plus(self, number: f64) -> Self;
    fn exp(self) -> Self;
    fn is_positive(&self) -> bool;
}

macro_rules! of_dual_numbers {
    ($($t:ty)*) => {$(
        impl Number for $t {
            fn plus(self, number: f64) -> Self {
                self + number
            }
            fn exp(self) -> Self {
                <Self as DualNum<f64>>::exp(&self)
            }
            fn is_positive(&self) -> bool {
                DualStruct::<Self, f64>::re(self) > 0.0
            }
        }
    )*};
}
of_dual_numbers!(f64 DualDVec64 Dual2DVec64);

impl Number for BReverse<f64> {
    fn plus(self, number: f64) -> Self {
        self + number
    }
    fn exp(self) -> Self {
        num_traits::Float::exp(self)
    }
    fn is_positive(&self) -> bool {
        self.value() > 0.0
    }
}

/// The mean of some numbers, and their variance.
fn moments<T: Number>(of: &[T]) -> Option<(T, T)> {
    let part = 1.0 / of.len() as f64;
    let mean = of.iter().cloned().reduce(|a, b| a + b)? * part;
    let squares = of.iter().map(|v| {
        let off = v.clone() - mean.clone();
        off.clone() * off
    });
    let variance = squares.reduce(|a, b| a + b)? * part;
    Some((mean, variance))
}

/// The loss of `examples/derivatives/graph.rs`, of coordinates in the order of the vertices.
fn loss<T: Number>(x: &[T], Arguments { x: vertices, a, b, near }: &Arguments) -> Option<T> {
    let k = vertices.first()?.len();
    let length = |(a, b): (&usize, &usize)| {
        let squares = (0..k).map(|j| {
            let apart = x[k * a + j].clone() - x[k * b + j].clone();
            apart.clone() * apart
        });
        squares.reduce(|a, b| a + b)
    };
    let lengths = a.iter().zip(b).map(length).collect::<Option<Vec<T>>>()?;
    let (edges, others) = lengths.split_at(*near);
    let ((near, near_variance), (far, far_variance)) = (moments(edges)?, moments(others)?);
    let apart = (near - far).plus(0.1);
    let sum = near_variance + far_variance;
    Some(if apart.is_positive() { sum + apart.exp().plus(-1.0) } else { sum })
}

/// The least time that is taken at once; shorter works are repeated.
const SLICE: f64 = 1e-3;

/// The shortest time of a work.
fn seconds<T>(rounds: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut once = |repeat: usize| {
        let start = ThreadTime::now();
        (0..repeat).for_each(|_| {
            black_box(work());
        });
        start.elapsed().as_secs_f64() / repeat as f64
    };
    once(1);
    let repeat = (SLICE / once(1).max(1e-9)).ceil() as usize;
    (0..rounds).map(|_| once(repeat)).fold(f64::INFINITY, f64::min)
}

/// Whether a Hessian has the product that was read.
fn agrees(program: &Program, hessian: impl Fn(usize, usize) -> f64) -> Result<(), String> {
    let n = program.hvp.len();
    let largest = program.hvp.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    for (i, expected) in program.hvp.iter().enumerate() {
        let found: f64 = (0..n).map(|j| hessian(i, j) * (0.7 * j as f64).sin()).sum();
        if !((found - expected).abs() <= 1e-9 * largest) {
            return Err(format!("{}: row {i} of the Hessian gives {found}, not {expected}", program.name));
        }
    }
    Ok(())
}

const EMPTY: &str = "a graph without vertices, edges or other pairs";

fn num_dual(program: &Program, rounds: usize) -> Result<Times, String> {
    let at = &program.arguments;
    let x = DVector::from_vec(at.x.concat());
    let of_gradient =
        || num_dual::gradient(|x| loss(x.as_slice(), at).unwrap_or(DualDVec64::from(f64::NAN)), &x);
    let of_hessian =
        || num_dual::hessian(|x| loss(x.as_slice(), at).unwrap_or(Dual2DVec64::from(f64::NAN)), &x);
    let (_, _, hessian) = of_hessian();
    agrees(program, |i, j| hessian[(i, j)])?;
    Ok(Times {
        value: seconds(rounds, || loss(black_box(x.as_slice()), at)),
        gradient: seconds(rounds, of_gradient),
        hvp: None,
        whole: seconds(rounds, of_hessian),
    })
}

/// On a tape that is recorded once: it holds for the branch that was taken.
fn echidna(program: &Program, rounds: usize) -> Result<Times, String> {
    let at = &program.arguments;
    let x = at.x.concat();
    loss(&x, at).ok_or(EMPTY)?;
    let (mut tape, _) = echidna::record(|x| loss(x, at).unwrap_or(BReverse::constant(f64::NAN)), &x);
    let v: Vec<f64> = (0..x.len()).map(|k| (0.7 * k as f64).sin()).collect();
    let (_, _, hessian) = tape.hessian_vec::<8>(&x);
    agrees(program, |i, j| hessian[i][j])?;
    Ok(Times {
        value: seconds(rounds, || loss(black_box(&x), at)),
        gradient: seconds(rounds, || tape.gradient(&x)),
        hvp: Some(seconds(rounds, || tape.hvp(&x, &v))),
        whole: seconds(rounds, || tape.hessian_vec::<8>(&x)),
    })
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = std::env::args().nth(1).ok_or("how often each time is taken?")?.parse()?;
    let programs: Vec<Program> = serde_json::from_reader(std::io::stdin())?;
    let mut all = Vec::new();
    for program in &programs {
        all.push((format!("num-dual, {}", program.name), num_dual(program, rounds)?));
        all.push((format!("echidna, {}", program.name), echidna(program, rounds)?));
    }
    serde_json::to_writer(std::io::stdout(), &all)?;
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
