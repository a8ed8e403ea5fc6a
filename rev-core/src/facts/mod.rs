//! Facts: what the compiler knows about a program beyond what stands in it. Each is a function from
//! the IR to a plain value; none changes a program.

mod activity;

pub use activity::{active_vars, each_derivative_read};
