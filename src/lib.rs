//! rev: a reversible programming language embedded in Rust, whose programs differentiate themselves
//! without a tape.
//!
//! A function under [`#[reversible]`](macro@reversible) is written once, in ordinary-looking Rust. It is lowered to one
//! reversible intermediate representation ([`ir`]), which gives its inverse and its adjoint by local
//! rules, and which feeds every device.
//!
//! | what | where |
//! | --- | --- |
//! | what a program needs in scope | [`prelude`] |
//! | the book: a first hour, the language form by form, recipes, mistakes | `docs/SUMMARY.md` |
//! | devices: the CPU, GPUs, the emulated GPU, the interpreter | [`Cpu`], [`Cuda`], [`Emulator`], [`interp`] |
//! | arrays that stay on the GPU, its text, its assembler | [`cuda`] |
//! | the program as data: text form, passes | [`ir`], [`text`], [`pass`], [`check`], [`diag`] |
//! | scalars and their shadows | [`scalar`] |
//! | errors, tolerances and options of a run | [`error`], [`tolerance`] |
//! | sparse Jacobians and Hessians: patterns, colourings, plans | [`sparse`] |
//! | long loops in little memory: checkpoint schedules, and gradients by them | [`schedule`], [`checkpoint`], `docs/schedules.md` |
//! | is my inverse right, is my gradient right, do two devices agree? | [`verify`], [`compare`] |
//! | `assert_relative_eq!` and the others of the crate `approx` for shadows, sparse matrices and arrays | the feature `approx` |
//! | numbers whose products can be undone: logarithmic, tropical, odd integers; exact sums of floats | `numbers`, with the feature of this name |
//! | programs written in the language: Gaussian mixtures, bundle adjustment and others | the crate `rev-kernels` |
//! | linear algebra, networks, classics as programs | the crates `rev-algebra`, `rev-networks`, `rev-classics`; `docs/library.md` |

extern crate self as rev;

mod on_device;

pub use on_device::OnDevice;
pub use rev_checkpoint as checkpoint;
pub use rev_core::lanes::Level;
pub use rev_core::verify::{compare, Comparison, Outputs};
pub use rev_core::{
    check, device, diag, error, interp, ir, ops, pass, scalar, sparse, text, tolerance, value, verify,
};
pub use rev_cpu::device::Cpu;
pub use rev_cpu::prelude::{pure, reversible, Error, Reversible};
pub use rev_cuda as cuda;
pub use rev_cuda::{Cuda, Emulator};
#[cfg(feature = "numbers")]
pub use rev_numbers as numbers;
pub use rev_schedule as schedule;

/// What a program's source, and code that runs it, need in scope.
pub mod prelude {
    pub use ndarray::{
        Array1, Array2, Array3, Array4, ArrayD, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewD,
        ArrayViewMut1, ArrayViewMut2, ArrayViewMut3, ArrayViewMut4, ArrayViewMutD,
    };
    pub use rev_core::device::Device;
    pub use rev_core::interp::Interpreter;
    pub use rev_cpu::prelude::*;
}

/// What emitted code names. Not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use rev_cpu::__private::*;
}

/// The code in the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The code of the language's page is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/language.md")]
struct Language;

/// The code of the page on parallel loops is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/parallel.md")]
struct Parallel;

/// The code of the page on types is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/types.md")]
struct Types;

/// The code of the page on derivatives is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/derivatives.md")]
struct Derivatives;

/// The code of the page on GPUs is compiled and, where it doesn't need one, run.
#[cfg(doctest)]
#[doc = include_str!("../docs/gpu.md")]
struct Gpus;

/// The code of the page on schedules is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/schedules.md")]
struct Schedules;

/// The code of the book's first page is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/introduction.md")]
struct Introduction;

/// The code of the first hour is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/first-hour.md")]
struct FirstHour;

/// The recipes are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/recipes.md")]
struct Recipes;

/// The mistakes don't compile, and their repairs do.
#[cfg(doctest)]
#[doc = include_str!("../docs/mistakes.md")]
struct Mistakes;

/// The code of the page on devices is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/devices.md")]
struct Devices;

/// The code of the page on errors is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/errors.md")]
struct Errors;
