//! Checkers for users: does a program's inverse bring its arguments back, is its gradient right, and
//! do two devices give the same ([`compare`]), and if not, from which statement on ([`locate`])?
//!
//! The first two work on any device and know the program only through the functions of a
//! [`Subject`], so that what is checked is what runs.

mod compare;
mod gradient;
mod inverse;
mod locate;

use crate::error::Error;
use crate::value::Data;

pub use compare::{compare, compare_outputs, Comparison, Outputs, Sample, ValueRow, Worst};
pub use gradient::{check_gradient, ArgumentRow, DirectionRow, GradientOptions, GradientReport};
pub use inverse::{check_inverse, InverseReport, Moved};
pub use locate::{locate, Located, Search};

/// Which of a subject's programs runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The program.
    Forward,
    /// Its inverse.
    Inverse,
    /// Its adjoint: from the state after and its cotangents to the state before and its cotangents.
    Adjoint,
}

/// Runs one of a subject's programs on a state, one value for each parameter, and of the adjoint on the cotangents; both
/// are changed in place.
pub type Run<'a> = dyn FnMut(Way, &mut [Data], &mut [Data]) -> Result<(), Error> + 'a;

/// A program with a state to check it at.
pub struct Subject<'a> {
    /// The parameters' names.
    pub names: &'a [&'a str],
    /// Which parameters the program writes.
    pub written: &'a [bool],
    /// The arguments.
    pub state: Vec<Data>,
    /// What runs its programs.
    pub run: Box<Run<'a>>,
}
