//! What values and shadows have in common: they are added, negated and scaled element by element.

use super::{Field, Num, Ring, Zero};
use crate::lanes::{Isa, Laned, LinearRows, Pack};
use crate::value::DynArg;
use std::fmt::Debug;

/// A vector space's operations, on values and on shadows alike.
///
/// The first group is defined for every type, element by element. The second group is for scalars
/// and the shadows of scalars; its bounds can't hold for anything else, whose methods are therefore
/// never called and keep their default bodies.
///
/// # Implementing for a struct (what the derive writes)
///
/// `Over = Self` for the struct itself, the struct for its shadow; `Part = NoShadow<()>`;
/// `InLanes = LaneByLane`; and each method of the first group calls the same method of every field.
#[diagnostic::on_unimplemented(
    message = "[R0403] a `{Self}` isn't updated by `+=` and `-=` as a number or an array of numbers is",
    label = "updated here",
    note = "a struct is updated field by field by `p += fields(q)`, a number system by the function of its type (`S::add_assign(&mut a.x, e)`), a truth value by `^=`"
)]
pub trait Linear: Clone + Debug + PartialEq + Zero + DynArg + Laned + Send + Sync {
    /// The type of value this is, or is the shadow of.
    type Over;
    /// For a shadow of a scalar: the shadow of its real part. For a scalar: its real part. For
    /// everything else [`NoShadow<()>`](super::NoShadow).
    type Part: Zero + Laned;
    /// How packs of it are added and scaled.
    type InLanes: LinearRows<Self>;

    /// `self += v`, both of one shape.
    fn accumulate(&mut self, v: &Self);
    /// `self -= v`, both of one shape.
    fn deduct(&mut self, v: &Self);
    /// `self = -self`.
    fn negate(&mut self);
    /// `self = 0`, keeping the shape.
    fn set_zero(&mut self);
    /// Whether every element is zero.
    fn is_zero(&self) -> bool;

    /// How many cotangents a scalar's shadow has; 1 for a scalar itself, 0 for everything else.
    #[cfg_attr(optimized, inline(always))]
    fn width() -> usize {
        0
    }
    /// The `k`-th cotangent of a scalar's shadow.
    #[cfg_attr(optimized, inline(always))]
    fn component(&self, k: usize) -> Num {
        let _ = k;
        Num::Int(0)
    }
    /// Sets the `k`-th cotangent of a scalar's shadow.
    #[cfg_attr(optimized, inline(always))]
    fn set_component(&mut self, k: usize, v: Num) {
        let _ = (k, v);
    }
    /// `self · c`.
    #[cfg_attr(optimized, inline(always))]
    fn scale(self, c: Self::Over) -> Self
    where
        Self::Over: Ring,
    {
        let _ = c;
        self
    }
    /// `self += v·c`. Rounded once for numbers ([`Ring::fused`]) and for the shadows of real ones; for
    /// everything else the product and the sum are rounded on their own.
    #[cfg_attr(optimized, inline(always))]
    fn accumulate_product(&mut self, v: Self, c: Self::Over)
    where
        Self::Over: Ring,
    {
        self.accumulate(&v.scale(c));
    }
    /// `self -= v·c` likewise. Exact types get back what they had before [`Linear::accumulate_product`].
    #[cfg_attr(optimized, inline(always))]
    fn deduct_product(&mut self, v: Self, c: Self::Over)
    where
        Self::Over: Ring,
    {
        self.deduct(&v.scale(c));
    }
    /// `self · c` by a real constant, rounded to the type in which this is kept.
    #[cfg_attr(optimized, inline(always))]
    fn scale_constant(self, c: f64) -> Self
    where
        Self::Over: Field,
    {
        self.scale(Self::Over::from_f64(c))
    }
    /// `self · c`, but 0 where `self` is 0 whatever `c` is: a cotangent of zero stays zero where a
    /// derivative is infinite.
    #[cfg_attr(optimized, inline(always))]
    fn absorb(self, c: Self::Over) -> Self
    where
        Self::Over: Ring,
    {
        let _ = c;
        self
    }
    /// `self · c`, `None` where a value of an exact type would lose bits. Shadows round.
    #[cfg_attr(optimized, inline(always))]
    fn scale_exact(self, c: Self::Over) -> Option<Self>
    where
        Self::Over: Ring,
    {
        let _ = c;
        Some(self)
    }
    /// `self / c`, `None` where `c` is 0 or a value of an exact type would lose bits. Shadows round.
    #[cfg_attr(optimized, inline(always))]
    fn unscale_exact(self, c: Self::Over) -> Option<Self>
    where
        Self::Over: Ring,
    {
        let _ = c;
        Some(self)
    }
    /// `self · k` by an integer, `None` where a value of an exact type would overflow. Shadows round.
    #[cfg_attr(optimized, inline(always))]
    fn scale_int(self, k: i64) -> Option<Self>
    where
        Self::Over: Ring,
    {
        let _ = k;
        Some(self)
    }
    /// `self / k` by an integer, `None` where `k` is 0 or a value of an exact type isn't a multiple
    /// of it. Shadows round.
    #[cfg_attr(optimized, inline(always))]
    fn unscale_int(self, k: i64) -> Option<Self>
    where
        Self::Over: Ring,
    {
        let _ = k;
        Some(self)
    }
    /// The complex conjugate.
    #[cfg_attr(optimized, inline(always))]
    fn conjugate(self) -> Self
    where
        Self::Over: Ring,
    {
        self
    }
    /// The real part.
    #[cfg_attr(optimized, inline(always))]
    fn real_part(self) -> Self::Part
    where
        Self::Over: Field,
    {
        Self::Part::zero()
    }
    /// The imaginary part: 0 for a real number.
    #[cfg_attr(optimized, inline(always))]
    fn imaginary_part(self) -> Self::Part
    where
        Self::Over: Field,
    {
        Self::Part::zero()
    }
    /// The number with this real part and no imaginary one.
    #[cfg_attr(optimized, inline(always))]
    fn from_real_part(re: Self::Part) -> Self
    where
        Self::Over: Field,
    {
        let _ = re;
        Self::zero()
    }
    /// The number with this imaginary part and no real one; 0 where the type is real.
    #[cfg_attr(optimized, inline(always))]
    fn from_imaginary_part(im: Self::Part) -> Self
    where
        Self::Over: Field,
    {
        let _ = im;
        Self::zero()
    }
}

/// What derivatives of a value whose type only rustc knows are added to: a number, or a truth value, which has none.
pub trait Accumulator: Laned + Zero {
    /// `self += v`, or `self -= v`.
    fn add(&mut self, v: &Self, negative: bool);
    /// `a + b`, or `a - b`, in each lane.
    fn sum<S: Isa>(s: S, a: Pack<Self>, b: Pack<Self>, negative: bool) -> Pack<Self>;
    /// The sum over the lanes, along a fixed tree.
    fn total<S: Isa>(s: S, v: Pack<Self>) -> Self;
}

impl<P: Linear> Accumulator for P {
    #[cfg_attr(optimized, inline(always))]
    fn add(&mut self, v: &Self, negative: bool) {
        if negative {
            self.deduct(v);
        } else {
            self.accumulate(v);
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn sum<S: Isa>(s: S, a: Pack<Self>, b: Pack<Self>, negative: bool) -> Pack<Self> {
        if negative {
            P::InLanes::minus(s, a, b)
        } else {
            P::InLanes::plus(s, a, b)
        }
    }
    #[cfg_attr(optimized, inline(always))]
    fn total<S: Isa>(s: S, v: Pack<Self>) -> Self {
        P::InLanes::sum(s, v)
    }
}

impl Accumulator for bool {
    fn add(&mut self, _: &Self, _: bool) {}
    fn sum<S: Isa>(_: S, a: Pack<Self>, _: Pack<Self>, _: bool) -> Pack<Self> {
        a
    }
    fn total<S: Isa>(_: S, _: Pack<Self>) -> Self {
        false
    }
}
