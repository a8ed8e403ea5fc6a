//! Gradients of long loops by checkpoints: runs any [schedule](rev_schedule) on any step.
//!
//! A loop does `n` steps on a [`State`]; its gradient needs the states backwards. A [`Run`] keeps as many of them as the schedule
//! says, in memory that is allocated once, or on disk, and computes the others again. What a step is, is said by one of
//!
//! | step | for |
//! | --- | --- |
//! | [`from_old`] | a reversible function `f(new, old)` that makes a new state from an old one, which is dropped |
//! | [`in_place`] | a reversible function `f(state)`; with [`Run::reversed`] its inverse gives the states back, and none is kept |
//! | [`plain`] | plain Rust with its adjoint |
//! | [`Step`] | anything else |
//! | [`Step::in_pool`] | any of them, for many gradients in a row: a run leaves its states' memory in a [`Pool`] for the next one |
//!
//! A cotangent is whatever the adjoint changes: the cotangents of the state, the gradients by the parameters that all steps share,
//! the loss. It is a [`State`] as well, so that a run can be interrupted, saved and resumed. What is needed of the number of the step (sources,
//! data) the functions look up by it. Losses by step are a function of the state after a step, which is called
//! once for each step, the last one first.
//!
//! ```
//! use rev_checkpoint::{from_old, Run};
//! use rev_cpu::prelude::*;
//! use rev_schedule::Binomial;
//!
//! /// `y = r x (1 - x)`: `x` can't be told from `y`.
//! #[reversible]
//! fn logistic(y: &mut f64, x: f64, r: f64) {
//!     *y += r * x * (1.0 - x);
//! }
//!
//! let (cpu, r) = (Cpu::new(), 3.2);
//! // the cotangent: of the state, of r, and the loss, the sum of all states' squares
//! let mut cotangent = (0.0, 0.0, 0.0);
//! let mut step = from_old(
//!     0.0,
//!     |_, new, old| Ok(logistic::run(&cpu, new, *old, r)?),
//!     |_, after: &f64, (bar, _, loss): &mut (f64, f64, f64)| {
//!         *loss += after * after;
//!         *bar += 2.0 * after;
//!         Ok(())
//!     },
//!     |_, new, old, (bar, r_bar, _)| {
//!         let (mut new_bar, mut old_bar, mut by_r) = (Batch([*bar]), Batch([0.0]), Batch([0.0]));
//!         logistic::pullback(&cpu, new, &mut new_bar, *old, &mut old_bar, r, &mut by_r)?;
//!         (*bar, *r_bar) = (old_bar.0[0], *r_bar + by_r.0[0]);
//!         Ok(())
//!     },
//! );
//! let report = Run::new().gradient(Binomial::revolve(100, 5)?, 100, &mut step, 0.3, &mut cotangent)?;
//! assert_eq!((report.counts.calls(), report.counts.peak_states), (316, 6));
//! let (by_start, by_r, loss) = cotangent;
//! println!("loss {loss}, its derivative by r {by_r}, by the first state {by_start}");
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # Devices
//!
//! The functions that are called choose the device; any does. With states of the host a GPU gets its arguments
//! and gives results back at each call, as in any call (`docs/gpu.md`). States that stay on a GPU are arrays of the device:
//! `rev::OnDevice`, with programs that are prepared for them.
//!
//! # Bits
//!
//! Every schedule gives the adjoint of each step the state that storing everything would give it, so all schedules have the
//! same gradient, bit for bit, if a step always does the same: on the CPU with one thread, with `deterministic(true)`, or where
//! no loop adds to what iterations share.

mod disk;
mod error;
mod machine;
mod order;
mod record;
mod run;
mod state;
mod step;

pub use error::{Cause, CheckpointError, Unusable, Wrong};
pub use run::{Progress, Report, Run};
pub use state::State;
pub use step::{from_old, in_place, no_loss, plain, FromOld, InPlace, InPool, Plain, Pool, Step};
