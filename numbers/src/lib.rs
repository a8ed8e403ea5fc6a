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
//! A type of another crate becomes a number system in the same way; `docs/language.md` says how.

mod log;
mod odd;
mod tropical;

pub use log::*;
pub use odd::*;
pub use tropical::*;
