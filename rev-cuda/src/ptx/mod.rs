//! PTX text from kernels.
//!
//! ```text
//!  Kernel ── writer: registers, temporaries, lines
//!    ├── operation: an Op on registers             (exact arithmetic: every rounding is written)
//!    ├── convert:   between types
//!    ├── memory:    loads, stores, atomics
//!    └── control:   branches, loops, barriers, failures
//! ```
//!
//! Every float operation says its rounding (`.rn`), so that the assembler contracts nothing; nothing
//! is approximate, nothing flushes subnormals (but for `red.global.add.f32`, which does in hardware).
//! 8-bit integers live in 16-bit registers, sign- or zero-extended after each operation. Shift amounts
//! are reduced modulo the width (PTX clamps them), conversions from float to integer saturate and give
//! 0 for NaN, `MIN / -1` wraps.

mod control;
mod convert;
mod memory;
mod operation;
mod version;
mod writer;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod values;

use crate::driver::Target;
use crate::kernel::Kernel;
use crate::plan::Program;
use std::fmt::Write as _;
use version::Version;
use writer::Writer;

/// The text of a program's kernels, for a device of a compute capability: its `.target` is the newest
/// known that isn't newer than the device, its `.version` the lowest that has all its instructions.
pub fn print(program: &Program, target: Target) -> String {
    let mut head = format!("// {}\n", one_line(&program.name));
    for (k, failure) in program.failures.iter().enumerate() {
        let place = failure.trace.first().map(|site| format!(" {site}")).unwrap_or_default();
        let _ = writeln!(head, "// failure {k}{}", one_line(&place));
    }
    for sum in &program.accumulations {
        let _ = writeln!(head, "// sum {}", one_line(&sum.to_string()));
    }
    head + &kernels(&program.kernels, target)
}

/// The text of some kernels.
///
/// ```
/// use rev_cuda::driver::Target;
/// use rev_cuda::kernel::{Kernel, KernelParam, Ty};
///
/// let mut kernel = Kernel { name: "nothing".into(), block: 128, ..Kernel::default() };
/// let x = kernel.register(Ty::U64, "x");
/// kernel.params.push(KernelParam { name: "x".into(), register: x });
/// let text = rev_cuda::ptx::kernels(&[kernel], Target(70));
/// assert!(text.starts_with(".version 6.0\n.target sm_70\n.address_size 64\n"));
/// assert!(text.contains(".visible .entry nothing("));
/// ```
pub fn kernels(kernels: &[Kernel], target: Target) -> String {
    let (target, mut version) = version::target(target);
    let mut bodies = String::new();
    for kernel in kernels {
        let (text, needs) = Writer::print(kernel);
        bodies.push('\n');
        bodies.push_str(&text);
        version = version.max(needs);
    }
    let Version(major, minor) = version;
    format!(".version {major}.{minor}\n.target sm_{target}\n.address_size 64\n{bodies}")
}

/// Text for a comment.
fn one_line(text: &str) -> String {
    ascii(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The assembler takes ASCII only, also in comments.
fn ascii(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}
