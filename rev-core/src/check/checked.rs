//! The token that says a function satisfies the static rules.

use std::ops::Deref;

use crate::ir::Function;

/// A function that satisfies the static rules. Made by [`check`](super::check) and by the passes,
/// which keep the rules; its function can be looked at, but not changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked(Function);

impl Checked {
    /// Takes a function's word for it: for passes, whose results satisfy the rules by construction.
    pub(crate) fn trust(function: Function) -> Checked {
        Checked(function)
    }

    /// The function, to be changed and checked again.
    pub fn into_inner(self) -> Function {
        self.0
    }
}

impl Deref for Checked {
    type Target = Function;
    fn deref(&self) -> &Function {
        &self.0
    }
}
