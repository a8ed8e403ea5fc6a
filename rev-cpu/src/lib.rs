//! The CPU executor of rev: what the emitted Rust calls.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`view`] | handles to arrays |
//! | [`arrays`], [`scratch`] | arrays of a program's own, and their memory |
//! | [`steps`], [`parallel`] | the values of a loop; parallel loops on rayon |
//! | [`lanes`] | several iterations of a parallel loop at once |
//! | [`parts`] | many calls at once, each on one thread |
//! | [`atomic`] | sums into elements that several threads reach |
//! | [`claims`] | the accesses of loops that are declared disjoint |
//! | [`contraction`] | products and sums of whole arrays |
//! | [`checks`], [`fail`] | run-time checks; the errors of emitted code |
//! | [`device`] | the CPU as a device |
//! | [`context`] | what a run carries from call to call |
//! | [`recursion`] | the stack of programs, and of recursive functions |
//! | [`function`] | reversible functions as arguments |
//! | [`names`] | what the names in a program have to stand for |
//! | [`gradient`] | what gradient functions share |
//! | [`dense`] | Jacobians and Hessians |
//! | [`workspace`] | memory that is kept from call to call |
//! | [`collect`] | the IR of a function with all that it calls |

extern crate self as rev_cpu;

pub mod arrays;
pub mod atomic;
mod blocks;
pub mod checks;
pub mod claims;
pub mod collect;
pub mod context;
pub mod contraction;
pub mod dense;
pub mod device;
pub mod fail;
pub mod function;
pub mod gradient;
pub mod lanes;
pub mod names;
mod ordered;
pub mod parallel;
pub mod parts;
mod pass;
pub mod recursion;
mod schedule;
pub mod scratch;
pub mod steps;
pub mod view;
pub mod workspace;

/// What a program's source needs in scope.
pub mod prelude {
    pub use crate::dense::DerivativeMatrix;
    pub use crate::device::Cpu;
    pub use crate::function::Reversible;
    pub use crate::names::{HasAdjoint, HasGradient, HasTangent, HasTaylor};
    pub use crate::workspace::Workspace;
    pub use rev_core::device::Device;
    pub use rev_core::error::Error;
    pub use rev_core::scalar::{
        bf16, f16, Batch, Complex, Field, Fixed43, FixedI128, FixedI32, FixedI64, Integer, Primal, Real,
        Ring, Scalar, WideBatch, Zero, I16F16, I32F32, I64F64,
    };
    pub use rev_core::value::Stack;
    pub use rev_macros::{pure, reversible, Reversible};
}

/// What emitted code names. Not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::checks::{
        compare, in_range, number, ranges_meet, same_index, take_shadow, take_value, vacant, Held,
    };
    pub use crate::collect::{Collector, FunctionArg, FusedModule, OwnModule, PullbackModule};
    pub use crate::context::{Context, Forgetful, Mode, Restoring, Run, Width};
    pub use crate::contraction;
    pub use crate::dense::{
        columns_of, one, scale, sparse_matrix, Argument, DerivativeMatrix, PatternOf, PlanOf, Sweeps, SIDES,
        SIDES_IN_LANES,
    };
    pub use crate::device::Cpu;
    pub use crate::fail::{At, Site};
    pub use crate::function::{
        Accumulate, Elements1, ElementsD, ElementsN, Function, Param, Params, Read, Reversible, Value, Write,
    };
    pub use crate::gradient::{
        directions, seed, tangent_array, tangents, zero_array_like, zero_shadow_array, zero_shadows,
        zeros_like, Along, Columns, Wrt,
    };
    pub use crate::names::{
        HasAdjoint, HasConversion, HasGradient, HasOperator, HasPartials, HasPure, HasReversible, HasTangent,
        HasTaylor, HasUpdate, IsPure, IsReversible, Part, Unknown,
    };
    pub use crate::pass::Pass;
    pub use crate::steps::{Down, Steps, Up};
    pub use crate::view::{
        Dynamic, Elements, Exclusive, Extents, Lend, Shared, Single, Slice, Strided, Taken, Without,
    };
    pub use crate::workspace::{Source, Workspace};
    pub use crate::{arrays, checks, claims, fail, lanes, parallel, recursion};
    pub use ndarray;
    pub use rev_core::device::{Backend, Device, Generator, Texts};
    pub use rev_core::enum_value;
    pub use rev_core::error::Error;
    pub use rev_core::ir;
    pub use rev_core::scalar::{
        bf16, f16, fraction, held_variant, is_held, rt, Complex, Field, FixedI128, FixedI32, FixedI64,
        Linear, Mismatch, NoShadow, Primal, Real, Variants, Zero,
    };
    pub use rev_core::sparse;
    pub use rev_core::structure::{Structs, Structure};
    pub use rev_core::tolerance::Tolerances;
    pub use rev_core::value::{same_shapes, Data, DynArg, PlaneReader, PlaneWriter, Shapes, Stack};
    pub use rev_core::verify;

    /// A copy, under a name that is short where it is written often.
    #[cfg_attr(optimized, inline(always))]
    pub fn copy<P: Clone>(of: &P) -> P {
        of.clone()
    }

    /// The value of a `#[pure]` function for plain Rust, of which integer division by zero is what it is there.
    ///
    /// # Panics
    ///
    /// Where there is no value: an integer was divided by zero.
    #[cfg_attr(optimized, inline(always))]
    #[track_caller]
    pub fn plain<T>(value: Option<T>) -> T {
        match value {
            Some(value) => value,
            None => divided_by_zero(),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    #[allow(clippy::panic)] // as `a / 0` in the caller's own code
    fn divided_by_zero() -> ! {
        panic!("attempt to divide by zero")
    }

    /// The code of an external block, which nothing in it leaves early: what `return` in the expansion of a macro
    /// would end is this closure.
    #[cfg_attr(optimized, inline(always))]
    pub fn external(code: impl FnOnce()) {
        code();
    }
}
