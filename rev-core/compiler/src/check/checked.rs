//! The token that says a function satisfies the static rules.

use std::ops::Deref;

use crate::ir::Function;
use crate::validate::{verified, Form};

/// A function that satisfies the static rules. Made by [`check`](super::check) and by the passes,
/// which keep the rules; its function can be looked at, but not changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked(Function);

impl Checked {
    /// What a pass made, which satisfies the rules by construction; where passes are verified, what is
    /// wrong with it is noted.
    pub(crate) fn made(function: Function, pass: &str) -> Checked {
        Checked(verified(function, Form::Reversible, pass))
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
