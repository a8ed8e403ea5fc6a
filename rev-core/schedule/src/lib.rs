//! Schedules of reversals: which states of a long loop to keep, and which to compute again.
//!
//! The gradient of a loop `x_{i+1} = f(x_i)`, `i = 0, ..., n - 1`, needs the states in the order `x_{n-1}, ..., x_0`.
//! Where a step can't be inverted, states have to be stored or computed again from stored ones. A schedule says when,
//! as a plain iterator of [`Action`]s: it knows nothing of what a state is, is tested by counts alone, and
//! keeps a few numbers for each stored state, however long the loop. One executor runs all of them:
//! [`run`], on anything that has [`Steps`].
//!
//! | schedule | for | calls of the step |
//! | --- | --- | --- |
//! | [`Everything`] | memory for all states | `n - 1` |
//! | [`Binomial::revolve`] | `s` slots | `r n - C(s+r, s+1)`, the fewest |
//! | [`Binomial::treeverse`] | `s` slots, with Griewank's splits | a few more, or as many |
//! | [`Online`] | `s` slots, and a length that is known at the end | a few more |
//! | [`TwoLevel`] | `s` slots in memory, others on disk at a cost | the least total cost |
//! | [`Bennett`] | reversible steps, `k` segments | `(2k-1)^l` for `n = k^l` |
//! | [`Pebbles`] | reversible steps, `S` states beside the first | Knill's recursion, the fewest |
//!
//! [`Plan::within`] takes the best one for a memory budget and predicts its time. A request that can't be met is
//! a [`ScheduleError`].

mod action;
mod bennett;
mod binomial;
mod count;
mod error;
mod everything;
mod online;
mod pebbles;
mod pebbling;
mod plan;
mod run;
mod two_level;

pub use action::{Action, Slot};
pub use bennett::Bennett;
pub use binomial::{revolve_calls, Binomial};
pub use count::Counts;
pub use error::ScheduleError;
pub use everything::Everything;
pub use online::{Online, OnlineRun, Policy};
pub use pebbles::Pebbles;
pub use pebbling::{Pebbling, Top};
pub use plan::{Memory, Plan, Seconds};
pub use run::{run, run_while, Functions, Missing, States, Steps};
pub use two_level::{Costs, TwoLevel};
