//! Odd integers modulo a power of 2, which have reciprocals.

use rev_cpu::prelude::*;

/// An odd integer `x = 2 repr + 1`, modulo `2ⁿ⁺¹` for a `repr` of `n` bits. The odd integers are a group under multiplication, so `/=` is
/// exact. An even factor is an error, a division by zero (on a GPU where checks are on); by way of `repr` there is none.
///
/// The value is `2 * x.repr + 1`. There are no sums: that of two odd integers is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reversible)]
pub struct Odd<I: Integer> {
    /// `(x - 1) / 2`.
    pub repr: I,
}

#[reversible]
impl<I: Integer> Odd<I> {
    /// `self *= y`. With `f = 2 by + 1`, `repr` becomes `f repr + by`, and `old`, what it was, is taken back by the reciprocal of `f`.
    #[reversible(inverse_adjoint)]
    pub fn mul_assign(&mut self, by: I) {
        let factor = 2 * by + 1;
        let reciprocal = 2 * Self::recip(by) + 1;
        let mut old = I::zero();
        old += self.repr * factor + by;
        swap(self.repr, old);
        old -= (self.repr - by) * reciprocal;
        release(old);
    }

    /// The odd number `x`.
    #[pure]
    pub fn of(x: I) -> I {
        (x - 1) / (2 * (x & 1))
    }

    /// `x y`.
    #[pure]
    pub fn mul(a: I, b: I) -> I {
        2 * a * b + a + b
    }

    /// `x / y`.
    #[pure]
    pub fn div(a: I, b: I) -> I {
        Self::mul(a, Self::recip(b))
    }

    /// `1 / x` by Newton's method, `z ← z (2 - x z)`, each step of which doubles the number of bits that are right, 3 in `z = x`.
    #[pure]
    pub fn recip(a: I) -> I {
        let z = Self::refined(a, Self::refined(a, Self::refined(a, a)));
        Self::refined(a, Self::refined(a, Self::refined(a, z)))
    }

    /// A step towards `1 / x` from `z`: `z (2 - x z)`.
    #[pure]
    pub fn refined(a: I, z: I) -> I {
        z - (2 * a * z + a + z) * (2 * z + 1)
    }

    /// `-x`.
    #[pure]
    pub fn neg(a: I) -> I {
        -a - 1
    }
}
