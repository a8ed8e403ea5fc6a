//! What the gradient functions of emitted code share.

use std::marker::PhantomData;
use std::ops::BitOr;

use rev_core::scalar::{Linear, Num};

/// Some of the arguments of a function `F`: `f::W | f::X`.
pub struct Wrt<F> {
    bits: u64,
    function: PhantomData<fn() -> F>,
}

impl<F> Wrt<F> {
    /// The argument with a number.
    pub const fn argument(number: u32) -> Self {
        Wrt { bits: 1 << (number % u64::BITS), function: PhantomData }
    }

    /// Whether an argument is among them.
    pub fn has(&self, number: u32) -> bool {
        self.bits & Self::argument(number).bits != 0
    }
}

impl<F> Clone for Wrt<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Wrt<F> {}

impl<F> BitOr for Wrt<F> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Wrt { bits: self.bits | other.bits, function: PhantomData }
    }
}

/// Sets one cotangent of a scalar's shadow to 1.
pub fn seed<S: Linear>(shadow: &mut S, lane: usize) {
    shadow.set_component(lane, Num::Int(1));
}
