//! Parts of values as arguments where a slice or a view is asked for: elements and fields that are arrays
//! of fixed size, rows, columns and blocks; and elements that a choice guards; functions of the table. On the interpreter, the CPU (one thread and
//! several, with and without checks), the emulator and a GPU where there is one, against formulas in plain Rust. Products and sums of whole arrays, and
//! structs. They stand in this package because the workspace compiles it without optimisation, which is most of what so many
//! programs cost.

#![allow(clippy::unwrap_used)]

mod elements;
mod functions;
mod guarded;
mod meeting;
mod products;
mod structs;
mod views;

use rev_core::device::Device;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_cuda::{Cuda, Emulator};

/// A device, what it is, and what it looks at.
struct Tested {
    device: Box<dyn Device>,
    name: String,
    /// Whether what the program asserts is checked.
    checks: bool,
    /// Whether indices are.
    bounds: bool,
}

fn devices() -> Vec<Tested> {
    let interpreter: Box<dyn Device> = Box::new(Interpreter::new());
    let mut all =
        vec![Tested { device: interpreter, name: "interpreter".into(), checks: true, bounds: true }];
    for checks in [true, false] {
        for threads in [1, 2, 3] {
            let cpu = Cpu::with_threads(threads).checks(checks).parallel_from(0);
            let name = format!("cpu, {threads} threads, checks {checks}");
            all.push(Tested { device: Box::new(cpu), name, checks, bounds: true });
        }
        all.extend(gpus(checks, false).into_iter().map(|(name, device)| {
            let name = format!("{name}, checks {checks}");
            Tested { device, name, checks, bounds: checks }
        }));
    }
    all
}

/// The emulator, and a GPU where there is one.
fn gpus(checks: bool, deterministic: bool) -> Vec<(&'static str, Box<dyn Device>)> {
    let emulator = Emulator::new().checks(checks).deterministic(deterministic);
    let mut all: Vec<(&str, Box<dyn Device>)> = vec![("emulator", Box::new(emulator))];
    match Cuda::new(0) {
        Ok(gpu) => all.push(("cuda", Box::new(gpu.checks(checks).deterministic(deterministic)))),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    all
}

/// Whether numbers are equal but for rounding.
fn near<'a>(a: impl IntoIterator<Item = &'a f64>, b: impl IntoIterator<Item = &'a f64>) -> bool {
    let (a, b): (Vec<&f64>, Vec<&f64>) = (a.into_iter().collect(), b.into_iter().collect());
    approx::abs_diff_eq!(a[..], b[..], epsilon = 1e-9)
}

/// Whether an error names a place: as the source does, or as the IR is printed.
fn names(error: &str, source: &str, printed: &str) -> bool {
    error.contains(source) || error.contains(printed)
}
