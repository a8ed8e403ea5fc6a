//! What the lanes give together.

use super::linear::LinearRows;
use super::mask::active;
use super::{Isa, Mask, Pack};
use crate::scalar::{Accumulator, Linear, Ring, Scalar};
use std::ops::BitXor;

/// The sum over the active lanes, along a fixed tree: lane `k` and lane `k + 16`, then `k + 8`, `k + 4`,
/// `k + 2`, `k + 1`. Lanes that aren't active count as zero.
#[cfg_attr(optimized, inline(always))]
pub fn sum<S: Isa, M: Mask, P: Accumulator>(s: S, m: M, v: &Pack<P>) -> P {
    P::total(s, active(s, m, v.clone()))
}

/// The sum of `v·c` over the active lanes, along a fixed tree; each product may be rounded together with
/// the sum of those before it.
#[cfg_attr(optimized, inline(always))]
pub fn sum_product<S: Isa, M: Mask, P: Linear>(s: S, m: M, v: Pack<P>, c: Pack<P::Over>) -> P
where
    P::Over: Ring,
{
    if m.is_all() {
        return P::InLanes::sum_product(s, v, c);
    }
    let product = P::InLanes::scale(s, v, c);
    P::InLanes::sum(s, active(s, m, product))
}

/// The exclusive or of the active lanes.
#[cfg_attr(optimized, inline(always))]
pub fn parity<S: Isa, M: Mask, T: Scalar + BitXor<Output = T>>(s: S, m: M, v: &Pack<T>) -> T {
    super::active(s, m).fold(T::zero(), |a, k| a ^ T::lane(v, k))
}
