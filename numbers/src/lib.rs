//! Number systems whose products can be undone, each a program in the language.
//!
//! | type | what `repr` is | product | sum | factors |
//! | --- | --- | --- | --- | --- |
//! | [`Log`] | `ln x` | `ln x + ln y` | `ln (x + y)` | positive real numbers |
//! | [`MaxPlus`], [`MinPlus`] | `x` | `x + y` | `max(x, y)`, `min(x, y)` | all real numbers |
//! | [`Odd`] | `(x - 1) / 2` | modulo `2ⁿ` | none | odd integers |
//!
//! In a program `x *= e` and `x /= e` undo each other, for `e` of such numbers, real ones, `+ - * /` and powers: exactly for
//! [`Odd`] and for what is represented by fixed-point numbers, up to rounding for floats. A new ancilla,
//! `S::<T>::zero()`, has a `repr` of 0: that is the number one of each of these systems. Gradients are by `repr`.
//!
//! Fixed-point numbers have no exact product, but through their logarithms `xⁿ` comes back bit for bit:
//!
//! ```
//! use rev_cpu::prelude::*;
//! use rev_numbers::Log;
//!
//! /// `y += xⁿ` for a positive `x`.
//! #[reversible]
//! fn power<T: Real>(y: &mut T, x: T, n: usize) {
//!     let mut p = Log::<T>::zero();
//!     for _ in 0..n {
//!         p *= x;
//!     }
//!     *y += p.repr.exp();
//! }
//!
//! let number = Fixed43::from_num::<f64>;
//! let mut y = number(0.25);
//! power(&mut y, number(1.5), 10).unwrap();
//! assert!((y.to_num::<f64>() - 0.25 - 1.5f64.powi(10)).abs() < 1e-9);
//! power::inverse(&mut y, number(1.5), 10).unwrap();
//! assert_eq!(y, number(0.25));
//! ```
//!
//! [`Exact`] isn't one of these: it is a sum of floats in which nothing is rounded, so that `+=` of floats comes back bit for bit too, in any
//! order.
//!
//! A type of another crate becomes a number system in the same way; `docs/types.md` says how.

mod exact;
mod log;
mod odd;
mod tropical;

pub use exact::*;
pub use log::*;
pub use odd::*;
pub use tropical::*;
