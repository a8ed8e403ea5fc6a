//! Learning by consistency: the parameter of `f` is found without a derivative, by running a reversible program to and fro. On
//! its way out it starts at the known input, on its way back at the wanted output; what it keeps beside both carries what is learned.
//!
//! ```text
//! f(x, p) = e^(p + x) - e^x
//! ```
//!
//! Liu and Zhao, "Differentiate everything with a reversible programming language" (first version, 2020), algorithm 2 and theorem 2 in appendix C: this learns
//! only where what is kept leaves the output open. [`keeps_input()`] (their `f1`) keeps `x` and `p + x`, which say what `p` was, so it learns
//! nothing. [`forgets_input()`] (their `f2`) takes `x` back to zero by the output, and keeps `p + x` alone; its fixed point is
//! the `p` with `f(x, p) = target`, near which a round leaves `-target / eˣ` of the error: it is found where `|target| < eˣ`.

use rev_cpu::prelude::*;

/// `p += x`, then `y += eᵖ - eˣ`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn keeps_input<T: Real>(y: &mut T, x: T, p: &mut T) {
    *p += x;
    *y -= x.exp();
    *y += p.exp();
}

/// The same, and `x` is taken back to what it isn't in the output: to zero where `y` was zero. Needs `y < eˣ` before, and back `y < eᵖ`.
#[cfg_attr(feature = "tangents", reversible(tangent))]
#[cfg_attr(not(feature = "tangents"), reversible)]
pub fn forgets_input<T: Real>(y: &mut T, x: &mut T, p: &mut T) {
    *p += *x;
    *y -= x.exp();
    *x -= (-*y).ln();
    *y += p.exp();
}

/// What is learned from and where it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The known input.
    pub x: f64,
    /// The wanted output.
    pub target: f64,
    /// The parameter at first.
    pub p: f64,
}

impl Task {
    /// The papers' numbers.
    pub const PUBLISHED: Task = Task { x: 0.3, target: 1.0, p: 1.6 };

    /// The parameter that gives the target: `ln(target + eˣ) - x`.
    pub fn solution(&self) -> f64 {
        (self.target + self.x.exp()).ln() - self.x
    }
}

/// What learning gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The output on each way out.
    pub outputs: Vec<f64>,
    /// The parameter after the last way back.
    pub p: f64,
}

/// Which program learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// [`keeps_input()`]
    KeepsInput,
    /// [`forgets_input()`]
    ForgetsInput,
}

/// Runs a program out and back a number of times.
///
/// # Errors
///
/// What the device reports.
pub fn learn(
    device: &(impl rev_core::device::Device + ?Sized),
    program: Program,
    task: Task,
    rounds: usize,
) -> Result<Learned, rev_core::error::Error> {
    let (mut p, mut outputs) = (task.p, Vec::with_capacity(rounds));
    for _ in 0..rounds {
        let (mut y, mut x) = (0.0, task.x);
        match program {
            Program::KeepsInput => keeps_input::run(device, &mut y, x, &mut p)?,
            Program::ForgetsInput => forgets_input::run(device, &mut y, &mut x, &mut p)?,
        }
        outputs.push(y);
        y = task.target;
        match program {
            Program::KeepsInput => keeps_input::run_inverse(device, &mut y, x, &mut p)?,
            Program::ForgetsInput => forgets_input::run_inverse(device, &mut y, &mut x, &mut p)?,
        }
    }
    Ok(Learned { outputs, p })
}

/// The same as plain Rust: what a round makes of the parameter.
pub mod plain {
    use super::Task;

    /// The output and the next parameter where the input is forgotten: `p + x - ln(e^(p + x) - target)`.
    pub fn round(task: Task) -> (f64, f64) {
        let kept = task.p + task.x;
        (kept.exp() - task.x.exp(), kept - (kept.exp() - task.target).ln())
    }
}
