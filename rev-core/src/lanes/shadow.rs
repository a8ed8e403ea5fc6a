//! The rows of the table that work on shadows.

use super::linear::LinearRows;
use super::{Isa, Laned, Pack};
use crate::scalar::{rt, Field, Linear, Primal, Ring, Scalar};

/// `rt::scale`(crate::scalar::rt::scale) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn scale<S: Isa, P: Linear>(s: S, shadow: Pack<P>, c: Pack<P::Over>) -> Pack<P>
where
    P::Over: Ring,
{
    P::InLanes::scale(s, shadow, c)
}

/// `rt::fused`(crate::scalar::rt::fused) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn fused<S: Isa, P: Laned>(_: S, product: Pack<P>) -> Pack<P> {
    product
}

/// `rt::stop_gradient`(crate::scalar::rt::stop_gradient) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn stop_gradient<S: Isa, P: Laned>(_: S, x: Pack<P>) -> Pack<P> {
    x
}

/// `rt::differentiable`(crate::scalar::rt::differentiable) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn differentiable<S: Isa, P: Primal>(s: S, tangent: Pack<P>) -> Pack<P> {
    if rt::carries_derivative::<P>() {
        tangent
    } else {
        super::broadcast(s, P::zero())
    }
}

/// `rt::absorb`(crate::scalar::rt::absorb) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn absorb<S: Isa, P: Linear>(s: S, shadow: Pack<P>, c: Pack<P::Over>) -> Pack<P>
where
    P::Over: Ring,
{
    P::InLanes::absorb(s, shadow, c)
}

/// `rt::scale_real`(crate::scalar::rt::scale_real) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn scale_real<S: Isa, T: Field, const N: usize>(
    s: S,
    c: Pack<<T::Real as Primal>::Shadow<N>>,
    t: Pack<T>,
) -> Pack<T::Shadow<N>> {
    T::scale_real_in_lanes::<S, N>(s, c, t)
}

/// `rt::shadow_conj`(crate::scalar::rt::shadow_conj) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_conj<S: Isa, P: Linear>(s: S, shadow: Pack<P>) -> Pack<P>
where
    P::Over: Ring,
{
    P::InLanes::shadow_conj(s, shadow)
}

/// `rt::shadow_re`(crate::scalar::rt::shadow_re) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_re<S: Isa, P: Linear>(s: S, shadow: Pack<P>) -> Pack<P::Part>
where
    P::Over: Field,
{
    P::InLanes::shadow_re(s, shadow)
}

/// `rt::shadow_im`(crate::scalar::rt::shadow_im) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_im<S: Isa, P: Linear>(s: S, shadow: Pack<P>) -> Pack<P::Part>
where
    P::Over: Field,
{
    P::InLanes::shadow_im(s, shadow)
}

/// `rt::shadow_of`(crate::scalar::rt::shadow_of) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_of<S: Isa, T: Scalar, const N: usize>(
    _: S,
    shadow: Pack<T::Shadow<N>>,
    of: Pack<T>,
) -> Pack<T::Shadow<N>> {
    let _ = of;
    shadow
}

/// `rt::shadow_from_re`(crate::scalar::rt::shadow_from_re) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_from_re<S: Isa, P: Linear>(s: S, re: Pack<P::Part>) -> Pack<P>
where
    P::Over: Field,
{
    P::InLanes::shadow_from_re(s, re)
}

/// `rt::shadow_from_im`(crate::scalar::rt::shadow_from_im) in each lane.
#[cfg_attr(optimized, inline(always))]
pub fn shadow_from_im<S: Isa, P: Linear>(s: S, im: Pack<P::Part>) -> Pack<P>
where
    P::Over: Field,
{
    P::InLanes::shadow_from_im(s, im)
}
