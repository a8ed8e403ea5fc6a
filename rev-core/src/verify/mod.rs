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

/// Runs a program on a state: one value for each parameter, changed in place.
pub type Run<'a> = dyn FnMut(&mut [Data]) -> Result<(), Error> + 'a;

/// Runs an adjoint: state after and cotangents in, state before and cotangents out, both in place.
pub type RunAdjoint<'a> = dyn FnMut(&mut [Data], &mut [Data]) -> Result<(), Error> + 'a;

/// A program with a state to check it at.
pub struct Subject<'a> {
    /// The parameters' names.
    pub names: &'a [&'a str],
    /// Which parameters the program writes.
    pub written: &'a [bool],
    /// The arguments.
    pub state: Vec<Data>,
    /// The program.
    pub forward: Box<Run<'a>>,
    /// Its inverse.
    pub inverse: Box<Run<'a>>,
    /// Its adjoint.
    pub adjoint: Box<RunAdjoint<'a>>,
}
