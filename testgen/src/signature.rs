//! Functions that generated programs may call.

use rev_core::ir::Mode;

use crate::scope::What;

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it is.
    pub what: What,
    /// Read or written.
    pub mode: Mode,
    /// Whether a scalar that is read is given by reference.
    pub by_reference: bool,
}

/// A function's name and parameters.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name in the source.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Param>,
    /// Whether it undoes itself bit for bit on exact scalars.
    pub exact: bool,
    /// Whether its slices may have any length, all of them the same.
    pub any_length: bool,
    /// Whether they may be rows and columns of matrices.
    pub strided: bool,
    /// Whether it only adds to what it writes.
    pub accumulates: bool,
    /// In how many nested loops it may be called.
    pub loops_allowed: usize,
}
