//! Facts: what the compiler knows about a program beyond what stands in it. Each is a function from
//! the IR to a plain value; none changes a program.

mod accumulate_only;
mod activity;
mod index;
mod parallel;
mod recursion;
mod trips;

pub use accumulate_only::{accumulate_only, accumulated_by, named_outside, written_params, PassedOn};
pub use activity::{active_vars, each_derivative_read, passed_with_derivatives, Passing};
pub use index::{Apart, Definitions, Indices, Order, Spread};
pub use parallel::{
    classify, classify_whole, Accumulated, Conflict, How, ParallelFacts, PlaceClass, Site, Sum,
};
pub use recursion::{calls, recursive, Calls};
pub use trips::trips;
